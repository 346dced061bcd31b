// SPDX-License-Identifier: Apache-2.0
#include "stream.h"

#include <algorithm>
#include <cstring>

#include "device.h"
#include "event.h"
#include "kernels/params.h"
#include "poll.h"

namespace backplane::cuda {
namespace {

// Below this the driver copies the host's bytes aside before cuMemcpyHtoDAsync returns, whatever the stream
// is doing.
constexpr uint64_t kSmallUpload = 64 << 10;

Status check_range(const char* call, plugin::Buffer* buffer, uint64_t offset, uint64_t bytes) noexcept {
  if (offset <= buffer->size() && bytes <= buffer->size() - offset) return kOk;
  return make_status(StatusCode::InvalidArgument, 0,
                     "%s: %llu bytes at offset %llu do not fit in a buffer of %llu bytes", call,
                     static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(offset),
                     static_cast<unsigned long long>(buffer->size()));
}

}  // namespace

Status Stream::create(std::shared_ptr<Context> context, std::shared_ptr<Modules> modules, int32_t priority,
                      plugin::Stream** stream) {
  BACKPLANE_ENTER(*context);
  int lowest = 0;
  int highest = 0;
  BACKPLANE_CU(*context, cuCtxGetStreamPriorityRange, &lowest, &highest);
  CUstream handle = nullptr;
  BACKPLANE_CU(*context, cuStreamCreateWithPriority, &handle, CU_STREAM_NON_BLOCKING,
               std::clamp(-priority, highest, lowest));
  *stream = new Stream(std::move(context), std::move(modules), handle, true);
  return kOk;
}

Status Stream::wrap(std::shared_ptr<Context> context, std::shared_ptr<Modules> modules, CUstream native,
                    plugin::Stream** stream) {
  *stream = new Stream(std::move(context), std::move(modules), native, false);
  return kOk;
}

void Stream::destroy() noexcept {
  const ContextScope scope(*context_);
  if (scope.status().ok()) {
    context_->check(cuStreamSynchronize(handle_), "cuStreamSynchronize");
    if (owned_) context_->check(cuStreamDestroy(handle_), "cuStreamDestroy");
  }
  delete this;
}

Status Stream::copy(plugin::Buffer* dst, uint64_t dst_offset, plugin::Buffer* src, uint64_t src_offset,
                    uint64_t bytes) noexcept {
  BACKPLANE_TRY(check_range("copy", dst, dst_offset, bytes));
  BACKPLANE_TRY(check_range("copy", src, src_offset, bytes));
  if (bytes == 0) return context_->usable();
  BACKPLANE_ENTER(*context_);
  const CUdeviceptr to = dst->address() + dst_offset;
  const CUdeviceptr from = src->address() + src_offset;
  if (dst->host_pointer() == nullptr && src->host_pointer() == nullptr) {
    BACKPLANE_CU(*context_, cuMemcpyDtoDAsync, to, from, bytes, handle_);
  } else if (dst->host_pointer() == nullptr) {
    const void* host = static_cast<const char*>(src->host_pointer()) + src_offset;
    BACKPLANE_CU(*context_, cuMemcpyHtoDAsync, to, host, bytes, handle_);
  } else if (src->host_pointer() == nullptr) {
    void* host = static_cast<char*>(dst->host_pointer()) + dst_offset;
    BACKPLANE_CU(*context_, cuMemcpyDtoHAsync, host, from, bytes, handle_);
  } else {
    BACKPLANE_CU(*context_, cuMemcpyAsync, to, from, bytes, handle_);
  }
  return kOk;
}

Status Stream::upload(plugin::Buffer* dst, uint64_t dst_offset, const void* src, uint64_t bytes) noexcept {
  return plugin::guard([&]() -> Status {
    BACKPLANE_TRY(check_range("upload", dst, dst_offset, bytes));
    if (bytes == 0) return context_->usable();
    BACKPLANE_ENTER(*context_);
    const CUdeviceptr to = dst->address() + dst_offset;
    if (bytes <= kSmallUpload || is_pinned(src)) {
      BACKPLANE_CU(*context_, cuMemcpyHtoDAsync, to, src, bytes, handle_);
      return kOk;
    }
    const std::lock_guard lock(staging_mutex_);
    return staging_.upload(to, src, bytes);
  });
}

Status Stream::download(void* dst, plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept {
  return plugin::guard([&]() -> Status {
    BACKPLANE_TRY(check_range("download", src, src_offset, bytes));
    if (bytes == 0) return context_->usable();
    BACKPLANE_ENTER(*context_);
    const CUdeviceptr from = src->address() + src_offset;
    if (is_pinned(dst)) {
      BACKPLANE_CU(*context_, cuMemcpyDtoHAsync, dst, from, bytes, handle_);
      return kOk;
    }
    const std::lock_guard lock(staging_mutex_);
    return staging_.download(dst, from, bytes);
  });
}

Status Stream::fill(plugin::Buffer* dst, uint64_t offset, uint64_t bytes, const void* pattern,
                    uint32_t pattern_size) noexcept {
  return plugin::guard([&]() -> Status {
    BACKPLANE_TRY(check_range("fill", dst, offset, bytes));
    const bool known = pattern_size == 1 || pattern_size == 2 || pattern_size == 4 || pattern_size == 8;
    if (!known || offset % pattern_size != 0 || bytes % pattern_size != 0)
      return make_status(StatusCode::InvalidArgument, 0,
                         "fill: a pattern of %u bytes over %llu bytes at offset %llu", pattern_size,
                         static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(offset));
    if (bytes == 0) return context_->usable();
    BACKPLANE_ENTER(*context_);
    const CUdeviceptr to = dst->address() + offset;
    uint64_t bits = 0;
    std::memcpy(&bits, pattern, pattern_size);
    switch (pattern_size) {
      case 1:
        BACKPLANE_CU(*context_, cuMemsetD8Async, to, static_cast<unsigned char>(bits), bytes, handle_);
        return kOk;
      case 2:
        BACKPLANE_CU(*context_, cuMemsetD16Async, to, static_cast<unsigned short>(bits), bytes / 2, handle_);
        return kOk;
      case 4:
        BACKPLANE_CU(*context_, cuMemsetD32Async, to, static_cast<unsigned>(bits), bytes / 4, handle_);
        return kOk;
      default:
        return fill_words(to, bytes, bits);
    }
  });
}

// The driver's memset ends at 32 bits.
Status Stream::fill_words(CUdeviceptr dst, uint64_t bytes, uint64_t pattern) {
  CUfunction function = nullptr;
  BACKPLANE_TRY(modules_->function("copy", "fill_64", &function));
  FillParams params{dst, static_cast<int64_t>(bytes / 8), pattern};
  const uint64_t blocks = std::min<uint64_t>((bytes / 8 + kBlockThreads - 1) / kBlockThreads, kMostBlocks);
  return launch(function, blocks, kBlockThreads, &params);
}

Status Stream::copy_from_peer(plugin::Buffer* dst, uint64_t dst_offset, plugin::Device* src_device,
                              plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept {
  Device* peer = Device::own(src_device);
  if (peer == nullptr) return plugin::unimplemented("a peer copy from another plugin's device");
  BACKPLANE_TRY(check_range("copy_from_peer", dst, dst_offset, bytes));
  BACKPLANE_TRY(check_range("copy_from_peer", src, src_offset, bytes));
  if (bytes == 0) return context_->usable();
  BACKPLANE_TRY(Device::enable_peer(*context_, peer->context()));
  BACKPLANE_ENTER(*context_);
  BACKPLANE_CU(*context_, cuMemcpyPeerAsync, dst->address() + dst_offset, context_->handle(),
               src->address() + src_offset, peer->context().handle(), bytes, handle_);
  return kOk;
}

Status Stream::copy_to_peer(plugin::Device* dst_device, plugin::Buffer* dst, uint64_t dst_offset,
                            plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept {
  Device* peer = Device::own(dst_device);
  if (peer == nullptr) return plugin::unimplemented("a peer copy to another plugin's device");
  BACKPLANE_TRY(check_range("copy_to_peer", dst, dst_offset, bytes));
  BACKPLANE_TRY(check_range("copy_to_peer", src, src_offset, bytes));
  if (bytes == 0) return context_->usable();
  BACKPLANE_TRY(Device::enable_peer(*context_, peer->context()));
  BACKPLANE_ENTER(*context_);
  BACKPLANE_CU(*context_, cuMemcpyPeerAsync, dst->address() + dst_offset, peer->context().handle(),
               src->address() + src_offset, context_->handle(), bytes, handle_);
  return kOk;
}

Status Stream::record(plugin::Event* event) noexcept {
  BACKPLANE_ENTER(*context_);
  return static_cast<EventObject*>(event)->record_on(handle_);
}

Status Stream::wait(plugin::Event* event) noexcept {
  BACKPLANE_ENTER(*context_);
  return static_cast<EventObject*>(event)->make_wait(handle_);
}

Status Stream::query(bool* idle) noexcept {
  BACKPLANE_ENTER(*context_);
  const CUresult result = cuStreamQuery(handle_);
  *idle = result != CUDA_ERROR_NOT_READY;
  return *idle ? context_->check(result, "cuStreamQuery") : kOk;
}

Status Stream::synchronize(uint64_t timeout_ns) noexcept {
  if (timeout_ns != UINT64_MAX)
    return poll(timeout_ns, "the stream's work", [this](bool* complete) { return query(complete); });
  BACKPLANE_ENTER(*context_);
  return context_->check(cuStreamSynchronize(handle_), "cuStreamSynchronize");
}

Status Stream::native_handle(void** handle) noexcept {
  *handle = handle_;
  return kOk;
}

Status Stream::launch(CUfunction function, uint64_t blocks, uint32_t threads, void* params) noexcept {
  void* arguments[] = {params};
  return context_->check(cuLaunchKernel(function, static_cast<unsigned>(blocks), 1, 1, threads, 1, 1, 0,
                                        handle_, arguments, nullptr),
                         "cuLaunchKernel");
}

}  // namespace backplane::cuda
