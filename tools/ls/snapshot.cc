// SPDX-License-Identifier: Apache-2.0
#include "snapshot.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace backplane::tools {
namespace {

template <typename To, typename From>
std::optional<To> known(uint64_t has, uint64_t bit, const From& value) {
  if ((has & bit) == 0) return {};
  return To(value);
}

std::string uuid_text(const uint8_t* bytes) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

void add_properties(const DeviceProperties& p, DeviceEntry& entry) {
  entry.hardware = p.name;
  entry.denormals = (p.flags & plugin::kDenormals) != 0;
  entry.vendor = known<std::string>(p.has, plugin::kHasVendor, p.vendor);
  entry.driver_version = known<std::string>(p.has, plugin::kHasDriverVersion, p.driver_version);
  entry.api_version = known<std::string>(p.has, plugin::kHasApiVersion, p.api_version);
  entry.architecture = known<std::string>(p.has, plugin::kHasArchitecture, p.architecture);
  entry.source_language = known<std::string>(p.has, plugin::kHasSourceLanguage, p.source_language);
  entry.pci_address = known<std::string>(p.has, plugin::kHasPciAddress, p.pci_address);
  if ((p.has & plugin::kHasUuid) != 0) entry.uuid = uuid_text(p.uuid);
  entry.units = known<uint64_t>(p.has, plugin::kHasUnits, p.units);
  entry.clock_mhz = known<uint64_t>(p.has, plugin::kHasClock, p.clock_mhz);
  entry.memory_total = known<uint64_t>(p.has, plugin::kHasMemoryTotal, p.memory_total);
  entry.largest_allocation = known<uint64_t>(p.has, plugin::kHasLargestAllocation, p.largest_allocation);
  entry.numa_node = known<int64_t>(p.has, plugin::kHasNumaNode, p.numa_node);
}

void add_telemetry(const Telemetry& t, DeviceEntry& entry) {
  // What used and free are parts of, where a container or a partition makes that less than the hardware's.
  if ((t.has & plugin::kHasMemoryCapacity) != 0) entry.memory_total = t.memory_capacity;
  entry.memory_used = known<uint64_t>(t.has, plugin::kHasMemoryUsed, t.memory_used);
  entry.memory_free = known<uint64_t>(t.has, plugin::kHasMemoryFree, t.memory_free);
  entry.memory_process = known<uint64_t>(t.has, plugin::kHasMemoryProcess, t.memory_process);
  entry.current_clock_mhz = known<uint64_t>(t.has, plugin::kHasCurrentClock, t.clock_mhz);
  entry.memory_clock_mhz = known<uint64_t>(t.has, plugin::kHasMemoryClock, t.memory_clock_mhz);
  entry.ecc_errors = known<uint64_t>(t.has, plugin::kHasEccErrors, t.ecc_errors);
  entry.performance_state = known<int64_t>(t.has, plugin::kHasPerformanceState, t.performance_state);
  entry.utilization = known<double>(t.has, plugin::kHasUtilization, t.utilization);
  entry.fan = known<double>(t.has, plugin::kHasFan, t.fan);
  entry.temperature_celsius = known<double>(t.has, plugin::kHasTemperature, t.temperature_celsius);
  entry.power_watts = known<double>(t.has, plugin::kHasPower, t.power_watts);
  entry.power_limit_watts = known<double>(t.has, plugin::kHasPowerLimit, t.power_limit_watts);
}

DeviceEntry describe(const Device& device) {
  DeviceEntry entry;
  entry.name = device.name();
  entry.plugin = device.backend();
  entry.plugin_version = device.plugin_version();
  entry.index = device.index();
  entry.kind = device.kind();
  for (uint32_t type = 0; type < plugin::kDTypeCount; ++type)
    if (device.supports(static_cast<DType>(type)))
      entry.types.emplace_back(to_string(static_cast<DType>(type)));
  add_properties(device.properties(), entry);
  try {
    for (const Device& other : routes_to(device))
      if (other != device) entry.same_hardware.push_back(other.name());
    add_telemetry(device.telemetry(), entry);
    entry.processes = device.processes();
  } catch (const std::exception& error) {
    entry.problem = error.what();
  }
  return entry;
}

// So that the next query has a span of time to measure a load over.
void start_measuring(const std::vector<Device>& devices) {
  for (const Device& device : devices) {
    try {
      device.telemetry();
    } catch (const std::exception&) {  // describe() says why
    }
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

}  // namespace

Snapshot take_snapshot() {
  const Runtime& runtime = Runtime::get();
  Snapshot snapshot{version(), runtime.folders(), {}, runtime.report(), {}, {}};
  const std::vector<Device> all = devices();
  if (!all.empty()) start_measuring(all);
  for (const Device& device : all) snapshot.devices.push_back(describe(device));
  snapshot.notes = runtime.notes();
  return snapshot;
}

}  // namespace backplane::tools
