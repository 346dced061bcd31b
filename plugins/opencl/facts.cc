// SPDX-License-Identifier: Apache-2.0
#include "opencl/facts.h"

#include <cstdio>

namespace backplane::opencl {

namespace {

template <typename Call>
std::optional<std::string> read_text(Call&& call) {
  size_t size = 0;
  if (call(size_t{0}, nullptr, &size) != CL_SUCCESS || size == 0 || size > (size_t{1} << 20))
    return std::nullopt;
  std::string text(size, '\0');
  if (call(size, text.data(), nullptr) != CL_SUCCESS) return std::nullopt;
  text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string::npos) return std::nullopt;
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

}  // namespace

std::optional<std::string> query_text(cl_device_id device, cl_device_info what) {
  return read_text([=](size_t size, void* value, size_t* written) {
    return api().clGetDeviceInfo(device, what, size, value, written);
  });
}

std::optional<std::string> query_text(cl_platform_id platform, cl_platform_info what) {
  return read_text([=](size_t size, void* value, size_t* written) {
    return api().clGetPlatformInfo(platform, what, size, value, written);
  });
}

int version_number(const std::string& text) noexcept {
  int major = 0;
  int minor = 0;
  return std::sscanf(text.c_str(), "OpenCL %d.%d", &major, &minor) == 2 ? 100 * major + minor : 0;
}

bool has_extension(const std::string& extensions, const char* name) noexcept {
  const std::string_view wanted(name);
  for (size_t at = extensions.find(wanted); at != std::string::npos; at = extensions.find(wanted, at + 1)) {
    const size_t end = at + wanted.size();
    if ((at == 0 || extensions[at - 1] == ' ') && (end == extensions.size() || extensions[end] == ' '))
      return true;
  }
  return false;
}

Facts read_facts(cl_device_id device, cl_platform_id platform) {
  Facts facts;
  const auto type = query<cl_device_type>(device, CL_DEVICE_TYPE).value_or(CL_DEVICE_TYPE_ACCELERATOR);
  facts.device_class = (type & CL_DEVICE_TYPE_CPU) != 0 ? DeviceClass::Cpu : DeviceClass::Gpu;
  facts.has_float64 = query<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG).value_or(0) != 0;
  const auto single = query<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG).value_or(0);
  facts.has_correctly_rounded_divide = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  facts.has_denormals = (single & CL_FP_DENORM) != 0;
  facts.shares_host_memory = query<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY).value_or(CL_FALSE) != 0;
  const std::string extensions = query_text(device, CL_DEVICE_EXTENSIONS).value_or("");
  facts.has_priorities = has_extension(extensions, "cl_khr_priority_hints");
  const cl_uint bits = query<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN).value_or(8);
  facts.alignment = bits < 8 ? 1 : bits / 8;
  facts.units = query<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS).value_or(1);
  const cl_uint lanes = query<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT).value_or(4);
  facts.vector_bytes = lanes >= 16 ? 64 : lanes >= 8 ? 32 : 16;
  facts.largest_allocation = query<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE).value_or(0);
  facts.cache_size = query<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE).value_or(0);
  facts.local_memory = query<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE).value_or(16384);
  facts.largest_group = query<size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE).value_or(1);
  facts.largest_parameters = query<size_t>(device, CL_DEVICE_MAX_PARAMETER_SIZE).value_or(256);
  for (const cl_device_info what : {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DRIVER_VERSION, CL_DEVICE_VERSION})
    facts.identity += query_text(device, what).value_or("?") + "\n";
  facts.identity += query_text(platform, CL_PLATFORM_VERSION).value_or("?") + "\n" + extensions + "\n";
  return facts;
}

}  // namespace backplane::opencl
