// SPDX-License-Identifier: Apache-2.0
#include "device/plugin_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "backplane/error.h"
#include "loader/log.h"

namespace backplane::internal {
namespace {

constexpr uint32_t kMaxDevices = 1024;
constexpr uint32_t kMaxNotes = 256;
constexpr uint32_t kMaxProcesses = 4096;

// The minor version of the ABI that brought each method which plugins may lack.
constexpr uint16_t kMinorOfProcesses = 1;

// Bytes of the UTF-8 character at `text`, which ends at `end`; 0 if it is none.
size_t utf8_length(const unsigned char* text, const unsigned char* end) noexcept {
  const unsigned char lead = *text;
  const size_t length = lead < 0x80   ? 1
                        : lead < 0xc2 ? 0
                        : lead < 0xe0 ? 2
                        : lead < 0xf0 ? 3
                        : lead < 0xf5 ? 4
                                      : 0;
  if (length == 0 || length > static_cast<size_t>(end - text)) return 0;
  if (!std::all_of(text + 1, text + length, [](unsigned char c) { return (c & 0xc0) == 0x80; })) return 0;
  if ((lead == 0xe0 && text[1] < 0xa0) || (lead == 0xed && text[1] > 0x9f)) return 0;
  if ((lead == 0xf0 && text[1] < 0x90) || (lead == 0xf4 && text[1] > 0x8f)) return 0;
  return length;
}

// Drivers' texts come unterminated, in other encodings, and cut in the middle of a character.
template <size_t N>
void make_text_sound(char (&field)[N]) noexcept {
  field[N - 1] = '\0';
  auto* text = reinterpret_cast<unsigned char*>(field);
  const auto* end = text + std::strlen(field);
  while (text < end) {
    const size_t length = utf8_length(text, end);
    if (length == 0) *text = '?';
    text += std::max<size_t>(length, 1);
  }
}

void make_sound(DeviceProperties& properties) noexcept {
  properties.struct_size = sizeof properties;
  make_text_sound(properties.pci_address);
  make_text_sound(properties.name);
  make_text_sound(properties.vendor);
  make_text_sound(properties.driver_version);
  make_text_sound(properties.api_version);
  make_text_sound(properties.architecture);
  make_text_sound(properties.source_language);
  if (properties.extensions == nullptr) properties.has &= ~uint64_t{plugin::kHasExtensions};
  if (!std::has_single_bit(properties.min_alignment)) properties.min_alignment = 1;
}

}  // namespace

uint32_t count_devices(PluginState& plugin) {
  const uint32_t count = plugin.backend->device_count();
  if (count > kMaxDevices)
    log(LogLevel::Warning, fmt::format("plugin {} says it has {} devices: the first {} are used", plugin.name,
                                       count, kMaxDevices));
  return std::min(count, kMaxDevices);
}

DeviceProperties describe_device(PluginState& plugin, uint32_t index, plugin::Status& status) {
  DeviceProperties properties{};
  properties.struct_size = sizeof properties;
  status = plugin.backend->describe(index, &properties);
  if (!status.ok()) {
    properties = {};
    properties.kind = plugin::DeviceKind::Accelerator;
  }
  make_sound(properties);
  return properties;
}

std::vector<PluginNote> read_notes(PluginState& plugin) {
  std::vector<PluginNote> notes;
  const uint32_t count = std::min(plugin.backend->note_count(), kMaxNotes);
  for (uint32_t i = 0; i < count; ++i) {
    plugin::Note note{};
    note.struct_size = sizeof note;
    if (!plugin.backend->note(i, &note).ok()) continue;
    make_text_sound(note.subject);
    make_text_sound(note.cause);
    make_text_sound(note.remedy);
    notes.push_back({plugin.name, note.subject, note.cause, note.remedy});
  }
  return notes;
}

Telemetry read_telemetry(DeviceState& device) {
  Telemetry telemetry{};
  telemetry.struct_size = sizeof telemetry;
  if (!device.device->telemetry(&telemetry).ok()) telemetry = {};
  telemetry.struct_size = sizeof telemetry;
  return telemetry;
}

std::vector<DeviceProcess> read_processes(DeviceState& device) {
  if (device.plugin->abi_minor < kMinorOfProcesses) return {};
  std::vector<plugin::ProcessInfo> entries;
  uint32_t count = 16;
  do {  // until all fit: processes come and go
    entries.assign(count, {sizeof(plugin::ProcessInfo), 0, UINT64_MAX, {}});
    if (!device.device->processes(entries.data(), sizeof(plugin::ProcessInfo), count, &count).ok()) return {};
    count = std::min(count, kMaxProcesses);
  } while (count > entries.size());
  entries.resize(count);

  std::vector<DeviceProcess> processes;
  for (plugin::ProcessInfo& entry : entries) {
    make_text_sound(entry.name);
    DeviceProcess& process = processes.emplace_back();
    process.pid = entry.pid;
    if (entry.memory_used != UINT64_MAX) process.memory_used = entry.memory_used;
    process.name = entry.name;
  }
  return processes;
}

}  // namespace backplane::internal
