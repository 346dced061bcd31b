// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_PLUGINS_OPENCL_SHA256_H_
#define BACKPLANE_PLUGINS_OPENCL_SHA256_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace backplane::opencl {

using Digest = std::array<uint8_t, 32>;

// FIPS 180-4.
Digest sha256(std::string_view bytes);
std::string hex(const Digest& digest);

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_SHA256_H_
