// SPDX-License-Identifier: Apache-2.0
#include "loader/discovery.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

#include "loader/environment.h"
#include "loader/plugin_file.h"

namespace backplane::internal {
namespace {

namespace fs = std::filesystem;

FileReport row(const fs::path& path, const Problem& problem) {
  FileReport report;
  report.path = path;
  report.outcome = problem.outcome;
  report.cause = problem.cause;
  report.remedy = problem.remedy;
  return report;
}

// The file that this code was loaded from. The kernel knows its absolute path, where the program loader may
// know only one relative to a directory that is no longer the current one.
fs::path own_library() {
  const auto here = reinterpret_cast<uintptr_t>(&own_library);
  std::ifstream maps("/proc/self/maps");
  // Each line: "start-end mode offset device inode      path".
  for (std::string line; std::getline(maps, line);) {
    uintptr_t start = 0, end = 0;
    const char* last = line.data() + line.size();
    const auto dash = std::from_chars(line.data(), last, start, 16);
    if (dash.ptr == last) continue;
    std::from_chars(dash.ptr + 1, last, end, 16);
    if (here < start || here >= end) continue;
    const size_t path = line.find('/');
    return path == std::string::npos ? fs::path() : fs::path(line.substr(path));
  }
  return {};
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  for (size_t end; (end = text.find(separator, start)) != std::string::npos; start = end + 1)
    parts.push_back(text.substr(start, end - start));
  parts.push_back(text.substr(start));
  return parts;
}

class Folders {
 public:
  explicit Folders(std::vector<FileReport>& report) : report_(report) {}

  // `source` is what the folder was given by.
  void add(const fs::path& folder, const std::string& source) {
    if (folder.empty()) {
      refuse(folder, "an empty entry in " + source);
    } else if (folder.is_relative()) {
      refuse(folder, "a relative path in " + source);
    } else if (std::none_of(folders.begin(), folders.end(),
                            [&folder](const fs::path& known) { return same(known, folder); })) {
      folders.push_back(folder);
    }
  }

  std::vector<fs::path> folders;

 private:
  static bool same(const fs::path& a, const fs::path& b) {
    std::error_code error;
    return a == b || fs::equivalent(a, b, error);
  }

  void refuse(const fs::path& folder, const std::string& cause) {
    report_.push_back(row(folder, {LoadOutcome::Refused, cause, "give absolute paths"}));
  }

  std::vector<FileReport>& report_;
};

}  // namespace

std::vector<fs::path> search_folders(const RuntimeOptions& options, std::vector<FileReport>& report) {
  Folders folders(report);
  for (const fs::path& folder : options.plugin_folders) folders.add(folder, "RuntimeOptions::plugin_folders");
  const std::string path = environment("BACKPLANE_PLUGIN_PATH");
  if (!path.empty())
    for (const std::string& folder : split(path, ':')) folders.add(folder, "BACKPLANE_PLUGIN_PATH");
  const fs::path library = options.default_folder ? own_library() : fs::path();
  if (!library.empty())
    folders.add(library.parent_path() / "backplane" / "plugins", "the library's own path");
  return std::move(folders.folders);
}

std::vector<fs::path> candidates(const fs::path& folder, std::vector<FileReport>& report) {
  if (const MaybeProblem problem = check_folder(folder)) {
    report.push_back(row(folder, *problem));
    return {};
  }
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".so" || entry->path().filename() == ".so")
      files.push_back(entry->path());
  if (error)
    report.push_back(row(folder, {LoadOutcome::Failed, "cannot be read: " + error.message(),
                                  "chmod a+rX " + folder.native() + ", and the folders above it"}));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace backplane::internal
