// SPDX-License-Identifier: Apache-2.0
#include "loader/log.h"

#include <unistd.h>

#include <atomic>
#include <exception>
#include <string>

namespace backplane::internal {
namespace {

// Never freed: plugins may still log while the process exits.
std::atomic<const LogFunction*> sink{nullptr};

// One write, so that lines of several threads do not mix.
void write_to_stderr(plugin::LogLevel level, std::string_view text) {
  std::string line = level == plugin::LogLevel::Error ? "backplane: error: " : "backplane: warning: ";
  line.append(text).push_back('\n');
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

void set_log_function(const LogFunction& function) {
  sink.store(function ? new LogFunction(function) : nullptr, std::memory_order_release);
}

void log(plugin::LogLevel level, std::string_view text) noexcept {
  const LogFunction* function = sink.load(std::memory_order_acquire);
  try {
    if (function != nullptr)
      (*function)(level, text);
    else if (level >= plugin::LogLevel::Warning)
      write_to_stderr(level, text);
  } catch (
      ...) {  // NOLINT(bugprone-empty-catch): a message that cannot be delivered has nowhere to be reported
  }
}

}  // namespace backplane::internal
