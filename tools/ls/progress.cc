// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace backplane::tools {
namespace {

constexpr size_t kWidth = 30;
constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

void draw_progress(size_t done, size_t total, const std::string& what) {
  if (::isatty(STDERR_FILENO) == 0) return;
  if (done == total) {
    fmt::print(stderr, "{}", kEraseLine);
    return;
  }
  const size_t filled = done * kWidth / total;
  fmt::print(stderr, "{}[{}{}] {}/{} {}", kEraseLine, std::string(filled, '#'),
             std::string(kWidth - filled, '.'), done, total, what);
  std::fflush(stderr);
}

}  // namespace backplane::tools
