// SPDX-License-Identifier: Apache-2.0
//
// What an OpenCL device says of itself: what code generation needs to know, and what people are shown.
#ifndef BACKPLANE_PLUGINS_OPENCL_FACTS_H_
#define BACKPLANE_PLUGINS_OPENCL_FACTS_H_

#include <optional>
#include <string>

#include "opencl/api.h"

namespace backplane::opencl {

// One value, or nothing when the driver refuses. Never throws away more than the one field.
template <typename Value>
std::optional<Value> query(cl_device_id device, cl_device_info what) noexcept {
  Value value{};
  size_t size = 0;
  if (api().clGetDeviceInfo(device, what, sizeof value, &value, &size) != CL_SUCCESS) return std::nullopt;
  if (size != sizeof value) return std::nullopt;
  return value;
}
std::optional<std::string> query_text(cl_device_id device, cl_device_info what);
std::optional<std::string> query_text(cl_platform_id platform, cl_platform_info what);

// How the device likes its work: few long work-items with loops inside, or many short ones side by side.
enum class DeviceClass { Cpu, Gpu };

// What the plugin itself relies on. Where the driver does not say, the value that is always safe.
struct Facts {
  DeviceClass device_class = DeviceClass::Gpu;
  bool has_float64 = false;
  bool has_correctly_rounded_divide = false;
  bool has_denormals = false;
  bool has_priorities = false;
  bool shares_host_memory = false;
  uint32_t alignment = 1;  // bytes
  uint32_t units = 1;
  uint32_t vector_bytes = 16;       // of one register, as float32 lanes are counted
  uint64_t largest_allocation = 0;  // 0: unknown
  uint64_t cache_size = 0;          // bytes; 0: unknown
  uint64_t local_memory = 16384;    // bytes
  size_t largest_group = 1;
  size_t largest_parameters = 256;  // bytes of all arguments of a kernel
  std::string identity;             // device, driver and platform, all that a compiled binary depends on
};

Facts read_facts(cl_device_id device, cl_platform_id platform);

// `extensions` must outlive the properties: they point into it.
plugin::DeviceProperties read_properties(cl_device_id device, const Facts& facts,
                                         const std::optional<std::string>& extensions);

// The numbers of "OpenCL 1.2 vendor text" as 100 * major + minor; 0 if it does not read like that.
int version_number(const std::string& text) noexcept;

bool has_extension(const std::string& extensions, const char* name) noexcept;

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_FACTS_H_
