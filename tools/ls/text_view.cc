// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "text.h"
#include "views.h"

namespace backplane::tools {
namespace {

constexpr size_t kIndent = 4;

// "12 cores, AVX2, 3.4 GHz": what is known of it.
std::string details(const DeviceEntry& device) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (device.units)
    add(fmt::format("{} {}", *device.units,
                    device.kind == DeviceKind::Cpu ? (*device.units == 1 ? "core" : "cores") : "units"));
  if (device.architecture) add(one_line(*device.architecture));
  if (const auto clock = device.current_clock_mhz ? device.current_clock_mhz : device.clock_mhz)
    add(fmt::format("{:.1f} GHz", static_cast<double>(*clock) / 1000));
  if (!device.same_hardware.empty()) add(fmt::format("also {}", fmt::join(device.same_hardware, ", ")));
  return text;
}

std::string driver(const DeviceEntry& device) {
  std::string text = device.api_version.value_or("");
  if (device.driver_version) text += (text.empty() ? "driver " : ", driver ") + *device.driver_version;
  return one_line(text);
}

Table::Row device_row(const DeviceEntry& device) {
  const std::string state =
      device.performance_state ? fmt::format("P{}", *device.performance_state) : kUnknown;
  const std::string ecc = device.ecc_errors ? fmt::format("{} ECC", *device.ecc_errors) : kUnknown;
  Table::Row row = {
      {device.name, one_line(device.hardware), part_text(device.memory_used, device.memory_total),
       percent_text(device.utilization), celsius_text(device.temperature_celsius),
       power_text(device.power_watts, device.power_limit_watts)},
      {device.plugin + " " + one_line(device.plugin_version), details(device),
       bytes_text(device.memory_process), state, percent_text(device.fan), ecc}};
  const std::string third = driver(device);
  if (device.pci_address || !third.empty()) row.push_back({device.pci_address.value_or(""), third});
  if (!device.problem.empty()) row.push_back({"", one_line(device.problem)});
  return row;
}

std::string device_table(const Snapshot& snapshot, const Page& page) {
  Table table({{}, {false, true}, {true, false}, {true, false}, {true, false}, {true, false}});
  table.add({{"Device", "Hardware", "Memory in use", "Load", "Temp", "Power"},
             {"Plugin", "", "this process", "State", "Fan", "Errors"}});
  for (const DeviceEntry& device : snapshot.devices) table.add(device_row(device));
  return table.text(page);
}

std::string process_table(const Snapshot& snapshot, const Page& page) {
  Table table({{}, {true, false}, {false, true}, {true, false}});
  table.add({{"Device", "Process", "Name", "Memory"}});
  bool any = false;
  for (const DeviceEntry& device : snapshot.devices)
    for (const DeviceProcess& process : device.processes) {
      table.add({{device.name, std::to_string(process.pid), one_line(process.name),
                  bytes_text(process.memory_used)}});
      any = true;
    }
  return any ? "\n" + table.text(page) : "";
}

std::string trouble(const std::string& subject, const std::string& cause, const std::string& remedy,
                    const Page& page) {
  std::string text = paragraph(subject, kIndent / 2, page);
  if (!cause.empty()) text += paragraph("cause:  " + cause, kIndent, page);
  if (!remedy.empty()) text += paragraph("remedy: " + remedy, kIndent, page);
  return text;
}

std::string file_title(const FileReport& file) {
  const std::string name = file.name.empty() ? file.path.filename().string() : file.name;
  return fmt::format("{} ({}): {}", name, file.path.string(), to_string(file.outcome));
}

std::string folder_list(const Snapshot& snapshot) {
  std::string text = "Folders searched for plugins:\n";
  for (const auto& folder : snapshot.folders) text += "  " + one_line(folder.string()) + "\n";
  return snapshot.folders.empty() ? "No folder was searched for plugins.\n" : text;
}

}  // namespace

std::string devices_text(const Snapshot& snapshot, const Page& page) {
  std::string text = "Backplane " + snapshot.version + "\n";
  if (snapshot.devices.empty())
    text += "No device: no plugin was found that has one.\n" + folder_list(snapshot);
  else
    text += device_table(snapshot, page) + process_table(snapshot, page);

  std::string broken;
  for (const FileReport& file : snapshot.files)
    if (file.outcome != LoadOutcome::Loaded)
      broken += trouble(file_title(file), file.cause, file.remedy, page);
  if (!broken.empty()) text += "\nPlugins that did not load:\n" + broken;
  std::string partly;
  for (const PluginNote& note : snapshot.notes)
    partly += trouble(note.plugin + ": " + note.subject, note.cause, note.remedy, page);
  if (!partly.empty()) text += "\nParts of plugins that do not work:\n" + partly;
  return text;
}

std::string plugins_text(const Snapshot& snapshot, const Page& page) {
  std::string text = folder_list(snapshot) + "\n";
  for (const FileReport& file : snapshot.files) {
    text += trouble(file_title(file), file.cause, file.remedy, page);
    if (file.outcome != LoadOutcome::Loaded) continue;
    text += paragraph(fmt::format("version {}, {} {}, built by {}", one_line(file.version), file.device_count,
                                  file.device_count == 1 ? "device" : "devices", one_line(file.compiler)),
                      kIndent, page);
  }
  if (snapshot.files.empty()) text += "No file was looked at.\n";
  return text;
}

}  // namespace backplane::tools
