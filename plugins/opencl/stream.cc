// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "opencl/device.h"
#include "opencl/objects.h"

namespace backplane::opencl {

namespace {

// From here on a copy by all units, that is by a kernel, beats the driver's own copy in one thread.
constexpr uint64_t kSharedCopyBytes = uint64_t{1} << 20;

ClBuffer* cast(plugin::Buffer* buffer) noexcept { return static_cast<ClBuffer*>(buffer); }

void CL_CALLBACK complete_user_event(cl_event, cl_int status, void* data) {
  const EventHandle user(static_cast<cl_event>(data));
  api().clSetUserEventStatus(user.get(), status < 0 ? status : CL_COMPLETE);
}

cl_context context_of(cl_event event) noexcept {
  cl_context context = nullptr;
  api().clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof context, &context, nullptr);
  return context;
}

// An event of `context` that completes with `event`, which is of another.
Status bridge(cl_context context, cl_event event, EventHandle* result) noexcept {
  cl_int code = CL_SUCCESS;
  EventHandle user(api().clCreateUserEvent(context, &code));
  BACKPLANE_OPENCL_TRY(cl_status(code, "clCreateUserEvent"));
  api().clRetainEvent(user.get());  // the callback's
  code = api().clSetEventCallback(event, CL_COMPLETE, complete_user_event, user.get());
  if (code != CL_SUCCESS) api().clReleaseEvent(user.get());
  *result = std::move(user);
  return cl_status(code, "clSetEventCallback");
}

}  // namespace

ClStream::ClStream(ClDevice* device, QueueHandle queue) : device_(device), queue_(std::move(queue)) {
  if (device->facts().device_class == DeviceClass::Cpu) finish_at_exit(queue_.get());
}

void ClStream::destroy() noexcept {
  api().clFinish(queue());
  forget_at_exit(queue());
  delete this;
}

Status ClStream::checked(cl_int code, const char* call) noexcept {
  note_command();
  return device_->checked(cl_status(code, call));
}

Status ClStream::copy(plugin::Buffer* dst, uint64_t dst_offset, plugin::Buffer* src, uint64_t src_offset,
                      uint64_t bytes) noexcept {
  if (bytes == 0) return kOk;
  return checked(api().clEnqueueCopyBuffer(queue(), cast(src)->memory(), cast(dst)->memory(), src_offset,
                                           dst_offset, bytes, 0, nullptr, nullptr),
                 "clEnqueueCopyBuffer");
}

Status ClStream::copy_shared(ClBuffer* buffer, uint64_t offset, void* host, uint64_t bytes,
                             bool upload) noexcept {
  cl_int code = CL_SUCCESS;
  const MemoryHandle wrapped(
      api().clCreateBuffer(device_->context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, host, &code));
  BACKPLANE_OPENCL_TRY(cl_status(code, "clCreateBuffer"));
  // The driver keeps `wrapped` until the commands that use it are done.
  return upload ? device_->copy_bytes(this, buffer->memory(), offset, wrapped.get(), 0, bytes)
                : device_->copy_bytes(this, wrapped.get(), 0, buffer->memory(), offset, bytes);
}

Status ClStream::upload(plugin::Buffer* dst, uint64_t dst_offset, const void* src, uint64_t bytes) noexcept {
  if (bytes == 0) return kOk;
  if (bytes >= kSharedCopyBytes && device_->copies_shared() &&
      copy_shared(cast(dst), dst_offset, const_cast<void*>(src), bytes, true).ok())
    return kOk;
  return checked(api().clEnqueueWriteBuffer(queue(), cast(dst)->memory(), CL_FALSE, dst_offset, bytes, src, 0,
                                            nullptr, nullptr),
                 "clEnqueueWriteBuffer");
}

