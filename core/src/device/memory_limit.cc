// SPDX-License-Identifier: Apache-2.0
#include "device/memory_limit.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>

#include "loader/environment.h"
#include "loader/log.h"

namespace backplane::internal {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};

constexpr Unit kUnits[] = {
    {"", 1},       {"b", 1},        {"k", 0x1p10},   {"kib", 0x1p10}, {"kb", 1e3},
    {"m", 0x1p20}, {"mib", 0x1p20}, {"mb", 1e6},     {"g", 0x1p30},   {"gib", 0x1p30},
    {"gb", 1e9},   {"t", 0x1p40},   {"tib", 0x1p40}, {"tb", 1e12},
};

std::string unit_text(std::string_view text) {
  std::string unit;
  for (const char c : text)
    if (c != ' ') unit += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return unit;
}

}  // namespace

std::optional<uint64_t> parse_bytes(std::string_view text) noexcept {
  double number = 0;
  const auto parsed =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (parsed.ec != std::errc() || !std::isfinite(number) || std::signbit(number)) return std::nullopt;
  const std::string unit = unit_text(text.substr(static_cast<size_t>(parsed.ptr - text.data())));
  for (const Unit& known : kUnits) {
    if (known.name != unit) continue;
    const double bytes = number * known.bytes;
    return bytes < 0x1p64 ? std::optional(static_cast<uint64_t>(bytes)) : std::nullopt;
  }
  return std::nullopt;
}

uint64_t memory_limit(const RuntimeOptions& options, std::string_view device, std::string_view plugin) {
  for (const std::string_view key : {device, plugin, std::string_view("*")})
    if (const auto found = options.memory_limits.find(std::string(key)); found != options.memory_limits.end())
      return found->second;
  constexpr const char* kVariable = "BACKPLANE_MEMORY_LIMIT";
  const std::string text = environment(kVariable);
  if (text.empty()) return 0;
  if (const auto bytes = parse_bytes(text)) return *bytes;
  log(LogLevel::Warning,
      fmt::format("{} is '{}', which is no number of bytes (\"512MiB\", \"2GiB\"); no limit is set",
                  kVariable, text));
  return 0;
}

}  // namespace backplane::internal
