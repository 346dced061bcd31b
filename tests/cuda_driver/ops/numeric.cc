// SPDX-License-Identifier: Apache-2.0
#include "ops/numeric.h"

#include <algorithm>

namespace cuda_double {
namespace {

bool rounds_away(bool negative, bool odd, bool half, bool more, Rounding rounding) {
  switch (rounding) {
    case Rounding::kNone:
    case Rounding::kNearest:
      return half && (more || odd);
    case Rounding::kZero:
      return false;
    case Rounding::kDown:
      return negative && (half || more);
    case Rounding::kUp:
      return !negative && (half || more);
  }
  return false;
}

uint64_t overflow(bool negative, const FloatFormat& format, Rounding rounding, uint64_t sign) {
  const uint64_t infinity = static_cast<uint64_t>(2 * format.max_exponent + 1) << (format.precision - 1);
  const bool to_infinity = rounding == Rounding::kNearest || rounding == Rounding::kNone ||
                           (rounding == Rounding::kUp && !negative) ||
                           (rounding == Rounding::kDown && negative);
  return sign | (to_infinity ? infinity : infinity - 1);
}

int total_bits(const FloatFormat& format) {  // sign, exponent, and significand without the hidden bit
  return format.precision + 64 - std::countl_zero(static_cast<uint64_t>(2 * format.max_exponent + 1));
}

}  // namespace

uint64_t round_to_format(bool negative, uint64_t significand, int exponent, bool sticky,
                         const FloatFormat& format, Rounding rounding) {
  const uint64_t sign = negative ? 1ull << (total_bits(format) - 1) : 0;
  if (significand == 0) return sign;
  const int shift = std::countl_zero(significand);
  significand <<= shift;
  exponent -= shift;
  const int top = exponent + 63;  // the value is 1.m × 2^top
  const int lowest = std::max(top, format.min_exponent) - (format.precision - 1);
  const int drop = lowest - exponent;  // at least 11: the formats have at most 53 bits
  uint64_t kept = drop >= 64 ? 0 : significand >> drop;
  const bool half = drop <= 64 && (significand >> (drop - 1) & 1) != 0;
  const uint64_t below = drop > 64 ? significand : significand & ((1ull << (drop - 1)) - 1);
  kept += rounds_away(negative, (kept & 1) != 0, half, below != 0 || sticky, rounding);
  int biased = std::max(top, format.min_exponent) + format.max_exponent;
  if (kept < 1ull << (format.precision - 1))
    biased = 1;  // subnormal: the missing hidden bit makes it 0 below
  const uint64_t bits = (static_cast<uint64_t>(biased - 1) << (format.precision - 1)) + kept;
  const uint64_t infinity = static_cast<uint64_t>(2 * format.max_exponent + 1) << (format.precision - 1);
  return bits >= infinity ? overflow(negative, format, rounding, sign) : sign | bits;
}

uint64_t round_double(double value, const FloatFormat& format, Rounding rounding) {
  const bool negative = std::signbit(value);
  const uint64_t sign = negative ? 1ull << (total_bits(format) - 1) : 0;
  const uint64_t infinity = static_cast<uint64_t>(2 * format.max_exponent + 1) << (format.precision - 1);
  if (std::isnan(value)) return infinity | ((1ull << (format.precision - 1)) - 1);
  if (std::isinf(value)) return sign | infinity;
  if (value == 0) return sign;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  return round_to_format(negative, static_cast<uint64_t>(std::ldexp(fraction, 53)), exponent - 53, false,
                         format, rounding);
}

double fma_to_odd(double a, double b, double c) {
  // a × b is exact: both have at most 24 bits. Knuth's TwoSum then gives the error of the addition.
  const double product = a * b;
  const double sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double back = sum - product;
  const double error = (product - (sum - back)) + (c - back);
  if (error == 0) return sum;
  const auto bits = std::bit_cast<uint64_t>(sum);
  if ((bits & 1) != 0) return sum;
  const bool away = (error > 0) == (sum > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

}  // namespace cuda_double
