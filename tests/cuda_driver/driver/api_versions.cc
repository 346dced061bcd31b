// SPDX-License-Identifier: Apache-2.0
// Older names of entry points, and cuGetProcAddress. cuda.h is not included: its macros rename what is
// defined here.
#include <dlfcn.h>

#include <cstdint>
#include <string>

#define CUDA_DOUBLE_API extern "C" __attribute__((visibility("default")))

extern "C" {
int cuCtxCreate_v4(void**, void*, unsigned, int);
int cuda_double_create_context(void**, unsigned, int);
int cuDevicePrimaryCtxRelease_v2(int);
int cuDevicePrimaryCtxReset_v2(int);
int cuDevicePrimaryCtxSetFlags_v2(int, unsigned);
int cuDeviceGetUuid_v2(void*, int);
int cuEventElapsedTime_v2(float*, void*, void*);
}

CUDA_DOUBLE_API int cuCtxCreate_v2(void** context, unsigned flags, int device) {
  return cuda_double_create_context(context, flags, device);
}
CUDA_DOUBLE_API int cuDevicePrimaryCtxRelease(int device) { return cuDevicePrimaryCtxRelease_v2(device); }
CUDA_DOUBLE_API int cuDevicePrimaryCtxReset(int device) { return cuDevicePrimaryCtxReset_v2(device); }
CUDA_DOUBLE_API int cuDevicePrimaryCtxSetFlags(int device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}
CUDA_DOUBLE_API int cuDeviceGetUuid(void* uuid, int device) { return cuDeviceGetUuid_v2(uuid, device); }
CUDA_DOUBLE_API int cuEventElapsedTime(float* milliseconds, void* start, void* end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

namespace {

void* self() {
  static void* handle = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&cuCtxCreate_v2), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return handle;
}

}  // namespace

// The newest version of `symbol`, except where its signature changed after `cuda_version`.
CUDA_DOUBLE_API int cuGetProcAddress_v2(const char* symbol, void** function, int cuda_version, uint64_t,
                                        int* status) {
  constexpr int kInvalidValue = 1, kNotFound = 500;
  if (symbol == nullptr || function == nullptr) return kInvalidValue;
  *function = nullptr;
  const std::string name = symbol;
  for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
    if (name == "cuCtxCreate" && cuda_version < 13000 && std::string(suffix) == "_v4") continue;
    *function = dlsym(self(), (name + suffix).c_str());
    if (*function != nullptr) break;
  }
  if (status != nullptr)
    *status = *function == nullptr ? 1 : 0;  // CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, or _SUCCESS
  return *function == nullptr ? kNotFound : 0;
}

CUDA_DOUBLE_API int cuGetProcAddress(const char* symbol, void** function, int cuda_version, uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, cuda_version, flags, nullptr);
}
