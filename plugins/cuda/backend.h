// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_PLUGINS_CUDA_BACKEND_H_
#define BACKPLANE_PLUGINS_CUDA_BACKEND_H_

#include "device.h"

namespace backplane::cuda {

class Backend final : public plugin::BackendBase {
 public:
  static Status create(const plugin::HostInfo* info, plugin::Backend** backend);

  void destroy() noexcept override { delete this; }
  uint32_t device_count() noexcept override { return device_count_; }
  Status describe(uint32_t index, plugin::DeviceProperties* properties) noexcept override;
  Status open(uint32_t index, plugin::Device** device) noexcept override;
  Status open_native(const plugin::NativeContext* native, plugin::Device** device) noexcept override;
  uint32_t note_count() noexcept override { return note_.empty() ? 0 : 1; }
  Status note(uint32_t index, plugin::Note* note) noexcept override;

 private:
  Backend(const Host& host, int device_count, std::string note);
  ~Backend() = default;
  Status device_at(uint32_t index, CUdevice* device) const noexcept;

  Shared shared_;
  const uint32_t device_count_;
  const std::string note_;  // why there is no device; empty where there is one
};

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_BACKEND_H_
