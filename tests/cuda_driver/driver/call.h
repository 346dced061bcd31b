// SPDX-License-Identifier: Apache-2.0
// What every entry point does: count the call, inject faults, check the state of driver, process and context,
// and turn exceptions into codes.
#pragma once

#include <cuda.h>

#include <exception>
#include <new>
#include <string>

#include "driver/report.h"
#include "driver/state.h"

#define CUDA_DOUBLE_API extern "C" __attribute__((visibility("default")))

namespace cuda_double {

// CUDA_SUCCESS, or the code of the fault that a test has asked for.
CUresult before_call(const char* function, bool needs_init);

struct ApiError {
  CUresult code;
};

// Ends the call with `code`, and reports the misuse.
[[noreturn]] void misuse(CUresult code, const std::string& what);

template <class Body>
CUresult guarded(const char* function, bool needs_init, Body body) {
  if (const CUresult injected = before_call(function, needs_init); injected != CUDA_SUCCESS) return injected;
  try {
    return body();
  } catch (const ApiError& error) {
    return error.code;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    report(std::string(function) + ": " + error.what());
    return CUDA_ERROR_UNKNOWN;
  }
}

template <class Body>
CUresult call(const char* function, Body body) {
  return guarded(function, true, body);
}

// For calls that need a healthy current context; `body` gets it.
template <class Body>
CUresult call_in_context(const char* function, Body body) {
  return guarded(function, true, [&]() -> CUresult {
    if (context_stack().empty()) return CUDA_ERROR_INVALID_CONTEXT;
    const auto context = current_context();
    if (context == nullptr)
      misuse(CUDA_ERROR_CONTEXT_IS_DESTROYED, std::string(function) + " in a destroyed context");
    if (context->failure != 0) return static_cast<CUresult>(context->failure.load());
    return body(*context);
  });
}

// The same for calls that wait for the device: they also tell what failed while they waited. The others leave
// that to the next call, so that it does not depend on timing which call tells.
template <class Body>
CUresult call_and_wait(const char* function, Body body) {
  return call_in_context(function, [&](Context& context) -> CUresult {
    const CUresult result = body(context);
    return context.failure != 0 ? static_cast<CUresult>(context.failure.load()) : result;
  });
}

Device& device_of(CUdevice device);
std::shared_ptr<Stream> stream_of(CUstream handle, Context& context, const char* function);
std::shared_ptr<Event> event_of(CUevent handle, const char* function);

}  // namespace cuda_double
