// SPDX-License-Identifier: Apache-2.0
#include "loader/library.h"

#include <dlfcn.h>
#include <link.h>

#include <boost/dll/shared_library.hpp>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "loader/plugin_file.h"
#include "loader/remedies.h"

namespace backplane::internal {
namespace {

namespace fs = std::filesystem;
namespace load_mode = boost::dll::load_mode;
using boost::dll::shared_library;

// Reachable for ever, and so never closed.
void keep(shared_library library) {
  static std::mutex mutex;
  static auto& kept = *new std::vector<shared_library>;
  const std::lock_guard lock(mutex);
  kept.push_back(std::move(library));
}

// dlopen's own words out of Boost's.
std::string loader_text(const std::exception& error) {
  const std::string text = error.what();
  constexpr std::string_view kBefore = "dlerror system message: ";
  const size_t start = text.find(kBefore);
  const size_t end = text.rfind("): ");
  if (start == std::string::npos || end == std::string::npos || end < start) return text;
  return text.substr(start + kBefore.size(), end - start - kBefore.size());
}

bool is_loaded(const std::string& name) {
  void* handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  ::dlclose(handle);
  return true;
}

// The program loader takes a needed library for loaded when its SONAME, or the name of its file as known to
// the loader, is the one that is needed. A library without a SONAME, loaded from its full path, is neither:
// it goes by its bare name while the plugin is loaded.
class BareNames {
 public:
  BareNames() = default;
  BareNames(const BareNames&) = delete;
  BareNames& operator=(const BareNames&) = delete;
  ~BareNames() {
    for (const Entry& entry : entries_) entry.map->l_name = entry.path;
  }

  void add(const shared_library& library, const std::string& name) {
    link_map* map = nullptr;
    if (::dlinfo(library.native(), RTLD_DI_LINKMAP, &map) != 0) return;
    entries_.push_back({map, map->l_name});
    static auto& names = *new std::set<std::string>;  // another thread may be reading the name just now
    map->l_name = const_cast<char*>(names.insert(name).first->c_str());
  }

 private:
  struct Entry {
    link_map* map;
    char* path;
  };
  std::vector<Entry> entries_;
};

class Loading {
 public:
  explicit Loading(const fs::path& plugin) : folder_(plugin.parent_path()) {}

  // Depth first, so that each library finds its own needs loaded.
  MaybeProblem load_needs(const ElfFile& file) {
    for (const std::string& name : file.needed)
      if (seen_.insert(name).second)
        if (MaybeProblem problem = load_need(name)) return problem;
    return std::nullopt;
  }

  MaybeProblem open(const fs::path& path, shared_library& library) {
    try {
      library.load(path, load_mode::rtld_now | load_mode::rtld_local);
    } catch (const std::exception& error) {
      return load_failure(loader_text(error), path.native());
    }
    return std::nullopt;
  }

 private:
  MaybeProblem load_need(const std::string& name) {
    const fs::path wanted(name);
    const bool bare = !wanted.has_parent_path();
    std::error_code error;
    if (bare ? is_loaded(name) : wanted.is_absolute() && fs::exists(wanted, error)) return std::nullopt;
    const fs::path beside = folder_ / wanted.filename();
    if (fs::exists(beside, error)) return load_beside(beside, name);
    // The program loader would look for it in whatever directory is the current one.
    if (wanted.is_relative() && !bare)
      return Problem{LoadOutcome::Refused, "it needs " + name + ", which is no name but a relative path",
                     "give that library a SONAME, or link it by -l, or put it beside the plugin"};
    return std::nullopt;  // the program loader looks where it looks
  }

  MaybeProblem load_beside(const fs::path& path, const std::string& name) {
    ElfFile file;
    MaybeProblem problem = check_library(path, file);
    if (!problem) problem = load_needs(file);
    shared_library library;
    if (!problem) problem = open(path, library);
    if (problem) {
      problem->cause = "needs " + path.native() + ": " + problem->cause;
      return problem;
    }
    if (file.soname != name) bare_names_.add(library, name);
    keep(std::move(library));
    return std::nullopt;
  }

  const fs::path folder_;
  std::set<std::string> seen_;
  BareNames bare_names_;
};

}  // namespace

MaybeProblem load_plugin_library(const fs::path& path, const ElfFile& file, const plugin::Plugin*& info) {
  Loading loading(path);
  if (MaybeProblem problem = loading.load_needs(file)) return problem;
  shared_library library;
  if (MaybeProblem problem = loading.open(path, library)) return problem;
  try {
    info = &library.get<const plugin::Plugin>(kPluginSymbol);
  } catch (const std::exception& error) {
    return Problem{LoadOutcome::Failed, loader_text(error), {}};
  }
  keep(std::move(library));
  return std::nullopt;
}

}  // namespace backplane::internal
