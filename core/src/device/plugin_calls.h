// SPDX-License-Identifier: Apache-2.0
//
// Calls into a plugin for what devices are and do, made safe for plugins that are older, newer, or careless.
// The one place that knows which methods a plugin of which minor version has.
#ifndef BACKPLANE_SRC_DEVICE_PLUGIN_CALLS_H_
#define BACKPLANE_SRC_DEVICE_PLUGIN_CALLS_H_

#include <cstdint>
#include <vector>

#include "backplane/runtime.h"
#include "device/device_state.h"

namespace backplane::internal {

// How many devices the backend has; never more than 1024, whatever it says.
uint32_t count_devices(PluginState& plugin);

// What Backend::describe says, with every text ended and valid UTF-8, and `min_alignment` a power of two. A
// status that is not Ok leaves a device of which nothing is known.
DeviceProperties describe_device(PluginState& plugin, uint32_t index, plugin::Status& status);

std::vector<PluginNote> read_notes(PluginState& plugin);

Telemetry read_telemetry(DeviceState& device);

// Since ABI 0.1; empty for older plugins.
std::vector<DeviceProcess> read_processes(DeviceState& device);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_DEVICE_PLUGIN_CALLS_H_
