// SPDX-License-Identifier: Apache-2.0
//
// Where messages go. Thread-safe; nothing here takes a lock.
#ifndef BACKPLANE_SRC_LOADER_LOG_H_
#define BACKPLANE_SRC_LOADER_LOG_H_

#include <functional>
#include <string_view>

#include "backplane/plugin/plugin.h"

namespace backplane::internal {

using LogFunction = std::function<void(plugin::LogLevel, std::string_view)>;

// Sends later messages to `function`, which is kept until the process ends; null: to stderr.
void set_log_function(const LogFunction& function);

// Sends a message to the program's log callback, or to stderr for warnings and errors without one.
void log(plugin::LogLevel level, std::string_view text) noexcept;

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_LOADER_LOG_H_
