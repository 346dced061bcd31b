// SPDX-License-Identifier: Apache-2.0
//
// Looks at one file or folder without executing anything of it: is it a file at all, may it be trusted, is it
// a sound shared object, and a plugin.
#ifndef BACKPLANE_SRC_LOADER_PLUGIN_FILE_H_
#define BACKPLANE_SRC_LOADER_PLUGIN_FILE_H_

#include <filesystem>
#include <optional>
#include <string>

#include "backplane/plugin/plugin.h"
#include "loader/elf.h"
#include "loader/problem.h"

namespace backplane::internal {

// A folder whose plugins may be loaded: there, a folder, owned by root or the effective user, and not
// writable by group or others.
MaybeProblem check_folder(const std::filesystem::path& folder);

// A regular file that passes the same rules, as does the folder that it really lies in, and that is a sound
// shared object. Fills `file`. Opens it without blocking, whatever it is.
MaybeProblem check_library(const std::filesystem::path& path, ElfFile& file, const ElfQuery& query = {});

// What can be said of a plugin before it is loaded.
struct PluginPreview {
  ElfFile file;
  std::string name;  // empty where only loading would tell
};

// check_library(), and: it exports `backplane_plugin`, of this host's ABI major.
MaybeProblem check_plugin(const std::filesystem::path& path, PluginPreview& preview);

// The same ABI major, or the words that refuse the plugin.
MaybeProblem check_abi(uint16_t major, uint16_t minor);

inline constexpr const char* kPluginSymbol = "backplane_plugin";

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_LOADER_PLUGIN_FILE_H_
