// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's management library, found at run time; its header is not always installed, so the few functions
// used are declared here, after the NVML API reference (version 2 entry points). Thread-safe, as NVML is.
#ifndef BACKPLANE_PLUGINS_CUDA_NVML_H_
#define BACKPLANE_PLUGINS_CUDA_NVML_H_

#include <cstdint>
#include <memory>

#include "backplane/plugin/base.h"
#include "library.h"

namespace backplane::cuda {

class Nvml {
 public:
  // Null where NVML is not there or does not start.
  static std::shared_ptr<Nvml> load();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // "580.65.06"; empty when NVML does not say.
  const char* driver_version() const noexcept { return driver_version_; }

  // Fills what NVML knows of the card at a PCI address, and sets the bits in `has`.
  void telemetry(const char* pci_address, plugin::Telemetry* telemetry) const noexcept;

  plugin::Status processes(const char* pci_address, plugin::ProcessInfo* first, uint32_t stride,
                           uint32_t capacity, uint32_t* count) const noexcept;

 private:
  using Card = struct nvmlDevice_st*;
  struct Memory {
    unsigned long long total, free, used;
  };
  struct Utilization {
    unsigned gpu, memory;  // percent
  };
  struct Process {
    unsigned pid;
    unsigned long long memory_used;
    unsigned gpu_instance, compute_instance;
  };

  explicit Nvml(const Library& library) noexcept;
  bool card(const char* pci_address, Card* card) const noexcept;

  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  int (*by_pci_)(const char*, Card*) = nullptr;
  int (*driver_)(char*, unsigned) = nullptr;
  int (*memory_)(Card, Memory*) = nullptr;
  int (*utilization_)(Card, Utilization*) = nullptr;
  int (*temperature_)(Card, int, unsigned*) = nullptr;
  int (*fan_)(Card, unsigned*) = nullptr;
  int (*power_)(Card, unsigned*) = nullptr;
  int (*power_limit_)(Card, unsigned*) = nullptr;
  int (*clock_)(Card, int, unsigned*) = nullptr;
  int (*performance_state_)(Card, int*) = nullptr;
  int (*ecc_errors_)(Card, int, int, unsigned long long*) = nullptr;
  int (*compute_processes_)(Card, unsigned*, Process*) = nullptr;
  int (*graphics_processes_)(Card, unsigned*, Process*) = nullptr;
  int (*process_name_)(unsigned, char*, unsigned) = nullptr;
  bool started_ = false;
  char driver_version_[64] = "";
};

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_NVML_H_
