// SPDX-License-Identifier: Apache-2.0
//
// The one place that reads environment variables. Thread-safe.
#ifndef BACKPLANE_SRC_LOADER_ENVIRONMENT_H_
#define BACKPLANE_SRC_LOADER_ENVIRONMENT_H_

#include <string>
#include <string_view>

namespace backplane::internal {

// From now on environment() answers as if nothing were set.
void ignore_environment(bool ignore) noexcept;

// An environment variable as secure_getenv gives it; empty when unset or when the options say to ignore the
// environment.
std::string environment(const char* name);

// An environment flag: "0", "false", "off", "no" (any case) and empty are off, everything else is on.
bool environment_flag(const char* name);

// "BACKPLANE_CPU_DEVICES" of "cpu" and "devices": upper case, '_' for all but letters and digits.
std::string environment_name(std::string_view plugin, std::string_view key);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_LOADER_ENVIRONMENT_H_
