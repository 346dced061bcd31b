// SPDX-License-Identifier: Apache-2.0
// What a device is and what it is doing.
#include "cpu/device.h"
#include "cpu/isa.h"

namespace backplane::cpu {
namespace {

constexpr uint64_t kFlags = plugin::kSynchronousDefaultStream | plugin::kHostMemory |
                            plugin::kMapsWithoutCopy | plugin::kBufferOffsets | plugin::kForkSafe |
                            plugin::kDenormals | plugin::kCorrectlyRoundedDivide;
constexpr uint64_t kAllTypes = (uint64_t{1} << plugin::kDTypeCount) - 1;

template <size_t N>
void set_text(plugin::DeviceProperties& properties, char (&field)[N], uint64_t bit, const std::string& text) {
  if (text.empty()) return;
  plugin::copy_text(field, text.c_str());
  properties.has |= bit;
}

void set_memory(plugin::DeviceProperties& properties) {
  const auto memory = read_memory();
  if (!memory) return;
  properties.memory_total = memory->total;
  properties.largest_allocation = memory->total;
  properties.has |= plugin::kHasMemoryTotal | plugin::kHasLargestAllocation;
}

}  // namespace

plugin::DeviceProperties describe_device(const Machine& machine, int threads) noexcept {
  plugin::DeviceProperties properties{};
  properties.struct_size = sizeof properties;
  properties.kind = plugin::DeviceKind::Cpu;
  properties.flags = kFlags;
  properties.types = kAllTypes;
  properties.min_alignment = kMinAlignment;
  plugin::copy_text(properties.name, machine.processor.model.c_str());
  static_cast<void>(plugin::guard([&] {
    properties.units = static_cast<uint32_t>(threads);
    properties.has |= plugin::kHasUnits;
    set_text(properties, properties.vendor, plugin::kHasVendor, machine.processor.vendor);
    set_text(properties, properties.driver_version, plugin::kHasDriverVersion, machine.description);
    set_text(properties, properties.architecture, plugin::kHasArchitecture, isa_name(active_isa()));
    set_text(properties, properties.source_language, plugin::kHasSourceLanguage, "native");
    if (machine.processor.clock_mhz) {
      properties.clock_mhz = *machine.processor.clock_mhz;
      properties.has |= plugin::kHasClock;
    }
    if (!machine.processor.features.empty()) {
      properties.extensions = machine.processor.features.c_str();
      properties.has |= plugin::kHasExtensions;
    }
    if (const auto node = numa_node(machine.cores)) {
      properties.numa_node = *node;
      properties.has |= plugin::kHasNumaNode;
    }
    set_memory(properties);
    return plugin::kOk;
  }));
  return properties;
}

TelemetrySource::TelemetrySource(const Machine& machine)
    : machine_(machine),
      last_time_(read_processor_time(machine.cores)),
      last_energy_(read_energy()),
      last_energy_at_(std::chrono::steady_clock::now()) {}

plugin::Telemetry TelemetrySource::read() {
  plugin::Telemetry telemetry{};
  telemetry.struct_size = sizeof telemetry;
  const auto set = [&](auto& field, uint64_t bit, auto value) {
    field = static_cast<std::remove_reference_t<decltype(field)>>(value);
    telemetry.has |= bit;
  };
  if (const auto memory = read_memory()) {
    set(telemetry.memory_capacity, plugin::kHasMemoryCapacity, memory->total);
    set(telemetry.memory_free, plugin::kHasMemoryFree, memory->available);
    set(telemetry.memory_used, plugin::kHasMemoryUsed,
        memory->total > memory->available ? memory->total - memory->available : 0);
    if (memory->process > 0) set(telemetry.memory_process, plugin::kHasMemoryProcess, memory->process);
  }
  if (const auto celsius = read_temperature_celsius()) {
    set(telemetry.temperature_celsius, plugin::kHasTemperature, *celsius);
  }
  if (const auto mhz = read_current_clock_mhz()) set(telemetry.clock_mhz, plugin::kHasCurrentClock, *mhz);
  if (const auto watts = read_power_limit_watts())
    set(telemetry.power_limit_watts, plugin::kHasPowerLimit, *watts);

  const std::lock_guard lock(mutex_);
  const auto time = read_processor_time(machine_.cores);
  if (time && last_time_ && time->total > last_time_->total && time->busy >= last_time_->busy) {
    set(telemetry.utilization, plugin::kHasUtilization,
        static_cast<double>(time->busy - last_time_->busy) /
            static_cast<double>(time->total - last_time_->total));
    last_time_ = time;
  }
  const auto energy = read_energy();
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - last_energy_at_).count();
  if (energy && last_energy_ && seconds > 0.01) {
    double joules = energy->joules - last_energy_->joules;
    if (joules < 0) joules += energy->wraps_after;
    if (joules >= 0) set(telemetry.power_watts, plugin::kHasPower, joules / seconds);
    last_energy_ = energy;
    last_energy_at_ = now;
  }
  return telemetry;
}

}  // namespace backplane::cpu
