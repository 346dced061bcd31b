// SPDX-License-Identifier: Apache-2.0
//
// Reading the small files of /proc and /sys.
#ifndef BACKPLANE_CPU_HOST_FILES_H_
#define BACKPLANE_CPU_HOST_FILES_H_

#include <dirent.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace backplane::cpu {

inline std::optional<std::string> read_text(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return std::nullopt;
  std::string text;
  char part[4096];
  for (size_t n; (n = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, n);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) return std::nullopt;
  return text;
}

// A file that starts with a decimal number; nothing for "max" and the like.
inline std::optional<int64_t> read_number(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return std::nullopt;
  char* end = nullptr;
  const long long value = std::strtoll(text->c_str(), &end, 10);
  if (end == text->c_str()) return std::nullopt;
  return value;
}

// Names in a folder that start with `prefix`, sorted; empty where it cannot be read.
inline std::vector<std::string> list_folder(const std::string& path, const std::string& prefix) {
  std::vector<std::string> names;
  DIR* const folder = opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder)) {
    if (std::string(entry->d_name).rfind(prefix, 0) == 0) names.emplace_back(entry->d_name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_HOST_FILES_H_
