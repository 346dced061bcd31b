// SPDX-License-Identifier: Apache-2.0
//
// Which devices of which plugins are the same piece of hardware.
#ifndef BACKPLANE_SRC_DEVICE_IDENTITY_H_
#define BACKPLANE_SRC_DEVICE_IDENTITY_H_

#include <vector>

#include "device/device_state.h"

namespace backplane::internal {

// Same PCI address (however written), or, where one of them has none, same UUID. Within one plugin, different
// UUIDs at one address are parts of a card, and different devices. What is not known never merges.
bool same_hardware(const DeviceState& a, const DeviceState& b) noexcept;

// One device per physical GPU: plugins of highest priority first, then by name and index; of several routes
// to one GPU the first.
std::vector<DeviceState*> physical_gpus(const std::vector<DeviceState*>& devices);

// The order by which one route is preferred to another.
bool better_route(const DeviceState* a, const DeviceState* b) noexcept;

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_DEVICE_IDENTITY_H_
