// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_PLUGINS_OPENCL_DEVICE_H_
#define BACKPLANE_PLUGINS_OPENCL_DEVICE_H_

#include <atomic>
#include <memory>
#include <mutex>

#include "opencl/cache.h"
#include "opencl/discovery.h"
#include "opencl/objects.h"

namespace backplane::opencl {

class Variant;

// Shared by the devices that came of one physical device.
struct SharedContext {
  ContextHandle handle;
};

class ClDevice final : public plugin::DeviceBase {
 public:
  // `cache` outlives the device.
  ClDevice(std::shared_ptr<const FoundDevice> found, std::shared_ptr<SharedContext> context,
           const BinaryCache* cache);

  void destroy() noexcept override;
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
  const char* backend_name() const noexcept override { return "opencl"; }

  const Facts& facts() const noexcept { return found_->facts; }
  const BinaryCache& cache() const noexcept { return *cache_; }
  cl_device_id id() const noexcept { return found_->id.get(); }
  cl_context context() const noexcept { return context_->handle.get(); }

  // The queue that mappings go through. Owned by the device.
  Status map_queue(cl_command_queue* queue) noexcept;
  void count_memory(int64_t bytes) noexcept { allocated_ += static_cast<uint64_t>(bytes); }

  // Passes a status on, and once one says DeviceLost, says so itself ever after.
  Status checked(Status status) noexcept;

  // Whether host memory is best copied by a kernel, which uses every unit.
  bool copies_shared() const noexcept {
    return facts().shares_host_memory && facts().device_class == DeviceClass::Cpu;
  }
  // Queues that kernel.
  Status copy_bytes(ClStream* stream, cl_mem dst, uint64_t dst_offset, cl_mem src, uint64_t src_offset,
                    uint64_t bytes) noexcept;

 protected:
  ~ClDevice();

 private:
  Status check_size(uint64_t bytes) noexcept;
  Status make_queue(int32_t priority, QueueHandle* queue) noexcept;

  const std::shared_ptr<const FoundDevice> found_;
  const std::shared_ptr<SharedContext> context_;
  const BinaryCache* const cache_;
  std::atomic<uint64_t> allocated_{0};
  std::atomic<bool> is_lost_{false};
  std::mutex mutex_;
  QueueHandle map_queue_;
  std::unique_ptr<Variant> copy_;
  bool copy_failed_ = false;
};

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_DEVICE_H_
