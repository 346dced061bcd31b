// SPDX-License-Identifier: Apache-2.0
//
// How much memory the user lets the pool of a device take.
#ifndef BACKPLANE_SRC_DEVICE_MEMORY_LIMIT_H_
#define BACKPLANE_SRC_DEVICE_MEMORY_LIMIT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "backplane/runtime.h"

namespace backplane::internal {

// A number of bytes, with a unit or none: "1000000", "512MiB", "1.5 GiB", "2GB". KiB, MiB, GiB, TiB, and K,
// M, G, T alone, are powers of 1024; KB, MB, GB, TB of 1000; any case. Nothing for anything else.
std::optional<uint64_t> parse_bytes(std::string_view text) noexcept;

// The options' limit for the device's name, its plugin's, or "*"; else BACKPLANE_MEMORY_LIMIT; 0 for none.
uint64_t memory_limit(const RuntimeOptions& options, std::string_view device, std::string_view plugin);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_DEVICE_MEMORY_LIMIT_H_
