// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_CPU_DEVICE_H_
#define BACKPLANE_CPU_DEVICE_H_

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backplane/plugin/base.h"
#include "cpu/buffer.h"
#include "cpu/host.h"
#include "cpu/parallel.h"

namespace backplane::cpu {

// The plugin's name. Its address tells this plugin's devices from those of another one of the same name.
extern const char kBackendName[];

// What all devices of the backend share; outlives them.
struct Machine {
  Processor processor;
  std::vector<int> cores;   // that this process may use
  std::string description;  // of the thread library
  MemoryAccount memory;
};

// The properties of a device with `threads` threads. Never fails; what is unknown has no bit.
plugin::DeviceProperties describe_device(const Machine& machine, int threads) noexcept;

// Rates need two looks; this one remembers the last.
class TelemetrySource {
 public:
  explicit TelemetrySource(const Machine& machine);
  plugin::Telemetry read();

 private:
  const Machine& machine_;
  std::mutex mutex_;
  std::optional<ProcessorTime> last_time_;
  std::optional<Energy> last_energy_;
  std::chrono::steady_clock::time_point last_energy_at_;
};

class CpuDevice final : public plugin::DeviceBase {
 public:
  CpuDevice(Machine& machine, int thread_count)
      : machine_(machine), threads_(thread_count), telemetry_(machine) {}

  void destroy() noexcept override { delete this; }
  plugin::Status properties(plugin::DeviceProperties* properties) noexcept override;
  plugin::Status telemetry(plugin::Telemetry* telemetry) noexcept override;
  plugin::Status supports(const plugin::KernelDesc* desc) noexcept override;
  plugin::Status create_kernel(const plugin::KernelDesc* desc, plugin::Kernel** kernel) noexcept override;
  plugin::Status allocate(uint64_t bytes, plugin::Buffer** buffer) noexcept override;
  plugin::Status alloc_host(uint64_t bytes, plugin::Buffer** buffer) noexcept override;
  plugin::Status wrap_buffer(void* native, uint64_t bytes, plugin::Buffer** buffer) noexcept override;
  plugin::Status wrap_host(void* pointer, uint64_t bytes, plugin::Buffer** buffer) noexcept override;
  plugin::Status create_stream(const plugin::StreamOptions* options,
                               plugin::Stream** stream) noexcept override;
  plugin::Status create_event(plugin::Event** event) noexcept override;
  plugin::Status create_host_event(plugin::Event** event) noexcept override;
  plugin::Status can_copy_from(plugin::Device* src) noexcept override;
  const char* backend_name() const noexcept override { return kBackendName; }

  Threads& threads() noexcept { return threads_; }

 private:
  ~CpuDevice() = default;

  Machine& machine_;
  Threads threads_;
  TelemetrySource telemetry_;
};

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_DEVICE_H_
