// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_CPU_BACKEND_H_
#define BACKPLANE_CPU_BACKEND_H_

#include <oneapi/tbb/global_control.h>

#include <optional>
#include <string>
#include <vector>

#include "cpu/device.h"

namespace backplane::cpu {

// Options (BACKPLANE_CPU_<OPTION> in the environment):
//   devices  into how many devices the cores are split, 1 to 1024; more than there are cores is fine
//   isa      "baseline", "avx2" or "avx512": use at most this instruction set
// A value that makes no sense is left unused and becomes a note.
class CpuBackend final : public plugin::BackendBase {
 public:
  explicit CpuBackend(const plugin::HostInfo& host);

  void destroy() noexcept override { delete this; }
  uint32_t device_count() noexcept override { return device_count_; }
  plugin::Status describe(uint32_t index, plugin::DeviceProperties* properties) noexcept override;
  plugin::Status open(uint32_t index, plugin::Device** device) noexcept override;
  uint32_t note_count() noexcept override { return static_cast<uint32_t>(notes_.size()); }
  plugin::Status note(uint32_t index, plugin::Note* note) noexcept override;

 private:
  ~CpuBackend() = default;
  void read_devices_option(const char* value);
  void read_isa_option(const char* value);
  int threads_of(uint32_t index) const noexcept;

  Machine machine_;
  int thread_count_ = 1;  // over all devices
  uint32_t device_count_ = 1;
  std::vector<plugin::Note> notes_;
  // The thread library makes one thread a core; a program that asks for more of them gets them.
  std::optional<oneapi::tbb::global_control> more_threads_;
};

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_BACKEND_H_
