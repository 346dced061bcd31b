// SPDX-License-Identifier: Apache-2.0
//
// Where plugins are looked for: the options' folders, then BACKPLANE_PLUGIN_PATH, then the folder beside the
// library. Never the current directory, never the program loader's path.
#ifndef BACKPLANE_SRC_LOADER_DISCOVERY_H_
#define BACKPLANE_SRC_LOADER_DISCOVERY_H_

#include <filesystem>
#include <vector>

#include "backplane/runtime.h"

namespace backplane::internal {

// In order, each once. Entries that are refused leave a row in `report` instead.
std::vector<std::filesystem::path> search_folders(const RuntimeOptions& options,
                                                  std::vector<FileReport>& report);

// The folder's entries whose names end in ".so", by name. A folder that may not be used, or not be read,
// leaves a row in `report`.
std::vector<std::filesystem::path> candidates(const std::filesystem::path& folder,
                                              std::vector<FileReport>& report);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_LOADER_DISCOVERY_H_
