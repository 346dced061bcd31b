// SPDX-License-Identifier: Apache-2.0
#include "driver/call.h"

#include <unistd.h>

namespace cuda_double {
namespace {

// "cuMemAlloc" matches cuMemAlloc_v2.
bool names(const std::string& rule, const std::string& function) {
  if (rule == function) return true;
  return function.size() > rule.size() + 2 && function.compare(0, rule.size() + 2, rule + "_v") == 0;
}

CUresult injected_fault(const std::string& function) {
  Driver& state = driver();
  const std::lock_guard lock(state.mutex);
  const uint64_t count = ++state.calls[function];
  for (const FaultRule& rule : state.config.faults) {
    if (!names(rule.function, function) || (rule.call != 0 && rule.call != count)) continue;
    if (rule.sticky) {
      if (const auto context = current_context()) context->fail(rule.code);
    }
    return static_cast<CUresult>(rule.code);
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult before_call(const char* function, bool needs_init) {
  if (deinitialized) return CUDA_ERROR_DEINITIALIZED;
  if (!needs_init) return CUDA_SUCCESS;
  if (!initialized() || driver().process != static_cast<int>(getpid())) return CUDA_ERROR_NOT_INITIALIZED;
  if (on_stream_thread()) {
    report(std::string(function) + " called from a host function, where no call of the driver is allowed");
    return CUDA_ERROR_NOT_PERMITTED;
  }
  return injected_fault(function);
}

void misuse(CUresult code, const std::string& what) {
  report(what);
  throw ApiError{code};
}

Device& device_of(CUdevice device) {
  auto& devices = driver().devices;
  if (device < 0 || device >= static_cast<int>(devices.size())) throw ApiError{CUDA_ERROR_INVALID_DEVICE};
  return *devices[static_cast<size_t>(device)];
}

std::shared_ptr<Stream> stream_of(CUstream handle, Context& context, const char* function) {
  auto stream = find_stream(handle, context);
  if (stream == nullptr) {
    const bool destroyed = driver().streams.was_live(handle);
    misuse(CUDA_ERROR_INVALID_HANDLE,
           std::string(function) + ": " + (destroyed ? "a destroyed stream" : "no stream"));
  }
  return stream;
}

std::shared_ptr<Event> event_of(CUevent handle, const char* function) {
  auto event = driver().events.find(handle);
  if (event == nullptr) {
    const bool destroyed = driver().events.was_live(handle);
    misuse(CUDA_ERROR_INVALID_HANDLE,
           std::string(function) + ": " + (destroyed ? "a destroyed event" : "no event"));
  }
  return event;
}

}  // namespace cuda_double
