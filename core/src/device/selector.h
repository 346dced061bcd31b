// SPDX-License-Identifier: Apache-2.0
//
// The words by which devices are asked for: "cpu", "cuda:1", "gpu:0".
#ifndef BACKPLANE_SRC_DEVICE_SELECTOR_H_
#define BACKPLANE_SRC_DEVICE_SELECTOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane::internal {

struct Selector {
  std::string kind;  // a plugin's name, or "gpu"
  uint64_t index = 0;
};

inline constexpr std::string_view kAnyGpu = "gpu";
inline constexpr std::string_view kCpu = "cpu";

// A name of lower-case letters, digits and '_' that starts with a letter, then perhaps ':' and a decimal
// number without leading zeros (one too large for 64 bits counts as UINT64_MAX: no such device). Nothing for
// anything else.
std::optional<Selector> parse_selector(std::string_view text) noexcept;

// The error for a malformed selector: shows it, made printable and cut, and the forms expected.
std::string malformed_selector(std::string_view text);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_DEVICE_SELECTOR_H_
