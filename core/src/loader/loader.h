// SPDX-License-Identifier: Apache-2.0
//
// Finds, checks and loads plugins, and creates their backends.
#ifndef BACKPLANE_SRC_LOADER_LOADER_H_
#define BACKPLANE_SRC_LOADER_LOADER_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "backplane/plugin/plugin.h"
#include "backplane/runtime.h"

namespace backplane::internal {

struct LoadedPlugin {
  const plugin::Plugin* info = nullptr;
  const plugin::HostInfo* host = nullptr;  // never freed
  plugin::Backend* backend = nullptr;      // the caller's to destroy
  std::string name;
  std::string version;
  uint16_t abi_minor = 0;
  int priority = 0;
  size_t report_row = 0;
};

struct LoadResult {
  std::vector<std::filesystem::path> folders;
  std::vector<FileReport> report;
  std::vector<LoadedPlugin> plugins;  // in the order of discovery
};

// Never fails for want of a plugin; whatever a file turns out to be is a row of the report.
LoadResult load_plugins(const RuntimeOptions& options);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_LOADER_LOADER_H_
