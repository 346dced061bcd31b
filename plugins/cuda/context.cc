// SPDX-License-Identifier: Apache-2.0
#include "context.h"

#include <pthread.h>

namespace backplane::cuda {
namespace {

std::atomic<bool> in_child{false};

}  // namespace

void watch_for_fork() noexcept {
  pthread_atfork(nullptr, nullptr, [] { in_child.store(true, std::memory_order_relaxed); });
}

bool forked() noexcept { return in_child.load(std::memory_order_relaxed); }

Status Context::open_primary(CUdevice device, std::shared_ptr<Context>* context) {
  CUcontext handle = nullptr;
  BACKPLANE_TRY(status_of(cuDevicePrimaryCtxRetain(&handle, device), "cuDevicePrimaryCtxRetain"));
  context->reset(new Context(handle, device, true));
  return kOk;
}

Status Context::adopt(CUcontext handle, std::shared_ptr<Context>* context) {
  CUdevice device = 0;
  BACKPLANE_TRY(status_of(cuCtxPushCurrent(handle), "cuCtxPushCurrent"));
  const Status status = status_of(cuCtxGetDevice(&device), "cuCtxGetDevice");
  CUcontext popped = nullptr;
  cuCtxPopCurrent(&popped);
  BACKPLANE_TRY(status);
  context->reset(new Context(handle, device, false));
  return kOk;
}

Context::~Context() {
  free_put_off();
  if (primary_ && !forked()) cuDevicePrimaryCtxRelease(device_);
}

Status Context::check(CUresult result, const char* call) noexcept {
  if (result == CUDA_SUCCESS) return kOk;
  const Status status = status_of(result, call);
  if (is_sticky(result)) {
    const std::lock_guard lock(mutex_);
    if (!lost_.load(std::memory_order_relaxed)) {
      failure_ = status.message;
      lost_.store(true, std::memory_order_release);
    }
  }
  return status;
}

Status Context::usable() const noexcept {
  if (forked())
    return make_status(StatusCode::Unavailable, 0,
                       "CUDA was initialised before fork: a child process cannot use it");
  if (lost_.load(std::memory_order_acquire))
    return make_status(StatusCode::DeviceLost, 0, "the device is lost since: %s", failure_.c_str());
  return kOk;
}

void Context::free_device_memory(CUdeviceptr address) noexcept {
  if (open_gates_.load() > 0) {
    const std::lock_guard lock(mutex_);
    put_off_.push_back(address);
    return;
  }
  free_put_off();
  const ContextScope scope(*this);
  if (scope.status().ok()) check(cuMemFree(address), "cuMemFree");
}

void Context::free_put_off() noexcept {
  if (open_gates_.load() > 0) return;
  std::vector<CUdeviceptr> addresses;
  {
    const std::lock_guard lock(mutex_);
    addresses.swap(put_off_);
  }
  if (addresses.empty()) return;
  const ContextScope scope(*this);
  if (!scope.status().ok()) return;
  for (const CUdeviceptr address : addresses) check(cuMemFree(address), "cuMemFree");
}

ContextScope::ContextScope(const Context& context) noexcept : status_(context.usable()) {
  if (!status_.ok()) return;
  CUcontext current = nullptr;
  if (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context.handle()) return;
  status_ = status_of(cuCtxPushCurrent(context.handle()), "cuCtxPushCurrent");
  pushed_ = status_.ok();
}

ContextScope::~ContextScope() {
  CUcontext popped = nullptr;
  if (pushed_) cuCtxPopCurrent(&popped);
}

}  // namespace backplane::cuda