Status ClStream::download(void* dst, plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept {
  if (bytes == 0) return kOk;
  if (bytes >= kSharedCopyBytes && device_->copies_shared() &&
      copy_shared(cast(src), src_offset, dst, bytes, false).ok())
    return kOk;
  return checked(api().clEnqueueReadBuffer(queue(), cast(src)->memory(), CL_FALSE, src_offset, bytes, dst, 0,
                                           nullptr, nullptr),
                 "clEnqueueReadBuffer");
}

Status ClStream::fill(plugin::Buffer* dst, uint64_t offset, uint64_t bytes, const void* pattern,
                      uint32_t pattern_size) noexcept {
  if (bytes == 0) return kOk;
  return checked(api().clEnqueueFillBuffer(queue(), cast(dst)->memory(), pattern, pattern_size, offset, bytes,
                                           0, nullptr, nullptr),
                 "clEnqueueFillBuffer");
}

Status ClStream::copy_from_peer(plugin::Buffer* dst, uint64_t dst_offset, plugin::Device* src_device,
                                plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept {
  BACKPLANE_OPENCL_TRY(device_->can_copy_from(src_device));
  return copy(dst, dst_offset, src, src_offset, bytes);
}

Status ClStream::copy_to_peer(plugin::Device* dst_device, plugin::Buffer* dst, uint64_t dst_offset,
                              plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept {
  BACKPLANE_OPENCL_TRY(device_->can_copy_from(dst_device));
  return copy(dst, dst_offset, src, src_offset, bytes);
}

Status ClStream::marker(EventHandle* event) noexcept {
  BACKPLANE_OPENCL_TRY(device_->checked(cl_status(
      api().clEnqueueMarkerWithWaitList(queue(), 0, nullptr, event->out()), "clEnqueueMarkerWithWaitList")));
  return device_->checked(cl_status(api().clFlush(queue()), "clFlush"));
}

Status ClStream::record(plugin::Event* event) noexcept {
  auto* target = static_cast<ClEvent*>(event);
  if (target->is_host())
    return plugin::make_status(StatusCode::InvalidArgument, 0, "a host event cannot be recorded");
  EventHandle marked;
  BACKPLANE_OPENCL_TRY(marker(&marked));
  target->set(std::move(marked));
  return kOk;
}

Status ClStream::wait(plugin::Event* event) noexcept {
  EventHandle awaited = static_cast<ClEvent*>(event)->get();
  if (!awaited) return kOk;
  bool complete = false;
  BACKPLANE_OPENCL_TRY(event_status(awaited.get(), &complete));
  if (complete) return kOk;
  if (context_of(awaited.get()) != device_->context()) {
    EventHandle here;
    BACKPLANE_OPENCL_TRY(bridge(device_->context(), awaited.get(), &here));
    awaited = std::move(here);
  }
  const cl_event list = awaited.get();
  return checked(api().clEnqueueBarrierWithWaitList(queue(), 1, &list, nullptr),
                 "clEnqueueBarrierWithWaitList");
}

Status ClStream::flush() noexcept { return device_->checked(cl_status(api().clFlush(queue()), "clFlush")); }

Status ClStream::query(bool* idle) noexcept {
  const uint64_t now = queued_.load();
  *idle = now == seen_idle_.load();
  if (*idle) return kOk;
  const std::lock_guard lock(probe_mutex_);
  if (!probe_ || probe_at_ != now) {
    BACKPLANE_OPENCL_TRY(marker(&probe_));
    probe_at_ = now;
  }
  const Status status = event_status(probe_.get(), idle);
  if (*idle) {
    seen_idle_ = probe_at_;
    probe_.reset();
  }
  return status;
}

Status ClStream::synchronize(uint64_t timeout_ns) noexcept {
  const uint64_t now = queued_.load();
  if (timeout_ns == UINT64_MAX) {
    BACKPLANE_OPENCL_TRY(device_->checked(cl_status(api().clFinish(queue()), "clFinish")));
  } else {
    EventHandle marked;
    BACKPLANE_OPENCL_TRY(marker(&marked));
    BACKPLANE_OPENCL_TRY(device_->checked(wait_for(marked.get(), timeout_ns)));
  }
  seen_idle_ = now;
  return kOk;
}

Status ClStream::native_handle(void** handle) noexcept {
  *handle = queue();
  return kOk;
}

}  // namespace backplane::opencl
