// SPDX-License-Identifier: Apache-2.0
//
// Loads shared objects, for good: drivers do not survive being unloaded. The only user of Boost.DLL.
#ifndef BACKPLANE_SRC_LOADER_LIBRARY_H_
#define BACKPLANE_SRC_LOADER_LIBRARY_H_

#include <filesystem>

#include "backplane/plugin/plugin.h"
#include "loader/elf.h"
#include "loader/problem.h"

namespace backplane::internal {

// Loads a plugin that check_plugin() found sound, and libraries that it needs and that lie beside it,
// wherever the program loader looks for libraries. Runs constructors. `info` is valid for ever.
MaybeProblem load_plugin_library(const std::filesystem::path& path, const ElfFile& file,
                                 const plugin::Plugin*& info);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_LOADER_LIBRARY_H_
