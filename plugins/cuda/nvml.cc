// SPDX-License-Identifier: Apache-2.0
#include "nvml.h"

#include <unistd.h>

#include <vector>

namespace backplane::cuda {
namespace {

// Values of NVML's enumerations, after its API reference.
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr int kTemperatureGpu = 0;
constexpr int kClockSm = 1;
constexpr int kClockMemory = 2;
constexpr int kPerformanceStateUnknown = 32;
constexpr int kUncorrectedErrors = 1;
constexpr int kSinceDriverLoad = 0;
constexpr unsigned long long kMemoryNotAvailable = ~0ull;

void set(plugin::Telemetry* telemetry, uint64_t bit, bool known) {
  if (known) telemetry->has |= bit;
}

}  // namespace

Nvml::Nvml(const Library& library) noexcept {
  library.find("nvmlInit_v2", &init_);
  library.find("nvmlShutdown", &shutdown_);
  library.find("nvmlDeviceGetHandleByPciBusId_v2", &by_pci_);
  library.find("nvmlSystemGetDriverVersion", &driver_);
  library.find("nvmlDeviceGetMemoryInfo", &memory_);
  library.find("nvmlDeviceGetUtilizationRates", &utilization_);
  library.find("nvmlDeviceGetTemperature", &temperature_);
  library.find("nvmlDeviceGetFanSpeed", &fan_);
  library.find("nvmlDeviceGetPowerUsage", &power_);
  library.find("nvmlDeviceGetEnforcedPowerLimit", &power_limit_);
  library.find("nvmlDeviceGetClockInfo", &clock_);
  library.find("nvmlDeviceGetPerformanceState", &performance_state_);
  library.find("nvmlDeviceGetTotalEccErrors", &ecc_errors_);
  library.find("nvmlDeviceGetComputeRunningProcesses_v3", &compute_processes_);
  library.find("nvmlDeviceGetGraphicsRunningProcesses_v3", &graphics_processes_);
  library.find("nvmlSystemGetProcessName", &process_name_);
  started_ = init_ != nullptr && by_pci_ != nullptr && init_() == kSuccess;
  if (started_ && driver_ != nullptr) driver_(driver_version_, sizeof driver_version_);
}

Nvml::~Nvml() {
  if (started_ && shutdown_ != nullptr) shutdown_();
}

std::shared_ptr<Nvml> Nvml::load() {
  const Library library{"libnvidia-ml.so.1"};
  if (!library.loaded()) return nullptr;
  std::shared_ptr<Nvml> nvml(new Nvml(library));
  return nvml->started_ ? nvml : nullptr;
}

bool Nvml::card(const char* pci_address, Card* card) const noexcept {
  return by_pci_(pci_address, card) == kSuccess;
}

void Nvml::telemetry(const char* pci_address, plugin::Telemetry* telemetry) const noexcept {
  Card card = nullptr;
  if (!this->card(pci_address, &card)) return;
  Memory memory{};
  if (memory_ != nullptr && memory_(card, &memory) == kSuccess && memory.total > 0) {
    telemetry->memory_capacity = memory.total;
    telemetry->memory_used = memory.used;
    telemetry->memory_free = memory.free;
    // A driver that reports more free than there is knows none of it.
    const bool sane = memory.free <= memory.total && memory.used <= memory.total;
    telemetry->has |= plugin::kHasMemoryCapacity;
    set(telemetry, plugin::kHasMemoryUsed | plugin::kHasMemoryFree, sane);
  }
  Utilization utilization{};
  if (utilization_ != nullptr && utilization_(card, &utilization) == kSuccess && utilization.gpu <= 100) {
    telemetry->utilization = utilization.gpu / 100.0;
    telemetry->has |= plugin::kHasUtilization;
  }
  unsigned value = 0;
  const auto read = [&](uint64_t bit, double* field, double scale, int answer) {
    *field = value * scale;
    set(telemetry, bit, answer == kSuccess);
  };
  if (temperature_ != nullptr)
    read(plugin::kHasTemperature, &telemetry->temperature_celsius, 1,
         temperature_(card, kTemperatureGpu, &value));
  if (fan_ != nullptr) read(plugin::kHasFan, &telemetry->fan, 0.01, fan_(card, &value));
  if (power_ != nullptr) read(plugin::kHasPower, &telemetry->power_watts, 1e-3, power_(card, &value));
  if (power_limit_ != nullptr)
    read(plugin::kHasPowerLimit, &telemetry->power_limit_watts, 1e-3, power_limit_(card, &value));
  if (clock_ != nullptr) {
    set(telemetry, plugin::kHasCurrentClock, clock_(card, kClockSm, &telemetry->clock_mhz) == kSuccess);
    set(telemetry, plugin::kHasMemoryClock,
        clock_(card, kClockMemory, &telemetry->memory_clock_mhz) == kSuccess);
  }
  int state = 0;
  if (performance_state_ != nullptr && performance_state_(card, &state) == kSuccess) {
    telemetry->performance_state = state;
    set(telemetry, plugin::kHasPerformanceState, state != kPerformanceStateUnknown);
  }
  unsigned long long errors = 0;
  if (ecc_errors_ != nullptr &&
      ecc_errors_(card, kUncorrectedErrors, kSinceDriverLoad, &errors) == kSuccess) {
    telemetry->ecc_errors = errors;
    telemetry->has |= plugin::kHasEccErrors;
  }
  uint32_t count = 0;
  std::vector<plugin::ProcessInfo> all(256);
  if (!processes(pci_address, all.data(), sizeof(plugin::ProcessInfo), 256, &count).ok()) return;
  for (uint32_t i = 0; i < count && i < all.size(); ++i)
    if (all[i].pid == static_cast<uint32_t>(getpid()) && all[i].memory_used != UINT64_MAX) {
      telemetry->memory_process = all[i].memory_used;
      telemetry->has |= plugin::kHasMemoryProcess;
    }
}

plugin::Status Nvml::processes(const char* pci_address, plugin::ProcessInfo* first, uint32_t stride,
                               uint32_t capacity, uint32_t* count) const noexcept {
  *count = 0;
  Card card = nullptr;
  if (!this->card(pci_address, &card)) return plugin::unimplemented("a list of processes");
  bool answered = false;
  for (const auto list : {compute_processes_, graphics_processes_}) {
    if (list == nullptr) continue;
    Process running[256];
    unsigned number = 256;
    const int result = list(card, &number, running);
    if (result != kSuccess && result != kInsufficientSize) continue;
    answered = true;
    for (unsigned i = 0; i < number && i < 256; ++i, ++*count) {
      if (*count >= capacity) continue;
      plugin::ProcessInfo info{};
      info.pid = running[i].pid;
      info.memory_used = running[i].memory_used == kMemoryNotAvailable ? UINT64_MAX : running[i].memory_used;
      if (process_name_ == nullptr || process_name_(info.pid, info.name, sizeof info.name) != kSuccess)
        info.name[0] = '\0';
      auto* out = reinterpret_cast<plugin::ProcessInfo*>(reinterpret_cast<char*>(first) +
                                                         static_cast<size_t>(*count) * stride);
      if (out->struct_size == 0) out->struct_size = stride < sizeof info ? stride : sizeof info;
      plugin::fill_struct(out, info);
    }
  }
  return answered ? plugin::kOk : plugin::unimplemented("a list of processes");
}

}  // namespace backplane::cuda
