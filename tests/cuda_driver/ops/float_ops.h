// SPDX-License-Identifier: Apache-2.0
// Between the files of the floating-point instructions.
#pragma once

#include "ops/decode.h"
#include "ops/numeric.h"

namespace cuda_double {

// Instr::mode of the handlers below: rounding in bits 0 to 2, then ftz, then sat.
constexpr uint8_t float_mode(Rounding rounding, bool ftz, bool sat) {
  return static_cast<uint8_t>(static_cast<int>(rounding) | (ftz ? 8 : 0) | (sat ? 16 : 0));
}
constexpr Rounding mode_rounding(uint8_t mode) { return static_cast<Rounding>(mode & 7); }
constexpr bool mode_ftz(uint8_t mode) { return (mode & 8) != 0; }
constexpr bool mode_sat(uint8_t mode) { return (mode & 16) != 0; }

// add, sub, mul, div, fma, sqrt and rcp with any rounding, flushing and saturation; null for another name.
Handler directed_handler(std::string_view name, bool wide);

void decode_half_arithmetic(Decoding& decoding, Type type);

}  // namespace cuda_double
