// SPDX-License-Identifier: Apache-2.0
// Contexts, primary and made, and peer access.
#include <algorithm>

#include "driver/call.h"

using namespace cuda_double;

namespace {

CUcontext handle_of(const std::shared_ptr<Context>& context) {
  return context == nullptr ? nullptr : as_handle<CUcontext>(context->handle);
}

std::shared_ptr<Context> context_of(CUcontext handle, const char* function) {
  auto context = driver().contexts.find(handle);
  if (context == nullptr) {
    const bool destroyed = driver().contexts.was_live(handle);
    misuse(destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT,
           std::string(function) + ": " + (destroyed ? "a destroyed context" : "no context"));
  }
  return context;
}

void release_primary(Device& device) {
  destroy_context(device.primary);
  device.primary = nullptr;
  device.retained = 0;
}

}  // namespace

CUDA_DOUBLE_API CUresult cuDevicePrimaryCtxRetain(CUcontext* result, CUdevice ordinal) {
  return call(__func__, [&] {
    Device& device = device_of(ordinal);
    const std::lock_guard lock(device.mutex);
    if (device.primary == nullptr) {
      device.primary = make_context(device, device.primary_flags);
      device.primary->is_primary = true;
    }
    ++device.retained;
    return *result = handle_of(device.primary), CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal) {
  return call(__func__, [&] {
    Device& device = device_of(ordinal);
    const std::lock_guard lock(device.mutex);
    if (device.retained == 0)
      misuse(CUDA_ERROR_INVALID_CONTEXT, "cuDevicePrimaryCtxRelease without a retain");
    if (--device.retained == 0) release_primary(device);
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuDevicePrimaryCtxReset(CUdevice ordinal) {
  return call(__func__, [&] {
    Device& device = device_of(ordinal);
    const std::lock_guard lock(device.mutex);
    if (device.primary != nullptr) release_primary(device);
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned int flags) {
  return call(__func__, [&] {
    Device& device = device_of(ordinal);
    const std::lock_guard lock(device.mutex);
    return device.primary_flags = flags, CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned int* flags, int* active) {
  return call(__func__, [&] {
    Device& device = device_of(ordinal);
    const std::lock_guard lock(device.mutex);
    *flags = device.primary_flags;
    *active = device.primary != nullptr ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

extern "C" {
CUresult cuda_double_create_context(CUcontext* result, unsigned int flags, CUdevice ordinal) {
  return call("cuCtxCreate", [&] {
    const auto context = make_context(device_of(ordinal), flags);
    context_stack().push_back(context->handle);
    return *result = handle_of(context), CUDA_SUCCESS;
  });
}
}

CUDA_DOUBLE_API CUresult cuCtxCreate(CUcontext* result, CUctxCreateParams*, unsigned int flags,
                                     CUdevice ordinal) {
  return cuda_double_create_context(result, flags, ordinal);
}

CUDA_DOUBLE_API CUresult cuCtxDestroy(CUcontext handle) {
  return call(__func__, [&] {
    const auto context = context_of(handle, "cuCtxDestroy");
    if (context->is_primary) misuse(CUDA_ERROR_INVALID_CONTEXT, "cuCtxDestroy of a primary context");
    if (!context_stack().empty() && context_stack().back() == context->handle) context_stack().pop_back();
    destroy_context(context);
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuCtxSetCurrent(CUcontext handle) {
  return call(__func__, [&] {
    auto& stack = context_stack();
    if (handle == nullptr) {
      if (!stack.empty()) stack.pop_back();
      return CUDA_SUCCESS;
    }
    const auto context = context_of(handle, "cuCtxSetCurrent");
    if (stack.empty())
      stack.push_back(context->handle);
    else
      stack.back() = context->handle;
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuCtxGetCurrent(CUcontext* result) {
  return call(__func__, [&] {
    *result = context_stack().empty() ? nullptr : as_handle<CUcontext>(context_stack().back());
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuCtxPushCurrent(CUcontext handle) {
  return call(__func__, [&] {
    return context_stack().push_back(context_of(handle, "cuCtxPushCurrent")->handle), CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuCtxPopCurrent(CUcontext* result) {
  return call(__func__, [&] {
    auto& stack = context_stack();
    if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (result != nullptr) *result = as_handle<CUcontext>(stack.back());
    stack.pop_back();
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuCtxGetDevice(CUdevice* device) {
  return call_in_context(__func__,
                         [&](Context& context) { return *device = context.device->ordinal, CUDA_SUCCESS; });
}

CUDA_DOUBLE_API CUresult cuCtxGetFlags(unsigned int* flags) {
  return call_in_context(__func__, [&](Context& context) { return *flags = context.flags, CUDA_SUCCESS; });
}

CUDA_DOUBLE_API CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return call(__func__, [&] {
    if (handle == nullptr && context_stack().empty()) return CUDA_ERROR_INVALID_CONTEXT;
    *id = handle == nullptr ? context_stack().back() : context_of(handle, "cuCtxGetId")->handle;
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuCtxGetApiVersion(CUcontext, unsigned int* version) {
  return call(__func__, [&] { return *version = 3020, CUDA_SUCCESS; });
}

CUDA_DOUBLE_API CUresult cuCtxSynchronize() {
  return call_and_wait(__func__, [](Context& context) { return synchronize(context), CUDA_SUCCESS; });
}

CUDA_DOUBLE_API CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return call_in_context(__func__, [&](Context&) { return *least = 0, *greatest = -5, CUDA_SUCCESS; });
}

CUDA_DOUBLE_API CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return call_in_context(__func__, [&](Context& context) {
    const std::lock_guard lock(context.mutex);
    return context.limits[limit] = value, CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return call_in_context(__func__, [&](Context& context) {
    const std::lock_guard lock(context.mutex);
    const auto found = context.limits.find(limit);
    return *value = found == context.limits.end() ? 1024 : found->second, CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return call_in_context(__func__,
                         [&](Context&) { return *config = CU_FUNC_CACHE_PREFER_NONE, CUDA_SUCCESS; });
}

CUDA_DOUBLE_API CUresult cuCtxSetCacheConfig(CUfunc_cache) {
  return call_in_context(__func__, [](Context&) { return CUDA_SUCCESS; });
}

CUDA_DOUBLE_API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
  return call_in_context(__func__, [&](Context& context) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const auto other = context_of(peer, "cuCtxEnablePeerAccess");
    const int from = context.device->ordinal, to = other->device->ordinal;
    if (from == to) return CUDA_ERROR_INVALID_DEVICE;
    if (!can_access(from, to)) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    const std::lock_guard lock(context.mutex);
    return context.peers.insert(to).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  });
}

CUDA_DOUBLE_API CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return call_in_context(__func__, [&](Context& context) {
    const auto other = context_of(peer, "cuCtxDisablePeerAccess");
    const std::lock_guard lock(context.mutex);
    return context.peers.erase(other->device->ordinal) != 0 ? CUDA_SUCCESS
                                                            : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  });
}
