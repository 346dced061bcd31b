// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>

#include "opencl/facts.h"

namespace backplane::opencl {

namespace {

using plugin::DeviceProperties;

// Vendors' own queries, by the numbers in their extensions' specifications; older headers lack some.
constexpr cl_device_info kBoardNameAmd = 0x4038;
constexpr cl_device_info kTopologyAmd = 0x4037;
constexpr cl_device_info kComputeCapabilityMajorNv = 0x4000;
constexpr cl_device_info kComputeCapabilityMinorNv = 0x4001;
constexpr cl_device_info kPciBusNv = 0x4008;
constexpr cl_device_info kPciSlotNv = 0x4009;
constexpr cl_device_info kPciDomainNv = 0x400A;
constexpr cl_device_info kPciBusInfoKhr = 0x410F;
constexpr cl_device_info kUuidKhr = 0x106A;

struct PciBusInfo {
  cl_uint domain, bus, device, function;
};
struct TopologyAmd {  // cl_device_topology_amd with type 1, PCIe
  cl_uint type;
  unsigned char unused[17];
  unsigned char bus, device, function;
};
struct Uuid {
  unsigned char bytes[16];
};

std::optional<PciBusInfo> pci_address(cl_device_id device, const std::string& extensions) {
  if (has_extension(extensions, "cl_khr_pci_bus_info"))
    if (const auto info = query<PciBusInfo>(device, kPciBusInfoKhr)) return info;
  if (has_extension(extensions, "cl_nv_device_attribute_query")) {
    const auto bus = query<cl_uint>(device, kPciBusNv);
    const auto slot = query<cl_uint>(device, kPciSlotNv);
    if (bus && slot)
      return PciBusInfo{query<cl_uint>(device, kPciDomainNv).value_or(0), *bus, *slot >> 3, *slot & 7};
  }
  if (has_extension(extensions, "cl_amd_device_attribute_query"))
    if (const auto topology = query<TopologyAmd>(device, kTopologyAmd); topology && topology->type == 1)
      return PciBusInfo{0, topology->bus, topology->device, topology->function};
  return std::nullopt;
}

std::optional<std::string> architecture(cl_device_id device, const std::string& extensions) {
  if (has_extension(extensions, "cl_nv_device_attribute_query")) {
    const auto major = query<cl_uint>(device, kComputeCapabilityMajorNv);
    const auto minor = query<cl_uint>(device, kComputeCapabilityMinorNv);
    if (major && minor) return "sm_" + std::to_string(*major) + std::to_string(*minor);
  }
  if (has_extension(extensions, "cl_amd_device_attribute_query"))
    return query_text(device, CL_DEVICE_NAME);  // AMD's plain name is the chip's: "gfx1100"
  return std::nullopt;
}

void add_location(cl_device_id device, const std::string& extensions, DeviceProperties* properties) {
  if (const auto pci = pci_address(device, extensions)) {
    std::snprintf(properties->pci_address, sizeof properties->pci_address, "%04x:%02x:%02x.%x",
                  pci->domain & 0xffff, pci->bus & 0xff, pci->device & 0xff, pci->function & 0xf);
    properties->has |= plugin::kHasPciAddress;
    std::ifstream node("/sys/bus/pci/devices/" + std::string(properties->pci_address) + "/numa_node");
    if (node >> properties->numa_node && properties->numa_node >= 0) properties->has |= plugin::kHasNumaNode;
  }
  if (!has_extension(extensions, "cl_khr_device_uuid")) return;
  if (const auto uuid = query<Uuid>(device, kUuidKhr)) {
    std::memcpy(properties->uuid, uuid->bytes, sizeof uuid->bytes);
    properties->has |= plugin::kHasUuid;
  }
}

template <size_t N>
void add_text(const std::optional<std::string>& text, plugin::PropertyBits bit, char (&field)[N],
              DeviceProperties* properties) {
  if (!text) return;
  plugin::copy_text(field, text->c_str());
  properties->has |= bit;
}

template <typename Query, typename Field>
void add_number(cl_device_id device, cl_device_info what, plugin::PropertyBits bit, Field* field,
                DeviceProperties* properties) {
  const auto value = query<Query>(device, what);
  if (!value || *value == 0) return;
  *field = static_cast<Field>(*value);
  properties->has |= bit;
}

uint64_t flags_of(const Facts& facts) {
  uint64_t flags = plugin::kBufferOffsets | plugin::kCorrectlyRoundedDivide;
  if (facts.shares_host_memory) flags |= plugin::kMapsWithoutCopy;
  if (facts.has_denormals) flags |= plugin::kDenormals;
  return flags;
}

uint64_t types_of(const Facts& facts) {
  const uint64_t all = (uint64_t{1} << plugin::kDTypeCount) - 1;
  const uint64_t float64 = uint64_t{1} << static_cast<unsigned>(plugin::DType::Float64);
  return facts.has_float64 ? all : all & ~float64;
}

plugin::DeviceKind kind_of(cl_device_id device) {
  const auto type = query<cl_device_type>(device, CL_DEVICE_TYPE).value_or(0);
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return plugin::DeviceKind::Cpu;
  return (type & CL_DEVICE_TYPE_GPU) != 0 ? plugin::DeviceKind::Gpu : plugin::DeviceKind::Accelerator;
}

}  // namespace

DeviceProperties read_properties(cl_device_id device, const Facts& facts,
                                 const std::optional<std::string>& extensions) {
  DeviceProperties properties{};
  properties.struct_size = sizeof properties;
  properties.kind = kind_of(device);
  properties.flags = flags_of(facts);
  properties.types = types_of(facts);
  properties.min_alignment = facts.alignment;
  const auto name = query_text(device, kBoardNameAmd);
  plugin::copy_text(properties.name,
                    (name ? *name : query_text(device, CL_DEVICE_NAME).value_or("OpenCL device")).c_str());
  add_text(query_text(device, CL_DEVICE_VENDOR), plugin::kHasVendor, properties.vendor, &properties);
  add_text(query_text(device, CL_DRIVER_VERSION), plugin::kHasDriverVersion, properties.driver_version,
           &properties);
  add_text(query_text(device, CL_DEVICE_VERSION), plugin::kHasApiVersion, properties.api_version,
           &properties);
  add_text(architecture(device, extensions.value_or("")), plugin::kHasArchitecture, properties.architecture,
           &properties);
  add_text(std::string("OpenCL C"), plugin::kHasSourceLanguage, properties.source_language, &properties);
  add_number<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS, plugin::kHasUnits, &properties.units, &properties);
  add_number<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY, plugin::kHasClock, &properties.clock_mhz,
                      &properties);
  add_number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE, plugin::kHasMemoryTotal, &properties.memory_total,
                       &properties);
  add_number<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, plugin::kHasLargestAllocation,
                       &properties.largest_allocation, &properties);
  add_number<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE, plugin::kHasLocalMemory, &properties.local_memory,
                       &properties);
  add_number<size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, plugin::kHasMaxGroupSize,
                     &properties.max_group_size, &properties);
  if (extensions) {
    properties.extensions = extensions->c_str();
    properties.has |= plugin::kHasExtensions;
  }
  add_location(device, extensions.value_or(""), &properties);
  return properties;
}

}  // namespace backplane::opencl
