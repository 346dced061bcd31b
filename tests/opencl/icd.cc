// SPDX-License-Identifier: Apache-2.0
//
// An OpenCL driver for tests, with one platform, broken as BACKPLANE_TEST_ICD says when this is compiled:
//   1  its list of devices is an error
//   2  it has one device, which refuses every query and then to make a context
#include <CL/cl_icd.h>

#include <cstring>

namespace {

struct Object {
  const cl_icd_dispatch* dispatch;
};

cl_icd_dispatch table;
Object platform_object{&table};
Object device_object{&table};
const auto kPlatform = reinterpret_cast<cl_platform_id>(&platform_object);
const auto kDevice = reinterpret_cast<cl_device_id>(&device_object);

cl_int give_text(const char* text, size_t size, void* value, size_t* written) {
  const size_t length = std::strlen(text) + 1;
  if (value != nullptr && size < length) return CL_INVALID_VALUE;
  if (value != nullptr) std::memcpy(value, text, length);
  if (written != nullptr) *written = length;
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_platform_info(cl_platform_id, cl_platform_info what, size_t size, void* value,
                                     size_t* written) {
  switch (what) {
    case CL_PLATFORM_NAME:
      return give_text("Broken Platform", size, value, written);
    case CL_PLATFORM_VERSION:
      return give_text("OpenCL 1.2 broken", size, value, written);
    case CL_PLATFORM_PROFILE:
      return give_text("FULL_PROFILE", size, value, written);
    case CL_PLATFORM_EXTENSIONS:
      return give_text("cl_khr_icd", size, value, written);
    case 0x0920 /* CL_PLATFORM_ICD_SUFFIX_KHR */:
      return give_text("BPTEST", size, value, written);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL get_device_ids(cl_platform_id, cl_device_type, cl_uint entries, cl_device_id* devices,
                                  cl_uint* count) {
#if BACKPLANE_TEST_ICD == 1
  (void)entries, (void)devices, (void)count, (void)kDevice;
  return CL_OUT_OF_RESOURCES;
#else
  if (devices != nullptr && entries > 0) devices[0] = kDevice;
  if (count != nullptr) *count = 1;
  return CL_SUCCESS;
#endif
}

cl_int CL_API_CALL get_device_info(cl_device_id, cl_device_info, size_t, void*, size_t*) {
  return CL_OUT_OF_RESOURCES;
}
cl_int CL_API_CALL keep_device(cl_device_id) { return CL_SUCCESS; }
cl_context CL_API_CALL create_context(const cl_context_properties*, cl_uint, const cl_device_id*,
                                      void(CL_CALLBACK*)(const char*, const void*, size_t, void*), void*,
                                      cl_int* code) {
  if (code != nullptr) *code = CL_DEVICE_NOT_AVAILABLE;
  return nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL
clIcdGetPlatformIDsKHR(cl_uint entries, cl_platform_id* platforms, cl_uint* count) {
  table.clGetPlatformInfo = get_platform_info;
  table.clGetDeviceIDs = get_device_ids;
  table.clGetDeviceInfo = get_device_info;
  table.clRetainDevice = keep_device;
  table.clReleaseDevice = keep_device;
  table.clCreateContext = create_context;
  if (platforms != nullptr && entries > 0) platforms[0] = kPlatform;
  if (count != nullptr) *count = 1;
  return CL_SUCCESS;
}

extern "C" __attribute__((visibility("default"))) void* CL_API_CALL
clGetExtensionFunctionAddress(const char* name) {
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
    return reinterpret_cast<void*>(&clIcdGetPlatformIDsKHR);
  if (std::strcmp(name, "clGetPlatformInfo") == 0) return reinterpret_cast<void*>(&get_platform_info);
  return nullptr;
}
