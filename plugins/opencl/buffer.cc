// SPDX-License-Identifier: Apache-2.0
#include "opencl/device.h"
#include "opencl/objects.h"

namespace backplane::opencl {

ClBuffer::ClBuffer(ClDevice* device, MemoryHandle memory, uint64_t size, void* host_pointer,
                   bool unmap_at_end, uint64_t counted) noexcept
    : device_(device),
      memory_(std::move(memory)),
      size_(size),
      host_pointer_(host_pointer),
      unmap_at_end_(unmap_at_end),
      counted_(counted) {
  device_->count_memory(static_cast<int64_t>(counted_));
}

void ClBuffer::destroy() noexcept {
  if (unmap_at_end_) (void)unmap_now(host_pointer_);
  device_->count_memory(-static_cast<int64_t>(counted_));
  delete this;
}

Status ClBuffer::map(uint32_t flags, uint64_t offset, uint64_t size, void** pointer) noexcept {
  if (offset > size_ || size > size_ - offset)
    return plugin::make_status(StatusCode::InvalidArgument, 0, "mapping past the end of a buffer");
  if (unmap_at_end_) {
    *pointer = static_cast<char*>(host_pointer_) + offset;
    return kOk;
  }
  cl_map_flags how = 0;
  if ((flags & plugin::kMapDiscard) != 0) {
    how = CL_MAP_WRITE_INVALIDATE_REGION;
  } else {
    if ((flags & plugin::kMapRead) != 0) how |= CL_MAP_READ;
    if ((flags & plugin::kMapWrite) != 0) how |= CL_MAP_WRITE;
  }
  cl_command_queue queue = nullptr;
  BACKPLANE_OPENCL_TRY(device_->map_queue(&queue));
  cl_int code = CL_SUCCESS;
  *pointer =
      api().clEnqueueMapBuffer(queue, memory(), CL_TRUE, how, offset, size, 0, nullptr, nullptr, &code);
  return cl_status(code, "clEnqueueMapBuffer");
}

Status ClBuffer::unmap(void* pointer) noexcept { return unmap_at_end_ ? kOk : unmap_now(pointer); }

Status ClBuffer::unmap_now(void* pointer) noexcept {
  cl_command_queue queue = nullptr;
  BACKPLANE_OPENCL_TRY(device_->map_queue(&queue));
  EventHandle done;
  BACKPLANE_OPENCL_TRY(
      cl_status(api().clEnqueueUnmapMemObject(queue, memory(), pointer, 0, nullptr, done.out()),
                "clEnqueueUnmapMemObject"));
  return wait_for(done.get(), UINT64_MAX);
}

Status ClBuffer::native_handle(void** handle) noexcept {
  *handle = memory();
  return kOk;
}

}  // namespace backplane::opencl
