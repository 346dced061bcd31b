// SPDX-License-Identifier: Apache-2.0
//
// The one table of plugins and devices, built by the loader at the first use of the runtime and never freed.
#ifndef BACKPLANE_SRC_DEVICE_REGISTRY_H_
#define BACKPLANE_SRC_DEVICE_REGISTRY_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/runtime.h"
#include "device/device_state.h"
#include "loader/environment.h"
#include "loader/log.h"

namespace backplane::internal {

struct Registry {
  RuntimeOptions options;
  std::vector<std::filesystem::path> folders;
  std::vector<FileReport> report;
  std::vector<PluginNote> notes;
  std::vector<PluginState*> plugins;  // by priority, lowest first, then by name
  std::vector<DeviceState*> devices;  // in that order, then by index
  std::vector<DeviceState*> gpus;     // one per physical GPU, by the plugin of highest priority
};

// The registry, loaded at the first call (concurrent first calls wait for one load). Unavailable after
// shutdown.
Registry& registry();

// The registry if it was loaded and not shut down, else null. Never loads.
Registry* loaded_registry() noexcept;

// Finds what a selector means. NotFound or InvalidArgument as Device's constructor says.
DeviceState* find_device(std::string_view selector);

// Waits for all work of one device. Called for every device before the first is destroyed: one device's
// streams may use another's memory.
void drain_device(DeviceState& device) noexcept;

// Drains and destroys one open device: synchronises it, frees its streams, kernels, pool and the device
// itself, and leaves its health at ShutDown. Called once per device, before its backend is destroyed.
void shut_down_device(DeviceState& device);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_DEVICE_REGISTRY_H_
