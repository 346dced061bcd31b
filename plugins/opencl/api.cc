// SPDX-License-Identifier: Apache-2.0
#include "opencl/api.h"

#include <dlfcn.h>

namespace backplane::opencl {

namespace {

// Trivially destructible: late calls from static destructors still work.
Api loaded_api;

constexpr char kRemedy[] =
    "install the OpenCL ICD loader (Debian, Ubuntu: ocl-icd-libopencl1; Fedora: ocl-icd)";

struct ErrorRow {
  cl_int code;
  StatusCode status;
  const char* name;
};

#define ROW(code, status) \
  { code, StatusCode::status, #code }
constexpr ErrorRow kErrors[] = {
    ROW(CL_DEVICE_NOT_FOUND, NotFound),
    ROW(CL_DEVICE_NOT_AVAILABLE, DeviceLost),
    ROW(CL_COMPILER_NOT_AVAILABLE, Unavailable),
    ROW(CL_MEM_OBJECT_ALLOCATION_FAILURE, OutOfMemory),
    ROW(CL_OUT_OF_RESOURCES, OutOfMemory),
    ROW(CL_OUT_OF_HOST_MEMORY, OutOfMemory),
    ROW(CL_PROFILING_INFO_NOT_AVAILABLE, Unavailable),
    ROW(CL_MEM_COPY_OVERLAP, InvalidArgument),
    ROW(CL_BUILD_PROGRAM_FAILURE, Internal),
    ROW(CL_MAP_FAILURE, Internal),
    ROW(CL_MISALIGNED_SUB_BUFFER_OFFSET, InvalidArgument),
    ROW(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, Internal),
    ROW(CL_DEVICE_PARTITION_FAILED, InvalidArgument),
    ROW(CL_INVALID_VALUE, InvalidArgument),
    ROW(CL_INVALID_PLATFORM, InvalidArgument),
    ROW(CL_INVALID_DEVICE, InvalidArgument),
    ROW(CL_INVALID_CONTEXT, InvalidArgument),
    ROW(CL_INVALID_QUEUE_PROPERTIES, InvalidArgument),
    ROW(CL_INVALID_COMMAND_QUEUE, InvalidArgument),
    ROW(CL_INVALID_HOST_PTR, InvalidArgument),
    ROW(CL_INVALID_MEM_OBJECT, InvalidArgument),
    ROW(CL_INVALID_BINARY, InvalidArgument),
    ROW(CL_INVALID_BUILD_OPTIONS, InvalidArgument),
    ROW(CL_INVALID_PROGRAM, Internal),
    ROW(CL_INVALID_PROGRAM_EXECUTABLE, Internal),
    ROW(CL_INVALID_KERNEL_NAME, NotFound),
    ROW(CL_INVALID_KERNEL_DEFINITION, InvalidArgument),
    ROW(CL_INVALID_KERNEL, Internal),
    ROW(CL_INVALID_ARG_INDEX, InvalidArgument),
    ROW(CL_INVALID_ARG_VALUE, InvalidArgument),
    ROW(CL_INVALID_ARG_SIZE, InvalidArgument),
    ROW(CL_INVALID_KERNEL_ARGS, InvalidArgument),
    ROW(CL_INVALID_WORK_DIMENSION, InvalidArgument),
    ROW(CL_INVALID_WORK_GROUP_SIZE, InvalidArgument),
    ROW(CL_INVALID_WORK_ITEM_SIZE, InvalidArgument),
    ROW(CL_INVALID_GLOBAL_OFFSET, InvalidArgument),
    ROW(CL_INVALID_EVENT_WAIT_LIST, InvalidArgument),
    ROW(CL_INVALID_EVENT, InvalidArgument),
    ROW(CL_INVALID_OPERATION, InvalidArgument),
    ROW(CL_INVALID_BUFFER_SIZE, OutOfMemory),
    ROW(CL_INVALID_GLOBAL_WORK_SIZE, InvalidArgument),
    ROW(CL_INVALID_PROPERTY, InvalidArgument),
    ROW(CL_PLATFORM_NOT_FOUND_KHR, NotFound),
};
#undef ROW

const ErrorRow* find_error(cl_int code) noexcept {
  for (const ErrorRow& row : kErrors)
    if (row.code == code) return &row;
  return nullptr;
}

template <typename Function>
bool find_symbol(void* library, const char* name, Function* function) noexcept {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

const Api& api() noexcept { return loaded_api; }

Status load_api() noexcept {
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return plugin::make_status(StatusCode::Unavailable, 0, "libOpenCL.so.1 could not be loaded (%s): %s",
                               reason == nullptr ? "no reason given" : reason, kRemedy);
  }
  Api found{};
#define BACKPLANE_OPENCL_FIND(name)                                                                   \
  if (!find_symbol(library, #name, &found.name))                                                      \
    return plugin::make_status(StatusCode::Unavailable, 0,                                            \
                               "libOpenCL.so.1 has no " #name ", so it is older than OpenCL 1.2: %s", \
                               kRemedy);
  BACKPLANE_OPENCL_REQUIRED(BACKPLANE_OPENCL_FIND)
#undef BACKPLANE_OPENCL_FIND
#define BACKPLANE_OPENCL_FIND(name) find_symbol(library, #name, &found.name);
  BACKPLANE_OPENCL_OPTIONAL(BACKPLANE_OPENCL_FIND)
#undef BACKPLANE_OPENCL_FIND
  loaded_api = found;
  return kOk;
}

const char* error_name(cl_int code) noexcept {
  const ErrorRow* row = find_error(code);
  return row == nullptr ? "an error without a name" : row->name;
}

Status cl_status(cl_int code, const char* call) noexcept {
  if (code == CL_SUCCESS) return kOk;
  const ErrorRow* row = find_error(code);
  return plugin::make_status(row == nullptr ? StatusCode::Internal : row->status, code, "%s: %s (%d)", call,
                             error_name(code), code);
}

}  // namespace backplane::opencl
