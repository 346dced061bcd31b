// SPDX-License-Identifier: Apache-2.0
#include "error.h"

namespace backplane::cuda {
namespace {

struct Row {
  CUresult result;
  StatusCode code;
  bool sticky;
};

// What is not listed is Internal and not sticky.
constexpr Row kRows[] = {
    {CUDA_SUCCESS, StatusCode::Ok, false},
    {CUDA_ERROR_INVALID_VALUE, StatusCode::InvalidArgument, false},
    {CUDA_ERROR_INVALID_DEVICE, StatusCode::InvalidArgument, false},
    {CUDA_ERROR_INVALID_CONTEXT, StatusCode::InvalidArgument, false},
    {CUDA_ERROR_INVALID_HANDLE, StatusCode::InvalidArgument, false},
    {CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, StatusCode::InvalidArgument, false},
    {CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, StatusCode::InvalidArgument, false},
    {CUDA_ERROR_INVALID_PTX, StatusCode::InvalidArgument, false},
    {CUDA_ERROR_INVALID_SOURCE, StatusCode::InvalidArgument, false},
    {CUDA_ERROR_OUT_OF_MEMORY, StatusCode::OutOfMemory, false},
    {CUDA_ERROR_NOT_FOUND, StatusCode::NotFound, false},
    {CUDA_ERROR_FILE_NOT_FOUND, StatusCode::NotFound, false},
    {CUDA_ERROR_NO_DEVICE, StatusCode::NotFound, false},
    {CUDA_ERROR_NOT_SUPPORTED, StatusCode::Unimplemented, false},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, StatusCode::Unimplemented, false},
    {CUDA_ERROR_INVALID_IMAGE, StatusCode::Unimplemented, false},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, StatusCode::Unimplemented, false},
    {CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, StatusCode::Unimplemented, false},
    {CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, StatusCode::Unimplemented, false},
    {CUDA_ERROR_NVLINK_UNCORRECTABLE, StatusCode::DeviceLost, true},
    {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, StatusCode::Unavailable, false},
    {CUDA_ERROR_NOT_INITIALIZED, StatusCode::Unavailable, false},
    {CUDA_ERROR_DEINITIALIZED, StatusCode::Unavailable, false},
    {CUDA_ERROR_NOT_READY, StatusCode::Unavailable, false},
    {CUDA_ERROR_NOT_PERMITTED, StatusCode::Unavailable, false},
    {CUDA_ERROR_OPERATING_SYSTEM, StatusCode::Unavailable, false},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, StatusCode::Unavailable, false},
    {CUDA_ERROR_SYSTEM_NOT_READY, StatusCode::Unavailable, false},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, StatusCode::Unavailable, false},
    {CUDA_ERROR_STUB_LIBRARY, StatusCode::Unavailable, false},
    {CUDA_ERROR_DEVICE_NOT_LICENSED, StatusCode::Unavailable, false},
    {CUDA_ERROR_MPS_CONNECTION_FAILED, StatusCode::Unavailable, false},
    {CUDA_ERROR_MPS_SERVER_NOT_READY, StatusCode::Unavailable, false},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, StatusCode::DeviceLost, true},
    {CUDA_ERROR_ECC_UNCORRECTABLE, StatusCode::DeviceLost, true},
    {CUDA_ERROR_ILLEGAL_ADDRESS, StatusCode::DeviceLost, true},
    {CUDA_ERROR_LAUNCH_TIMEOUT, StatusCode::DeviceLost, true},
    {CUDA_ERROR_ASSERT, StatusCode::DeviceLost, true},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, StatusCode::DeviceLost, true},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, StatusCode::DeviceLost, true},
    {CUDA_ERROR_MISALIGNED_ADDRESS, StatusCode::DeviceLost, true},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, StatusCode::DeviceLost, true},
    {CUDA_ERROR_INVALID_PC, StatusCode::DeviceLost, true},
    {CUDA_ERROR_LAUNCH_FAILED, StatusCode::DeviceLost, true},
    {CUDA_ERROR_EXTERNAL_DEVICE, StatusCode::DeviceLost, true},
    {CUDA_ERROR_CONTAINED, StatusCode::DeviceLost, true},
    {CUDA_ERROR_TENSOR_MEMORY_LEAK, StatusCode::DeviceLost, true},
};

Row row_of(CUresult result) noexcept {
  for (const Row& row : kRows)
    if (row.result == result) return row;
  return {result, StatusCode::Internal, false};
}

struct Reason {
  CUresult result;
  const char* text;
};

constexpr Reason kInitialisationReasons[] = {
    {CUDA_ERROR_STUB_LIBRARY,
     "the libcuda.so.1 found is the toolkit's stub, not a driver: take the toolkit's stubs folder out of "
     "LD_LIBRARY_PATH, or install the NVIDIA driver"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
     "the NVIDIA kernel module and libcuda.so.1 are of different versions: reboot, or reload the module"},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
     "the forward-compatibility libcuda.so.1 does not support this card: take it out of LD_LIBRARY_PATH"},
    {CUDA_ERROR_OPERATING_SYSTEM,
     "the driver could not open its device files: check that /dev/nvidia* exist and that this user may read "
     "and "
     "write them (in a container: that it was started with GPU access)"},
    {CUDA_ERROR_NOT_PERMITTED,
     "insufficient permission: check that this user may read and write /dev/nvidia*"},
    {CUDA_ERROR_SYSTEM_NOT_READY,
     "the system is not ready for CUDA: check that the services of this machine (nvidia-fabricmanager) run"},
    {CUDA_ERROR_UNKNOWN,
     "the driver failed to start: check that its kernel modules are loaded (nvidia-smi, dmesg)"},
};

}  // namespace

bool is_sticky(CUresult result) noexcept { return row_of(result).sticky; }

Status status_of(CUresult result, const char* call, const char* detail) noexcept {
  if (result == CUDA_SUCCESS) return kOk;
  const char* name = nullptr;
  const char* text = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr)
    name = "a code unknown to this driver";
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) text = "no description";
  return make_status(row_of(result).code, static_cast<int32_t>(result), "%s: %s (%d): %s%s%s", call, name,
                     static_cast<int>(result), text, detail == nullptr ? "" : "; ",
                     detail == nullptr ? "" : detail);
}

Status initialisation_failure(CUresult result) noexcept {
  for (const Reason& reason : kInitialisationReasons)
    if (reason.result == result) {
      const Status status = status_of(result, "cuInit", reason.text);
      return {StatusCode::Unavailable, status.vendor_code, status.message};
    }
  return status_of(result, "cuInit");
}

}  // namespace backplane::cuda
