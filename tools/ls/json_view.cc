// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "views.h"

namespace backplane::tools {
namespace {

using nlohmann::ordered_json;

template <typename T>
ordered_json value(const std::optional<T>& known) {
  return known ? ordered_json(*known) : ordered_json();
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

const char* kind_name(DeviceKind kind) {
  constexpr const char* kNames[] = {"cpu", "gpu", "accelerator"};
  const auto index = static_cast<size_t>(kind);
  return index < 3 ? kNames[index] : "unknown";
}

ordered_json processes(const DeviceEntry& device) {
  ordered_json list = ordered_json::array();
  for (const DeviceProcess& process : device.processes)
    list.push_back(
        {{"pid", process.pid}, {"name", process.name}, {"memory_used", value(process.memory_used)}});
  return list;
}

ordered_json device_json(const DeviceEntry& d) {
  return {{"name", d.name},
          {"kind", kind_name(d.kind)},
          {"index", d.index},
          {"hardware", d.hardware},
          {"plugin", d.plugin},
          {"plugin_version", d.plugin_version},
          {"vendor", value(d.vendor)},
          {"driver_version", value(d.driver_version)},
          {"api_version", value(d.api_version)},
          {"architecture", value(d.architecture)},
          {"source_language", value(d.source_language)},
          {"pci_address", value(d.pci_address)},
          {"uuid", value(d.uuid)},
          {"numa_node", value(d.numa_node)},
          {"units", value(d.units)},
          {"clock_mhz", value(d.clock_mhz)},
          {"types", d.types},
          {"denormals", d.denormals},
          {"same_hardware", d.same_hardware},
          {"memory_total", value(d.memory_total)},
          {"memory_used", value(d.memory_used)},
          {"memory_free", value(d.memory_free)},
          {"memory_process", value(d.memory_process)},
          {"largest_allocation", value(d.largest_allocation)},
          {"utilization", value(d.utilization)},
          {"temperature_celsius", value(d.temperature_celsius)},
          {"fan", value(d.fan)},
          {"power_watts", value(d.power_watts)},
          {"power_limit_watts", value(d.power_limit_watts)},
          {"current_clock_mhz", value(d.current_clock_mhz)},
          {"memory_clock_mhz", value(d.memory_clock_mhz)},
          {"performance_state", value(d.performance_state)},
          {"ecc_errors", value(d.ecc_errors)},
          {"processes", processes(d)},
          {"problem", text_or_null(d.problem)}};
}

ordered_json file_json(const FileReport& file) {
  return {{"path", file.path.string()},
          {"outcome", to_string(file.outcome)},
          {"name", text_or_null(file.name)},
          {"version", text_or_null(file.version)},
          {"compiler", text_or_null(file.compiler)},
          {"devices", file.device_count},
          {"cause", text_or_null(file.cause)},
          {"remedy", text_or_null(file.remedy)}};
}

ordered_json speed_json(const std::optional<Speed>& speed) {
  if (!speed) return {};
  return {
      {"bytes", speed->bytes}, {"seconds", speed->seconds}, {"bytes_per_second", speed->bytes_per_second()}};
}

ordered_json route_json(const RouteEntry& route) {
  return {{"source", route.source},
          {"destination", route.destination},
          {"route", route.kind ? ordered_json(to_string(*route.kind)) : ordered_json()},
          {"reason", text_or_null(route.reason)},
          {"small", speed_json(route.small)},
          {"large", speed_json(route.large)}};
}

}  // namespace

std::string json_text(const Snapshot& snapshot) {
  ordered_json json = {{"version", snapshot.version}};
  json["devices"] = ordered_json::array();
  for (const DeviceEntry& device : snapshot.devices) json["devices"].push_back(device_json(device));
  json["plugins"] = ordered_json::array();
  for (const FileReport& file : snapshot.files) json["plugins"].push_back(file_json(file));
  json["notes"] = ordered_json::array();
  for (const PluginNote& note : snapshot.notes)
    json["notes"].push_back({{"plugin", note.plugin},
                             {"subject", note.subject},
                             {"cause", text_or_null(note.cause)},
                             {"remedy", text_or_null(note.remedy)}});
  json["folders"] = ordered_json::array();
  for (const auto& folder : snapshot.folders) json["folders"].push_back(folder.string());
  json["routes"] = ordered_json::array();
  for (const RouteEntry& route : snapshot.routes) json["routes"].push_back(route_json(route));
  // File names and drivers' texts need not be UTF-8.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace backplane::tools
