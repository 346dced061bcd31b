// SPDX-License-Identifier: Apache-2.0
#include "backplane/dtype.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace backplane::inline v0 {
namespace {

constexpr const char* kNames[plugin::kDTypeCount] = {
    "bool",   "int8",   "int16",   "int32",    "int64",   "uint8",   "uint16",
    "uint32", "uint64", "float16", "bfloat16", "float32", "float64",
};

constexpr DType promote_floating(DType a, DType b) noexcept {
  if (a == b) return a;
  // float16 and bfloat16 each hold values that the other does not.
  return std::max({a, b, DType::Float32});
}

constexpr DType promote_mixed_sign(DType signed_type, DType unsigned_type) noexcept {
  if (size_of(signed_type) > size_of(unsigned_type)) return signed_type;
  switch (unsigned_type) {
    case DType::UInt8:
      return DType::Int16;
    case DType::UInt16:
      return DType::Int32;
    case DType::UInt32:
      return DType::Int64;
    default:
      return DType::Float64;
  }
}

// Mantissas are rounded to nearest, ties to even, by adding just under half of the last place that stays.
constexpr uint32_t round_shift(uint32_t value, uint32_t shift) noexcept {
  const uint32_t odd = (value >> shift) & 1;
  return (value + (1u << (shift - 1)) - 1 + odd) >> shift;
}

}  // namespace

const char* to_string(DType type) noexcept {
  const auto index = static_cast<uint32_t>(type);
  return index < plugin::kDTypeCount ? kNames[index] : "unknown";
}

std::optional<DType> dtype_from_string(std::string_view name) noexcept {
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<DType>(found - std::begin(kNames));
}

DType promote_types(DType a, DType b) noexcept {
  if (a > b) std::swap(a, b);
  if (a == b || a == DType::Bool) return b;
  if (is_floating(b)) return is_floating(a) ? promote_floating(a, b) : b;
  if (is_signed_integer(a) == is_signed_integer(b)) return b;
  return promote_mixed_sign(a, b);
}

Half to_half(float value) noexcept {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  constexpr uint32_t kInfinity = 0x7f800000, kOverflow = 0x47800000 /* 2^16 */,
                     kNormal = 0x38800000 /* 2^-14 */;
  uint32_t half = 0;
  if (magnitude > kInfinity) {
    half = 0x7e00 | ((magnitude >> 13) & 0x1ff);
  } else if (magnitude >= kOverflow) {
    half = 0x7c00;
  } else if (magnitude >= kNormal) {
    half = round_shift(magnitude - 0x38000000,
                       13);  // rebias the exponent from 127 to 15; may round up to infinity
  } else if (const uint32_t shift = 126 - (magnitude >> 23); shift <= 24) {
    half = round_shift((magnitude & 0x7fffff) | 0x800000, shift);  // in units of 2^-24, the smallest denormal
  }
  return {static_cast<uint16_t>(sign | half)};
}

float to_float(Half value) noexcept {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000) << 16;
  const uint32_t exponent = (value.bits >> 10) & 0x1f;
  const uint32_t mantissa = value.bits & 0x3ff;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  const uint32_t rebiased = exponent == 0x1f ? 0xff : exponent + 112;
  return std::bit_cast<float>(sign | (rebiased << 23) | (mantissa << 13));
}

BFloat16 to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return {static_cast<uint16_t>((bits >> 16) | 0x40)};
  return {static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

}  // namespace backplane::inline v0
