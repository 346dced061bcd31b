// SPDX-License-Identifier: Apache-2.0
//
// The exponential of a register, inlined. Within 1 unit in the last place, denormal results included; e^x =
// 2^n e^r with |r| <= ln(2)/2, and e^r by its Taylor series, cut where the next term is a small part of a
// unit. ln(2) is taken off in two parts, the first of which has so few digits that n times it is exact (W. J.
// Cody, W. Waite, Software Manual for the Elementary Functions, 1980); what rounding r loses is added at the
// end. Only for files compiled once for each instruction set.
#ifndef BACKPLANE_CPU_VECTOR_EXP_H_
#define BACKPLANE_CPU_VECTOR_EXP_H_

#include "cpu/vector.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

template <typename T>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  using Bits = int32_t;
  static constexpr float kLowest = -104.0f;  // its exponential, and any below, is 0
  static constexpr float kHighest = 89.0f;   // infinity, likewise
  static constexpr float kLowestNormal = -86.0f;
  static constexpr float kLn2High = 0x1.63p-1f;
  static constexpr float kLn2Low = static_cast<float>(0x1.62e42fefa39efp-1 - 0x1.63p-1);
  static constexpr float kRound = 0x1.8p23f;  // adding it leaves a whole number in the low bits
  static constexpr int kMantissa = 23;
  static constexpr int kBias = 127;
  static constexpr int kTerms = 8;
};

template <>
struct ExpConstants<double> {
  using Bits = int64_t;
  static constexpr double kLowest = -746.0;
  static constexpr double kHighest = 710.0;
  static constexpr double kLowestNormal = -707.0;
  static constexpr double kLn2High = 0x1.62e42feep-1;
  static constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  static constexpr double kRound = 0x1.8p52;
  static constexpr int kMantissa = 52;
  static constexpr int kBias = 1023;
  static constexpr int kTerms = 14;
};

// 1 / k!
constexpr double kExpSeries[] = {1.0,
                                 1.0,
                                 1.0 / 2,
                                 1.0 / 6,
                                 1.0 / 24,
                                 1.0 / 120,
                                 1.0 / 720,
                                 1.0 / 5040,
                                 1.0 / 40320,
                                 1.0 / 362880,
                                 1.0 / 3628800,
                                 1.0 / 39916800,
                                 1.0 / 479001600,
                                 1.0 / 6227020800.0};

template <typename V>
BACKPLANE_INLINE V multiply_add_or_fma(V a, V b, V c) {
#if defined(__AVX512F__)
  if constexpr (sizeof(a[0]) == 4) {
    return reinterpret_cast<V>(_mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b),
                                               reinterpret_cast<__m512>(c)));
  } else {
    return reinterpret_cast<V>(_mm512_fmadd_pd(reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(b),
                                               reinterpret_cast<__m512d>(c)));
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(a[0]) == 4) {
    return reinterpret_cast<V>(_mm256_fmadd_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b),
                                               reinterpret_cast<__m256>(c)));
  } else {
    return reinterpret_cast<V>(_mm256_fmadd_pd(reinterpret_cast<__m256d>(a), reinterpret_cast<__m256d>(b),
                                               reinterpret_cast<__m256d>(c)));
  }
#else
  return a * b + c;
#endif
}

// e^x = 2^n times `power`; n stands in the low bits of `shifted`, whose own bits vanish when it moves to
// where an exponent is.
template <typename T>
struct ExpParts {
  Vector<T> power, shifted;
};

// For x from kLowest to kHighest.
template <typename T>
BACKPLANE_INLINE ExpParts<T> exp_parts(Vector<T> x) {
  using C = ExpConstants<T>;
  using V = Vector<T>;
  const V shifted =
      multiply_add_or_fma(x, broadcast(static_cast<T>(0x1.71547652b82fep0)), broadcast(C::kRound));
  const V n = shifted - C::kRound;
  const V high = multiply_add_or_fma(n, broadcast(-C::kLn2High), x);
  const V low = n * broadcast(-C::kLn2Low);
  const V r = high + low;
  const V lost = (high - r) + low;
  V series = broadcast(static_cast<T>(kExpSeries[C::kTerms - 1]));
#pragma GCC unroll 16
  for (int k = C::kTerms - 2; k >= 2; --k)
    series = multiply_add_or_fma(series, r, broadcast(static_cast<T>(kExpSeries[k])));
  return {(multiply_add_or_fma(r * r, series, lost) + r) + static_cast<T>(1), shifted};
}

#if defined(__AVX512F__)
// a * 2^n for whole n, rounded once.
BACKPLANE_INLINE Vector<float> times_power_of_two(Vector<float> a, Vector<float> n) {
  return reinterpret_cast<Vector<float>>(
      _mm512_scalef_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(n)));
}
BACKPLANE_INLINE Vector<double> times_power_of_two(Vector<double> a, Vector<double> n) {
  return reinterpret_cast<Vector<double>>(
      _mm512_scalef_pd(reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(n)));
}
#endif

template <typename T>
BACKPLANE_INLINE Vector<T> exp_of(Vector<T> x) {
  using C = ExpConstants<T>;
  using V = Vector<T>;
  using W [[maybe_unused]] = Vector<typename C::Bits>;
  // A NaN is neither below nor above, and goes through.
  x = smaller_of(broadcast(C::kHighest), greater_of(broadcast(C::kLowest), x));
  const ExpParts<T> parts = exp_parts<T>(x);
#if defined(__AVX512F__)
  const V n = parts.shifted - C::kRound;
  return times_power_of_two(parts.power, n);
#else
  const W whole = reinterpret_cast<W>(parts.shifted) - reinterpret_cast<W>(broadcast(C::kRound));
  // In two steps: 2^n itself may be no number while the result is one.
  const W half = whole >> 1;
  const V first = reinterpret_cast<V>((half + C::kBias) << C::kMantissa);
  const V second = reinterpret_cast<V>((whole - half + C::kBias) << C::kMantissa);
  return parts.power * first * second;
#endif
}

// The same bits for x from kLowestNormal to 0, where results are normal numbers.
template <typename T>
BACKPLANE_INLINE Vector<T> exp_of_negative(Vector<T> x) {
  using C = ExpConstants<T>;
  using W = Vector<typename C::Bits>;
  const ExpParts<T> parts = exp_parts<T>(x);
  return reinterpret_cast<Vector<T>>(reinterpret_cast<W>(parts.power) +
                                     (reinterpret_cast<W>(parts.shifted) << C::kMantissa));
}

}  // namespace
}  // namespace backplane::cpu::BACKPLANE_CPU_ISA

#endif  // BACKPLANE_CPU_VECTOR_EXP_H_
