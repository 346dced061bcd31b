// SPDX-License-Identifier: Apache-2.0
//
// What only the device layer does with the registry.
#ifndef BACKPLANE_SRC_DEVICE_REGISTRY_ACCESS_H_
#define BACKPLANE_SRC_DEVICE_REGISTRY_ACCESS_H_

#include <string>

#include "device/registry.h"
#include "device/selector.h"

namespace backplane::internal {

// The options of the first use. InvalidArgument once the registry is loaded or shut down.
void configure_registry(RuntimeOptions options);

// Shuts down every device, then every backend, plugins of highest priority first. Does nothing the second
// time.
void shut_down_registry();

// The registry if it was ever loaded, shut down or not, else null.
const Registry* past_registry() noexcept;

// The device that a selector means, or null.
DeviceState* lookup(const Registry& registry, const Selector& selector);

// The message of a NotFound: which devices there are, or which folders were searched, and why plugin `plugin`
// is not there.
std::string no_device(const Registry& registry, const std::string& wanted, const std::string& plugin);

// The same where nothing in particular was wanted.
std::string no_devices_at_all(const Registry& registry);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_DEVICE_REGISTRY_ACCESS_H_
