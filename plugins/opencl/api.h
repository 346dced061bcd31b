// SPDX-License-Identifier: Apache-2.0
//
// The OpenCL entry points, found at run time in the ICD loader, so that a machine without one hears which
// package to install.
#ifndef BACKPLANE_PLUGINS_OPENCL_API_H_
#define BACKPLANE_PLUGINS_OPENCL_API_H_

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include "backplane/plugin/base.h"

namespace backplane::opencl {

using plugin::kOk;
using plugin::Status;
using plugin::StatusCode;

// In every loader since OpenCL 1.2.
#define BACKPLANE_OPENCL_REQUIRED(X) \
  X(clGetPlatformIDs)                \
  X(clGetPlatformInfo)               \
  X(clGetDeviceIDs)                  \
  X(clGetDeviceInfo)                 \
  X(clCreateSubDevices)              \
  X(clRetainDevice)                  \
  X(clReleaseDevice)                 \
  X(clCreateContext)                 \
  X(clRetainContext)                 \
  X(clReleaseContext)                \
  X(clGetContextInfo)                \
  X(clCreateCommandQueue)            \
  X(clRetainCommandQueue)            \
  X(clReleaseCommandQueue)           \
  X(clGetCommandQueueInfo)           \
  X(clCreateBuffer)                  \
  X(clCreateSubBuffer)               \
  X(clRetainMemObject)               \
  X(clReleaseMemObject)              \
  X(clGetMemObjectInfo)              \
  X(clCreateProgramWithSource)       \
  X(clCreateProgramWithBinary)       \
  X(clRetainProgram)                 \
  X(clReleaseProgram)                \
  X(clBuildProgram)                  \
  X(clGetProgramInfo)                \
  X(clGetProgramBuildInfo)           \
  X(clCreateKernel)                  \
  X(clReleaseKernel)                 \
  X(clSetKernelArg)                  \
  X(clGetKernelInfo)                 \
  X(clGetKernelWorkGroupInfo)        \
  X(clWaitForEvents)                 \
  X(clGetEventInfo)                  \
  X(clCreateUserEvent)               \
  X(clRetainEvent)                   \
  X(clReleaseEvent)                  \
  X(clSetUserEventStatus)            \
  X(clSetEventCallback)              \
  X(clFlush)                         \
  X(clFinish)                        \
  X(clEnqueueReadBuffer)             \
  X(clEnqueueWriteBuffer)            \
  X(clEnqueueFillBuffer)             \
  X(clEnqueueCopyBuffer)             \
  X(clEnqueueMapBuffer)              \
  X(clEnqueueUnmapMemObject)         \
  X(clEnqueueNDRangeKernel)          \
  X(clEnqueueMarkerWithWaitList)     \
  X(clEnqueueBarrierWithWaitList)

// Since OpenCL 2.0; null in an older loader.
#define BACKPLANE_OPENCL_OPTIONAL(X) X(clCreateCommandQueueWithProperties)

struct Api {
#define BACKPLANE_OPENCL_MEMBER(name) decltype(&::name) name;
  BACKPLANE_OPENCL_REQUIRED(BACKPLANE_OPENCL_MEMBER)
  BACKPLANE_OPENCL_OPTIONAL(BACKPLANE_OPENCL_MEMBER)
#undef BACKPLANE_OPENCL_MEMBER
};

// Loads the ICD loader; Unavailable, with what to install, where there is none. Call once, before api().
Status load_api() noexcept;
const Api& api() noexcept;

// Ok for CL_SUCCESS; else what went wrong in which call, with OpenCL's number. The only place that maps
// vendor codes.
Status cl_status(cl_int code, const char* call) noexcept;
const char* error_name(cl_int code) noexcept;

// An OpenCL object, released when this goes.
template <typename Traits>
class Handle {
 public:
  using Type = typename Traits::Type;
  Handle() = default;
  explicit Handle(Type value) noexcept : value_(value) {}
  Handle(Handle&& other) noexcept : value_(other.value_) { other.value_ = nullptr; }
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      value_ = other.value_;
      other.value_ = nullptr;
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { reset(); }

  // Shares an object that somebody else owns too.
  static Handle retained(Type value) noexcept {
    if (value != nullptr) Traits::retain(value);
    return Handle(value);
  }
  void reset() noexcept {
    if (value_ != nullptr) Traits::release(value_);
    value_ = nullptr;
  }
  Type get() const noexcept { return value_; }
  // For calls that make an object; whatever was held goes first.
  Type* out() noexcept {
    reset();
    return &value_;
  }
  explicit operator bool() const noexcept { return value_ != nullptr; }

 private:
  Type value_ = nullptr;
};

#define BACKPLANE_OPENCL_HANDLE(Name, type, retain_call, release_call)      \
  struct Name##Traits {                                                     \
    using Type = type;                                                      \
    static void retain(type value) noexcept { api().retain_call(value); }   \
    static void release(type value) noexcept { api().release_call(value); } \
  };                                                                        \
  using Name = Handle<Name##Traits>;
BACKPLANE_OPENCL_HANDLE(DeviceHandle, cl_device_id, clRetainDevice, clReleaseDevice)
BACKPLANE_OPENCL_HANDLE(ContextHandle, cl_context, clRetainContext, clReleaseContext)
BACKPLANE_OPENCL_HANDLE(QueueHandle, cl_command_queue, clRetainCommandQueue, clReleaseCommandQueue)
BACKPLANE_OPENCL_HANDLE(MemoryHandle, cl_mem, clRetainMemObject, clReleaseMemObject)
BACKPLANE_OPENCL_HANDLE(EventHandle, cl_event, clRetainEvent, clReleaseEvent)
#undef BACKPLANE_OPENCL_HANDLE

struct ProgramTraits {
  using Type = cl_program;
  static void retain(cl_program value) noexcept { api().clRetainProgram(value); }
  static void release(cl_program value) noexcept { api().clReleaseProgram(value); }
};
using ProgramHandle = Handle<ProgramTraits>;
struct KernelTraits {
  using Type = cl_kernel;
  static void release(cl_kernel value) noexcept { api().clReleaseKernel(value); }
};
using KernelHandle = Handle<KernelTraits>;

}  // namespace backplane::opencl

// Leaves the function with the status of `expression` unless that is Ok.
#define BACKPLANE_OPENCL_TRY(expression)                         \
  do {                                                           \
    const ::backplane::plugin::Status try_status = (expression); \
    if (!try_status.ok()) return try_status;                     \
  } while (false)

#endif  // BACKPLANE_PLUGINS_OPENCL_API_H_
