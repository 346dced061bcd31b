// SPDX-License-Identifier: Apache-2.0
#include "device/identity.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <tuple>

namespace backplane::internal {
namespace {

using PciAddress = std::tuple<unsigned, unsigned, unsigned, unsigned>;

// "0000:3b:00.0", with a domain of any length or none.
std::optional<PciAddress> pci_address(const DeviceProperties& properties) noexcept {
  if ((properties.has & plugin::kHasPciAddress) == 0) return std::nullopt;
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  const char* text = properties.pci_address;
  if (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4)
    return PciAddress(domain, bus, slot, function);
  if (std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) == 3) return PciAddress(0, bus, slot, function);
  return std::nullopt;
}

// Some drivers say that they have a UUID and give zeros.
bool has_uuid(const DeviceProperties& properties) noexcept {
  constexpr uint8_t kNone[sizeof properties.uuid] = {};
  return (properties.has & plugin::kHasUuid) != 0 && std::memcmp(properties.uuid, kNone, sizeof kNone) != 0;
}

}  // namespace

bool same_hardware(const DeviceState& a, const DeviceState& b) noexcept {
  if (&a == &b) return true;
  const bool uuids = has_uuid(a.properties) && has_uuid(b.properties);
  const bool equal_uuids =
      uuids && std::memcmp(a.properties.uuid, b.properties.uuid, sizeof a.properties.uuid) == 0;
  const auto address_a = pci_address(a.properties), address_b = pci_address(b.properties);
  if (!address_a || !address_b) return equal_uuids;
  if (*address_a != *address_b) return false;
  return a.plugin != b.plugin || !uuids || equal_uuids;
}

bool better_route(const DeviceState* a, const DeviceState* b) noexcept {
  if (a->plugin != b->plugin)
    return std::tie(b->plugin->priority, a->plugin->name) < std::tie(a->plugin->priority, b->plugin->name);
  return a->index < b->index;
}

std::vector<DeviceState*> physical_gpus(const std::vector<DeviceState*>& devices) {
  std::vector<DeviceState*> sorted;
  std::copy_if(devices.begin(), devices.end(), std::back_inserter(sorted),
               [](const DeviceState* device) { return device->properties.kind == plugin::DeviceKind::Gpu; });
  std::sort(sorted.begin(), sorted.end(), better_route);
  std::vector<DeviceState*> gpus;
  for (DeviceState* device : sorted)
    if (std::none_of(gpus.begin(), gpus.end(),
                     [device](const DeviceState* gpu) { return same_hardware(*gpu, *device); }))
      gpus.push_back(device);
  return gpus;
}

}  // namespace backplane::internal
