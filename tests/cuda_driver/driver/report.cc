// SPDX-License-Identifier: Apache-2.0
#include "driver/report.h"

#include <cstdio>
#include <mutex>

namespace cuda_double {
namespace {

struct Log {
  std::mutex mutex;
  std::vector<std::string> lines;
  std::string file;
};
Log& log() {
  static Log* instance = new Log;
  return *instance;
}

}  // namespace

void report(const std::string& what) {
  const std::lock_guard lock(log().mutex);
  log().lines.push_back(what);
  std::fprintf(stderr, "CUDA test double: %s\n", what.c_str());
  if (log().file.empty()) return;
  if (std::FILE* file = std::fopen(log().file.c_str(), "a")) {
    std::fprintf(file, "%s\n", what.c_str());
    std::fclose(file);
  }
}

std::vector<std::string> reports() {
  const std::lock_guard lock(log().mutex);
  return log().lines;
}

void clear_reports() {
  const std::lock_guard lock(log().mutex);
  log().lines.clear();
}

void set_report_file(const std::string& path) {
  const std::lock_guard lock(log().mutex);
  log().file = path;
}

}  // namespace cuda_double
