// SPDX-License-Identifier: Apache-2.0
// float16, bfloat16, and conversions with a stated rounding. Results that are NaN are the canonical ones of
// the PTX ISA: 0x7fffffff for f32, 0x7fff for f16 and bf16.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/decode.h"

namespace cuda_double {

struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};

struct FloatFormat {
  int precision;     // bits of the significand, the hidden one included
  int min_exponent;  // of the smallest normal number, as in 1.m × 2^e
  int max_exponent;
};

inline constexpr FloatFormat kHalfFormat{11, -14, 15};
inline constexpr FloatFormat kBfloatFormat{8, -126, 127};
inline constexpr FloatFormat kFloatFormat{24, -126, 127};
inline constexpr FloatFormat kDoubleFormat{53, -1022, 1023};

// The bits, in `format`, of ±significand × 2^exponent, plus a little more in magnitude where `sticky`.
uint64_t round_to_format(bool negative, uint64_t significand, int exponent, bool sticky,
                         const FloatFormat& format, Rounding rounding);
// Same for a double; infinities and NaN too.
uint64_t round_double(double value, const FloatFormat& format, Rounding rounding);

// The nearest double, but where it is not exact the one with an odd significand: rounding it once more, to a
// format of at most 51 bits, gives what rounding the exact value gives.
double fma_to_odd(double a, double b, double c);

inline float canonical(float value) { return std::isnan(value) ? std::bit_cast<float>(0x7fffffffu) : value; }
inline double canonical(double value) { return value; }

inline float flush(float value) {
  return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0f, value) : value;
}
inline float saturate(float value) { return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f; }
inline double saturate(double value) { return value > 0.0 ? (value < 1.0 ? value : 1.0) : 0.0; }

inline float to_float(Half h) {
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000u) << 16;
  const uint32_t magnitude = h.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
  const float value = static_cast<float>(magnitude) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
}

inline float to_float(Bfloat b) { return std::bit_cast<float>(static_cast<uint32_t>(b.bits) << 16); }

inline Half to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {0x7fff};
  if (magnitude >= 0x477ff000u) return {static_cast<uint16_t>(sign | 0x7c00u)};
  if (magnitude < 0x38800000u) {  // adding 0.5 leaves the multiple of 2^-24 in the low bits, rounded to even
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u))};
  }
  magnitude += 0xfffu + (magnitude >> 13 & 1u);
  return {static_cast<uint16_t>(sign | ((magnitude - (112u << 23)) >> 13))};
}

inline Bfloat to_bfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {0x7fff};
  return {static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

template <class H>
H from_float(float value);
template <>
inline Half from_float<Half>(float value) {
  return to_half(value);
}
template <>
inline Bfloat from_float<Bfloat>(float value) {
  return to_bfloat(value);
}

template <class H>
inline constexpr FloatFormat kFormatOf = kHalfFormat;
template <>
inline constexpr FloatFormat kFormatOf<Bfloat> = kBfloatFormat;

// IEEE 754-2008 minNum and maxNum, with -0 below +0; `keep_nan` gives NaN where either is NaN.
template <class T>
T minimum(T a, T b, bool keep_nan) {
  if (std::isnan(a) || std::isnan(b)) {
    if (keep_nan || (std::isnan(a) && std::isnan(b))) return canonical(std::numeric_limits<T>::quiet_NaN());
    return std::isnan(a) ? b : a;
  }
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <class T>
T maximum(T a, T b, bool keep_nan) {
  if (std::isnan(a) || std::isnan(b)) {
    if (keep_nan || (std::isnan(a) && std::isnan(b))) return canonical(std::numeric_limits<T>::quiet_NaN());
    return std::isnan(a) ? b : a;
  }
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

}  // namespace cuda_double
