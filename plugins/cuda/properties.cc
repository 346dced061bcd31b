// SPDX-License-Identifier: Apache-2.0
#include "properties.h"

#include <cctype>

namespace backplane::cuda {
namespace {

// cuMemAlloc aligns to at least this.
constexpr uint32_t kAlignment = 256;

int numa_node_of(const char* pci_address) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/numa_node", pci_address);
  int node = -1;
  if (std::FILE* file = std::fopen(path, "re")) {
    if (std::fscanf(file, "%d", &node) != 1) node = -1;
    std::fclose(file);
  }
  return node;
}

void describe_memory(CUdevice device, plugin::DeviceProperties* properties) noexcept {
  size_t total = 0;
  if (cuDeviceTotalMem(&total, device) != CUDA_SUCCESS) return;
  properties->memory_total = total;
  properties->largest_allocation = total;  // CUDA sets no smaller bound
  properties->has |= plugin::kHasMemoryTotal | plugin::kHasLargestAllocation;
}

void describe_identity(CUdevice device, const Nvml* nvml, plugin::DeviceProperties* properties) noexcept {
  if (cuDeviceGetName(properties->name, sizeof properties->name, device) != CUDA_SUCCESS)
    plugin::copy_text(properties->name, "CUDA device");
  plugin::copy_text(properties->vendor, "NVIDIA");
  properties->has |= plugin::kHasVendor;
  if (pci_address_of(device, properties->pci_address)) {
    properties->has |= plugin::kHasPciAddress;
    properties->numa_node = numa_node_of(properties->pci_address);
    if (properties->numa_node >= 0) properties->has |= plugin::kHasNumaNode;
  }
  CUuuid uuid{};
  if (cuDeviceGetUuid(&uuid, device) == CUDA_SUCCESS) {
    std::memcpy(properties->uuid, uuid.bytes, sizeof properties->uuid);
    properties->has |= plugin::kHasUuid;
  }
  int version = 0;
  if (cuDriverGetVersion(&version) == CUDA_SUCCESS) {
    std::snprintf(properties->api_version, sizeof properties->api_version, "CUDA %d.%d", version / 1000,
                  version % 1000 / 10);
    properties->has |= plugin::kHasApiVersion;
  }
  if (nvml != nullptr && nvml->driver_version()[0] != '\0') {
    plugin::copy_text(properties->driver_version, nvml->driver_version());
    properties->has |= plugin::kHasDriverVersion;
  }
}

void describe_execution(CUdevice device, plugin::DeviceProperties* properties) noexcept {
  const int major = attribute_of(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
  const int minor = attribute_of(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
  if (major > 0) {
    std::snprintf(properties->architecture, sizeof properties->architecture, "sm_%d%d", major, minor);
    properties->has |= plugin::kHasArchitecture;
  }
  const auto number = [&](CUdevice_attribute which, uint64_t bit) -> uint32_t {
    const int value = attribute_of(device, which, -1);
    if (value > 0) properties->has |= bit;
    return value > 0 ? static_cast<uint32_t>(value) : 0;
  };
  properties->units = number(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, plugin::kHasUnits);
  properties->clock_mhz = number(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, plugin::kHasClock) / 1000;
  properties->max_group_size = number(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, plugin::kHasMaxGroupSize);
  properties->local_memory = number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, plugin::kHasLocalMemory);
}

}  // namespace

int attribute_of(CUdevice device, CUdevice_attribute which, int otherwise) noexcept {
  int value = 0;
  return cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : otherwise;
}

bool pci_address_of(CUdevice device, char (&address)[16]) noexcept {
  if (cuDeviceGetPCIBusId(address, sizeof address, device) != CUDA_SUCCESS) return false;
  for (char& character : address)
    character = static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
  return true;
}

plugin::DeviceProperties properties_of(CUdevice device, const Nvml* nvml, bool source) noexcept {
  plugin::DeviceProperties properties{};
  properties.struct_size = sizeof properties;
  properties.kind = plugin::DeviceKind::Gpu;
  properties.flags = plugin::kBufferOffsets | plugin::kDenormals | plugin::kCorrectlyRoundedDivide;
  properties.types = (uint64_t{1} << plugin::kDTypeCount) - 1;
  properties.min_alignment = kAlignment;
  describe_identity(device, nvml, &properties);
  describe_memory(device, &properties);
  describe_execution(device, &properties);
  plugin::copy_text(properties.source_language, source ? "CUDA C++" : "PTX");
  properties.has |= plugin::kHasSourceLanguage;
  return properties;
}

}  // namespace backplane::cuda
