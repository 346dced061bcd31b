// SPDX-License-Identifier: Apache-2.0
#include "device/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace backplane::internal {
namespace {

bool is_letter(char c) noexcept { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_name(std::string_view text) noexcept {
  return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '_';
  });
}

std::optional<uint64_t> parse_index(std::string_view text) noexcept {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  if (text[0] == '0' && text.size() > 1) return std::nullopt;
  uint64_t index = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), index);
  return result.ec == std::errc() ? index : UINT64_MAX;
}

}  // namespace

std::optional<Selector> parse_selector(std::string_view text) noexcept {
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  if (!is_name(kind)) return std::nullopt;
  if (colon == std::string_view::npos) return Selector{std::string(kind), 0};
  const auto index = parse_index(text.substr(colon + 1));
  if (!index) return std::nullopt;
  return Selector{std::string(kind), *index};
}

std::string malformed_selector(std::string_view text) {
  constexpr size_t kShown = 64;
  std::string shown;
  for (const char c : text.substr(0, kShown)) {
    if (c >= ' ' && c <= '~')
      shown += c;
    else
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return fmt::format(
      "'{}{}' names no device: expected a plugin's name (\"cpu\"), a name and an index (\"cuda:1\"), \"gpu\" "
      "or "
      "\"gpu:1\"",
      shown, text.size() > kShown ? "..." : "");
}

}  // namespace backplane::internal
