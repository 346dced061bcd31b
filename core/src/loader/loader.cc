// SPDX-License-Identifier: Apache-2.0
#include "loader/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <string_view>

#include "backplane/error.h"
#include "loader/discovery.h"
#include "loader/host_info.h"
#include "loader/library.h"
#include "loader/log.h"
#include "loader/plugin_file.h"

namespace backplane::internal {
namespace {

namespace fs = std::filesystem;

// What a plugin must have filled in, whatever its minor version.
constexpr size_t kOldestPluginSize = offsetof(plugin::Plugin, create) + sizeof(plugin::Plugin::create);

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_valid_name(std::string_view name) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto other = [](char c) { return (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= 32 && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || other(c); });
}

Problem failed(std::string cause, std::string remedy = {}) {
  return {LoadOutcome::Failed, std::move(cause), std::move(remedy)};
}

MaybeProblem check_info(const plugin::Plugin& info) {
  // Other majors may have other fields: nothing past the numbers is read of them.
  if (MaybeProblem problem = check_abi(info.abi_major, info.abi_minor)) return problem;
  if (info.struct_size < kOldestPluginSize)
    return failed(fmt::format("its backplane_plugin says that it has {} bytes; the least is {}",
                              info.struct_size, kOldestPluginSize),
                  "set struct_size to sizeof(backplane::plugin::Plugin)");
  if (info.name == nullptr || !is_valid_name(info.name))
    return failed(
        fmt::format("its name is {}", info.name == nullptr ? "null" : fmt::format("'{:.64}'", info.name)),
        "a plugin's name has at most 32 lower-case letters, digits and '_', and starts with a letter");
  if (std::string_view(info.name) == "gpu")
    return failed("its name is 'gpu', which means the GPUs of all plugins", "give the plugin another name");
  if (info.create == nullptr) return failed("its create function is null");
  return std::nullopt;
}

std::string create_failure(const plugin::Status& status) {
  const std::string_view text = status.message == nullptr ? "" : status.message;
  std::string cause =
      text.empty() ? fmt::format("create failed: {}", to_string(status.code)) : std::string(text);
  if (status.vendor_code != 0) cause += fmt::format(" (driver's code {})", status.vendor_code);
  return cause;
}

// Called through a type that may throw: a plugin in another language, or one that broke its word, might.
MaybeProblem create_backend(const plugin::Plugin& info, const plugin::HostInfo& host,
                            plugin::Backend*& backend) {
  plugin::Status (*create)(const plugin::HostInfo*, plugin::Backend**) = info.create;
  try {
    const plugin::Status status = create(&host, &backend);
    if (!status.ok()) {
      backend = nullptr;
      return failed(create_failure(status));
    }
  } catch (const std::exception& error) {
    return failed(fmt::format("create threw an exception: {}", error.what()));
  } catch (...) {
    return failed("create threw an exception of unknown type");
  }
  if (backend == nullptr) return failed("create said Ok and made no backend");
  return std::nullopt;
}

class Loader {
 public:
  explicit Loader(const RuntimeOptions& options) : options_(options) {}

  LoadResult run() {
    result_.folders = search_folders(options_, result_.report);
    for (const fs::path& folder : result_.folders)
      for (const fs::path& file : candidates(folder, result_.report)) add(file);
    explain_needed_libraries();
    return std::move(result_);
  }

 private:
  void add(const fs::path& path) {
    FileReport row;
    row.path = path;
    LoadedPlugin loaded;
    if (const MaybeProblem problem = load(path, row, loaded)) {
      row.outcome = problem->outcome;
      row.cause = problem->cause;
      row.remedy = problem->remedy;
      log(LogLevel::Info, fmt::format("{}: {}: {}", path.native(), to_string(row.outcome), row.cause));
    } else {
      row.outcome = LoadOutcome::Loaded;
      loaded.report_row = result_.report.size();
      result_.plugins.push_back(std::move(loaded));
      log(LogLevel::Info, fmt::format("{}: loaded plugin {} {}", path.native(), row.name, row.version));
    }
    result_.report.push_back(std::move(row));
  }

  MaybeProblem load(const fs::path& path, FileReport& row, LoadedPlugin& loaded) {
    PluginPreview preview;
    if (MaybeProblem problem = check_plugin(path, preview)) return problem;
    for (const std::string& library : preview.file.needed)
      needed_by_.emplace(path.parent_path() / library, path.filename().native());
    // Where the name is known beforehand, a plugin that is not wanted is not even loaded.
    row.name = preview.name;
    if (!preview.name.empty())
      if (MaybeProblem problem = check_wanted(preview.name)) return problem;
    const plugin::Plugin* info = nullptr;
    if (MaybeProblem problem = load_plugin_library(path, preview.file, info)) return problem;
    if (MaybeProblem problem = check_info(*info)) return problem;
    row.name = info->name;
    row.version = info->version == nullptr ? "" : info->version;
    row.compiler = info->compiler == nullptr ? "" : info->compiler;
    if (MaybeProblem problem = check_wanted(row.name)) return problem;

    loaded.info = info;
    loaded.host = &make_host(row.name, options_);
    if (MaybeProblem problem = create_backend(*info, *loaded.host, loaded.backend)) return problem;
    loaded.name = row.name;
    loaded.version = row.version;
    loaded.abi_minor = info->abi_minor;
    loaded.priority = info->priority;
    return std::nullopt;
  }

  // A library that lies beside the plugin that needs it is no failed plugin.
  void explain_needed_libraries() {
    for (FileReport& row : result_.report) {
      const auto user = needed_by_.find(row.path);
      if (user != needed_by_.end() && row.cause.starts_with("not a plugin"))
        row.cause = fmt::format("not a plugin, but a library that {} needs", user->second);
    }
  }

  MaybeProblem check_wanted(const std::string& name) const {
    if (contains(options_.deny, name))
      return Problem{LoadOutcome::Refused, fmt::format("the program's options deny plugin {}", name), {}};
    if (!options_.allow.empty() && !contains(options_.allow, name))
      return Problem{
          LoadOutcome::Refused, fmt::format("the program's options do not allow plugin {}", name), {}};
    for (const LoadedPlugin& other : result_.plugins)
      if (other.name == name)
        return Problem{LoadOutcome::Shadowed,
                       fmt::format("plugin {} was already loaded from {}", name,
                                   result_.report[other.report_row].path.native()),
                       {}};
    return std::nullopt;
  }

  const RuntimeOptions& options_;
  LoadResult result_;
  std::map<fs::path, std::string> needed_by_;  // libraries beside plugins, by path
};

}  // namespace

LoadResult load_plugins(const RuntimeOptions& options) { return Loader(options).run(); }

}  // namespace backplane::internal
