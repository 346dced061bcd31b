// SPDX-License-Identifier: Apache-2.0
#include "loader/environment.h"

#include <stdlib.h>

#include <algorithm>
#include <atomic>

namespace backplane::internal {
namespace {

std::atomic<bool> ignored{false};

// Independent of the program's locale.
char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

char variable_character(char c) noexcept {
  c = lower(c);
  if (c >= 'a' && c <= 'z') return static_cast<char>(c - 'a' + 'A');
  return c >= '0' && c <= '9' ? c : '_';
}

}  // namespace

void ignore_environment(bool ignore) noexcept { ignored.store(ignore, std::memory_order_relaxed); }

std::string environment(const char* name) {
  if (ignored.load(std::memory_order_relaxed)) return {};
  const char* value = secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool environment_flag(const char* name) {
  std::string value = environment(name);
  std::transform(value.begin(), value.end(), value.begin(), lower);
  constexpr std::string_view kOff[] = {"", "0", "false", "off", "no"};
  return std::find(std::begin(kOff), std::end(kOff), value) == std::end(kOff);
}

std::string environment_name(std::string_view plugin, std::string_view key) {
  std::string name = "BACKPLANE_";
  for (const char c : plugin) name += variable_character(c);
  name += '_';
  for (const char c : key) name += variable_character(c);
  return name;
}

}  // namespace backplane::internal
