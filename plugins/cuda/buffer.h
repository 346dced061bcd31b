// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_PLUGINS_CUDA_BUFFER_H_
#define BACKPLANE_PLUGINS_CUDA_BUFFER_H_

#include <memory>

#include "context.h"

namespace backplane::cuda {

// Device memory, or host memory that the device can reach; ours or the host program's.
class Buffer final : public plugin::BufferBase {
 public:
  static Status allocate(std::shared_ptr<Context> context, uint64_t bytes, plugin::Buffer** buffer);
  static Status allocate_host(std::shared_ptr<Context> context, uint64_t bytes, plugin::Buffer** buffer);
  static Status wrap_device(std::shared_ptr<Context> context, void* native, uint64_t bytes,
                            plugin::Buffer** buffer);
  static Status wrap_host(std::shared_ptr<Context> context, void* pointer, uint64_t bytes,
                          plugin::Buffer** buffer);

  void destroy() noexcept override;
  uint64_t size() const noexcept override { return size_; }
  uint64_t address() const noexcept override { return address_; }
  void* host_pointer() const noexcept override { return host_; }
  Status map(uint32_t flags, uint64_t offset, uint64_t size, void** pointer) noexcept override;
  Status unmap(void* pointer) noexcept override;
  Status native_handle(void** handle) noexcept override;

 private:
  enum class Ownership { DeviceMemory, PinnedMemory, RegisteredMemory, NotOurs };
  Buffer(std::shared_ptr<Context> context, CUdeviceptr address, void* host, uint64_t size,
         Ownership ownership)
      : context_(std::move(context)), address_(address), host_(host), size_(size), ownership_(ownership) {}
  ~Buffer() = default;

  const std::shared_ptr<Context> context_;
  const CUdeviceptr address_;
  void* const host_;  // null for device memory
  const uint64_t size_;
  const Ownership ownership_;
};

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_BUFFER_H_
