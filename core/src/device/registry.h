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

// Sends a message to the program's log callback, or to stderr for warnings and errors without one.
void log(LogLevel level, std::string_view text) noexcept;

// An environment variable as secure_getenv gives it; empty when unset or when the options say to ignore the
// environment.
std::string environment(const char* name);

// An environment flag: "0", "false", "off", "no" (any case) and empty are off, everything else is on.
bool environment_flag(const char* name);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_DEVICE_REGISTRY_H_
