// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_PLUGINS_CUDA_DEVICE_H_
#define BACKPLANE_PLUGINS_CUDA_DEVICE_H_

#include "cublas.h"
#include "gate.h"
#include "host.h"
#include "modules.h"
#include "nvml.h"
#include "nvrtc.h"
#include "watcher.h"

namespace backplane::cuda {

// What every device of a backend shares.
struct Shared {
  Host host;
  std::shared_ptr<Watcher> watcher;
  std::shared_ptr<Nvml> nvml;
  std::shared_ptr<Nvrtc> nvrtc;
  CodeChoice code = CodeChoice::Automatic;
  bool cublas = true;
};

// What the kernels of one device need of it. Outlives the Device while kernels do.
struct DeviceState {
  std::shared_ptr<Context> context;
  std::shared_ptr<Modules> modules;
  std::shared_ptr<Nvrtc> nvrtc;
  std::shared_ptr<Cublas> cublas;
  int architecture = 0;  // 10 * major + minor
  int units = 1;         // multiprocessors
};

class Device final : public plugin::DeviceBase {
 public:
  static Status open(const Shared& shared, std::shared_ptr<Context> context, plugin::Device** device);

  void destroy() noexcept override { delete this; }
  Status properties(plugin::DeviceProperties* properties) noexcept override;
  Status telemetry(plugin::Telemetry* telemetry) noexcept override;
  Status supports(const plugin::KernelDesc* desc) noexcept override;
  Status create_kernel(const plugin::KernelDesc* desc, plugin::Kernel** kernel) noexcept override;
  Status allocate(uint64_t bytes, plugin::Buffer** buffer) noexcept override;
  Status alloc_host(uint64_t bytes, plugin::Buffer** buffer) noexcept override;
  Status wrap_buffer(void* native, uint64_t bytes, plugin::Buffer** buffer) noexcept override;
  Status wrap_host(void* pointer, uint64_t bytes, plugin::Buffer** buffer) noexcept override;
  Status create_stream(const plugin::StreamOptions* options, plugin::Stream** stream) noexcept override;
  Status wrap_stream(void* native, plugin::Stream** stream) noexcept override;
  Status create_event(plugin::Event** event) noexcept override;
  Status create_host_event(plugin::Event** event) noexcept override;
  Status can_copy_from(plugin::Device* src) noexcept override;
  Status native_handle(plugin::NativeHandle which, void** handle) noexcept override;
  const char* backend_name() const noexcept override;
  Status processes(plugin::ProcessInfo* first, uint32_t stride, uint32_t capacity,
                   uint32_t* count) noexcept override;

  Context& context() noexcept { return *state_->context; }

  // `device` itself when it is one of this plugin's, else null.
  static Device* own(plugin::Device* device) noexcept;

  // Lets `context` reach the memory of `peer`; Unimplemented where the cards cannot.
  static Status enable_peer(Context& context, Context& peer) noexcept;

 private:
  Device(const Shared& shared, std::shared_ptr<DeviceState> state, std::shared_ptr<Gates> gates)
      : shared_(shared), state_(std::move(state)), gates_(std::move(gates)) {}
  ~Device() = default;

  const Shared shared_;
  const std::shared_ptr<DeviceState> state_;
  const std::shared_ptr<Gates> gates_;
};

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_DEVICE_H_
