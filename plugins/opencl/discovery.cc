// SPDX-License-Identifier: Apache-2.0
#include "opencl/discovery.h"

namespace backplane::opencl {

namespace {

constexpr char kInstallDriver[] =
    "install a driver: pocl-opencl-icd (any CPU), intel-opencl-icd, mesa-opencl-icd, nvidia-opencl-icd";

std::string platform_subject(cl_platform_id platform, size_t index) {
  const std::string subject = "OpenCL platform " + std::to_string(index);
  const auto name = query_text(platform, CL_PLATFORM_NAME);
  return name ? subject + " (" + *name + ")" : subject;
}

// Why the plugin cannot use a device, or nothing.
std::string unusable(cl_device_id device) {
  if (query<cl_bool>(device, CL_DEVICE_AVAILABLE).value_or(CL_TRUE) == CL_FALSE)
    return "the driver says that the device is not available";
  if (query<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE).value_or(CL_TRUE) == CL_FALSE)
    return "the driver has no compiler for it";
  if (query<cl_bool>(device, CL_DEVICE_ENDIAN_LITTLE).value_or(CL_TRUE) == CL_FALSE)
    return "its byte order is not the host's";
  const auto version = query_text(device, CL_DEVICE_VERSION);
  if (version && version_number(*version) < 102) return "it offers " + *version + "; OpenCL 1.2 is needed";
  const auto profile = query_text(device, CL_DEVICE_PROFILE);
  if (profile && *profile != "FULL_PROFILE") return "it offers only the embedded profile";
  return {};
}

std::vector<cl_device_partition_property> partition(cl_uint units, unsigned parts) {
  std::vector<cl_device_partition_property> list{CL_DEVICE_PARTITION_BY_COUNTS};
  for (unsigned part = 0; part < parts; ++part)
    list.push_back(static_cast<cl_device_partition_property>(units / parts + (part < units % parts ? 1 : 0)));
  list.push_back(CL_DEVICE_PARTITION_BY_COUNTS_LIST_END);
  list.push_back(0);
  return list;
}

// The parts of a CPU device; on failure the device itself, and a note.
std::vector<DeviceHandle> split(DeviceHandle device, unsigned parts, const std::string& subject,
                                Found* found) {
  std::vector<DeviceHandle> handles;
  const auto type = query<cl_device_type>(device.get(), CL_DEVICE_TYPE).value_or(0);
  if (parts > 1 && (type & CL_DEVICE_TYPE_CPU) != 0) {
    const cl_uint units = query<cl_uint>(device.get(), CL_DEVICE_MAX_COMPUTE_UNITS).value_or(1);
    std::vector<cl_device_id> ids(parts);
    cl_uint made = 0;
    const cl_int code = units < parts ? CL_DEVICE_PARTITION_FAILED
                                      : api().clCreateSubDevices(device.get(), partition(units, parts).data(),
                                                                 parts, ids.data(), &made);
    if (code == CL_SUCCESS && made == parts) {
      for (const cl_device_id id : ids) handles.emplace_back(id);
      return handles;
    }
    found->notes.push_back(make_note(subject,
                                     "a device of " + std::to_string(units) +
                                         " units could not be split into " + std::to_string(parts) + ": " +
                                         error_name(code),
                                     "set BACKPLANE_OPENCL_SUBDEVICES to a number it has units for"));
  }
  handles.push_back(std::move(device));
  return handles;
}

void find_in_platform(cl_platform_id platform, size_t index, unsigned subdevices, Found* found) {
  const std::string subject = platform_subject(platform, index);
  cl_uint count = 0;
  cl_int code = api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  std::vector<cl_device_id> ids(code == CL_SUCCESS ? count : 0);
  if (!ids.empty()) code = api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr);
  if (code == CL_DEVICE_NOT_FOUND || (code == CL_SUCCESS && ids.empty())) {
    found->notes.push_back(make_note(subject, "it offers no device", ""));
    return;
  }
  if (code != CL_SUCCESS) {
    found->notes.push_back(make_note(
        subject, std::string("clGetDeviceIDs: ") + error_name(code) + " (" + std::to_string(code) + ")",
        "reinstall or remove this platform's driver"));
    return;
  }
  for (const cl_device_id id : ids) {
    const size_t family = found->devices.size();
    for (DeviceHandle& part : split(DeviceHandle::retained(id), subdevices, subject, found)) {
      std::string reason;
      const std::string name = query_text(part.get(), CL_DEVICE_NAME).value_or("a device without a name");
      auto device = read_device(std::move(part), &reason);
      if (device == nullptr) {
        found->notes.push_back(make_note(subject + ", " + name, reason, ""));
        continue;
      }
      device->family = family;
      found->devices.push_back(std::move(device));
    }
  }
}

}  // namespace

plugin::Note make_note(const std::string& subject, const std::string& cause, const std::string& remedy) {
  plugin::Note note{};
  note.struct_size = sizeof note;
  plugin::copy_text(note.subject, subject.c_str());
  plugin::copy_text(note.cause, cause.c_str());
  plugin::copy_text(note.remedy, remedy.c_str());
  return note;
}

std::unique_ptr<FoundDevice> read_device(DeviceHandle id, std::string* reason) {
  *reason = unusable(id.get());
  if (!reason->empty()) return nullptr;
  auto device = std::make_unique<FoundDevice>();
  const auto platform = query<cl_platform_id>(id.get(), CL_DEVICE_PLATFORM).value_or(nullptr);
  device->facts = read_facts(id.get(), platform);
  device->extensions = query_text(id.get(), CL_DEVICE_EXTENSIONS);
  device->properties = read_properties(id.get(), device->facts, device->extensions);
  device->id = std::move(id);
  return device;
}

Found find_devices(unsigned subdevices) {
  Found found;
  cl_uint count = 0;
  cl_int code = api().clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(code == CL_SUCCESS ? count : 0);
  if (!platforms.empty()) code = api().clGetPlatformIDs(count, platforms.data(), nullptr);
  if (code == CL_PLATFORM_NOT_FOUND_KHR || (code == CL_SUCCESS && platforms.empty())) {
    found.notes.push_back(make_note("OpenCL", "no OpenCL driver is installed", kInstallDriver));
  } else if (code != CL_SUCCESS) {
    found.notes.push_back(make_note("OpenCL", std::string("clGetPlatformIDs: ") + error_name(code), ""));
    platforms.clear();
  }
  check_manifests(&found.notes);
  for (size_t index = 0; index < platforms.size(); ++index)
    find_in_platform(platforms[index], index, subdevices, &found);
  return found;
}

}  // namespace backplane::opencl
