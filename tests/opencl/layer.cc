// SPDX-License-Identifier: Apache-2.0
//
// A layer for the OpenCL loader (OPENCL_LAYERS) that stands between the plugin and a real driver and makes
// its device look like another. BACKPLANE_TEST_LAYER is a comma-separated list of
//   gpu           the device says that it is a GPU
//   discrete      it shares no memory with the host
//   no_float64    it has none
//   no_divide     float32 division and square root are not correctly rounded
//   parameters=N  kernels take N bytes of parameters
//   refuse=N      clGetDeviceInfo refuses query N (0x1234 or decimal)
//   lost          clFinish says that the device is gone
#include <CL/cl_layer.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

const cl_icd_dispatch* target;
cl_icd_dispatch layer;

// The value after `word` (1 if it has none), or -1 where the list does not have it.
long setting(const char* word) {
  const char* list = std::getenv("BACKPLANE_TEST_LAYER");
  const size_t length = std::strlen(word);
  for (const char* at = list; at != nullptr && *at != '\0';) {
    if (std::strncmp(at, word, length) == 0 && (at[length] == '\0' || at[length] == ',')) return 1;
    if (std::strncmp(at, word, length) == 0 && at[length] == '=')
      return std::strtol(at + length + 1, nullptr, 0);
    const char* comma = std::strchr(at, ',');
    at = comma == nullptr ? nullptr : comma + 1;
  }
  return -1;
}

template <typename T>
void change(cl_int code, void* value, T (*how)(T)) {
  if (code != CL_SUCCESS || value == nullptr) return;
  T number;
  std::memcpy(&number, value, sizeof number);
  number = how(number);
  std::memcpy(value, &number, sizeof number);
}

cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info what, size_t size, void* value,
                                   size_t* written) {
  if (setting("refuse") == static_cast<long>(what)) return CL_INVALID_VALUE;
  const cl_int code = target->clGetDeviceInfo(device, what, size, value, written);
  if (what == CL_DEVICE_TYPE && setting("gpu") == 1)
    change<cl_device_type>(code, value, [](cl_device_type) { return cl_device_type{CL_DEVICE_TYPE_GPU}; });
  if (what == CL_DEVICE_HOST_UNIFIED_MEMORY && setting("discrete") == 1)
    change<cl_bool>(code, value, [](cl_bool) { return cl_bool{CL_FALSE}; });
  if (what == CL_DEVICE_DOUBLE_FP_CONFIG && setting("no_float64") == 1)
    change<cl_device_fp_config>(code, value, [](cl_device_fp_config) { return cl_device_fp_config{0}; });
  if (what == CL_DEVICE_SINGLE_FP_CONFIG && setting("no_divide") == 1)
    change<cl_device_fp_config>(code, value, [](cl_device_fp_config bits) {
      return bits & ~cl_device_fp_config{CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT};
    });
  if (what == CL_DEVICE_MAX_PARAMETER_SIZE && setting("parameters") > 0)
    change<size_t>(code, value, [](size_t) { return static_cast<size_t>(setting("parameters")); });
  return code;
}

cl_int CL_API_CALL finish(cl_command_queue queue) {
  const cl_int code = target->clFinish(queue);
  return setting("lost") == 1 ? CL_DEVICE_NOT_AVAILABLE : code;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL
clGetLayerInfo(cl_layer_info what, size_t size, void* value, size_t* written) {
  constexpr cl_layer_api_version kVersion = CL_LAYER_API_VERSION_100;
  constexpr char kName[] = "backplane test layer";
  const bool is_version = what == CL_LAYER_API_VERSION;
  if (!is_version && what != CL_LAYER_NAME) return CL_INVALID_VALUE;
  const size_t length = is_version ? sizeof kVersion : sizeof kName;
  if (value != nullptr && size < length) return CL_INVALID_VALUE;
  if (value != nullptr) std::memcpy(value, is_version ? static_cast<const void*>(&kVersion) : kName, length);
  if (written != nullptr) *written = length;
  return CL_SUCCESS;
}

extern "C" __attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL
clInitLayer(cl_uint entries, const cl_icd_dispatch* target_dispatch, cl_uint* entries_out,
            const cl_icd_dispatch** layer_dispatch) {
  if (entries < sizeof layer / sizeof layer.clGetPlatformIDs) return CL_INVALID_VALUE;
  target = target_dispatch;
  layer = *target_dispatch;
  layer.clGetDeviceInfo = get_device_info;
  layer.clFinish = finish;
  *layer_dispatch = &layer;
  *entries_out = sizeof layer / sizeof layer.clGetPlatformIDs;
  return CL_SUCCESS;
}
