// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"

namespace backplane::cuda {

Status Buffer::allocate(std::shared_ptr<Context> context, uint64_t bytes, plugin::Buffer** buffer) {
  BACKPLANE_ENTER(*context);
  context->free_put_off();
  CUdeviceptr address = 0;
  BACKPLANE_CU(*context, cuMemAlloc, &address, bytes);
  *buffer = new Buffer(std::move(context), address, nullptr, bytes, Ownership::DeviceMemory);
  return kOk;
}

Status Buffer::allocate_host(std::shared_ptr<Context> context, uint64_t bytes, plugin::Buffer** buffer) {
  BACKPLANE_ENTER(*context);
  void* host = nullptr;
  CUdeviceptr address = 0;
  BACKPLANE_CU(*context, cuMemHostAlloc, &host, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  if (cuMemHostGetDevicePointer(&address, host, 0) != CUDA_SUCCESS) address = 0;
  *buffer = new Buffer(std::move(context), address, host, bytes, Ownership::PinnedMemory);
  return kOk;
}

Status Buffer::wrap_device(std::shared_ptr<Context> context, void* native, uint64_t bytes,
                           plugin::Buffer** buffer) {
  if (native == nullptr)
    return make_status(StatusCode::InvalidArgument, 0, "wrap_buffer: the CUdeviceptr is null");
  const auto address = reinterpret_cast<CUdeviceptr>(native);
  *buffer = new Buffer(std::move(context), address, nullptr, bytes, Ownership::NotOurs);
  return kOk;
}

Status Buffer::wrap_host(std::shared_ptr<Context> context, void* pointer, uint64_t bytes,
                         plugin::Buffer** buffer) {
  BACKPLANE_ENTER(*context);
  const CUresult result =
      cuMemHostRegister(pointer, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  if (result != CUDA_SUCCESS) {
    // Memory that cannot be pinned (a file mapping, a limit reached) is copied another way, not an error.
    const Status status = context->check(result, "cuMemHostRegister");
    if (status.code == StatusCode::DeviceLost) return status;
    return {StatusCode::Unimplemented, status.vendor_code, status.message};
  }
  CUdeviceptr address = 0;
  if (cuMemHostGetDevicePointer(&address, pointer, 0) != CUDA_SUCCESS) address = 0;
  *buffer = new Buffer(std::move(context), address, pointer, bytes, Ownership::RegisteredMemory);
  return kOk;
}

void Buffer::destroy() noexcept {
  if (ownership_ == Ownership::DeviceMemory) {
    context_->free_device_memory(address_);
  } else if (ownership_ != Ownership::NotOurs) {
    const ContextScope scope(*context_);
    if (scope.status().ok()) {
      const bool pinned = ownership_ == Ownership::PinnedMemory;
      context_->check(pinned ? cuMemFreeHost(host_) : cuMemHostUnregister(host_), "cuMemFreeHost");
    }
  }
  delete this;
}

Status Buffer::map(uint32_t, uint64_t offset, uint64_t size, void** pointer) noexcept {
  if (host_ == nullptr) return plugin::unimplemented("mapping of device memory");
  if (offset > size_ || size > size_ - offset)
    return make_status(StatusCode::InvalidArgument, 0, "map: bytes %llu to %llu of a buffer of %llu",
                       static_cast<unsigned long long>(offset),
                       static_cast<unsigned long long>(offset + size),
                       static_cast<unsigned long long>(size_));
  *pointer = static_cast<char*>(host_) + offset;
  return kOk;
}

Status Buffer::unmap(void*) noexcept {
  return host_ == nullptr ? plugin::unimplemented("mapping of device memory") : kOk;
}

Status Buffer::native_handle(void** handle) noexcept {
  *handle = host_ != nullptr ? host_ : reinterpret_cast<void*>(address_);
  return kOk;
}

}  // namespace backplane::cuda
