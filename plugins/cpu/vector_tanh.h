// SPDX-License-Identifier: Apache-2.0
//
// The hyperbolic tangent of a register of floats, inlined, computed in double and so correctly rounded nearly
// always: tanh |x| = -d / (2 + d) with d = e^t - 1 and t = -2 |x|. For t = n ln 2 + r, d is
// 2^n (e^r - 1) + (2^n - 1), which loses no digits near zero; e^r - 1 by its Taylor series, cut where the
// next term is 1/200 unit of a float. Only for files compiled once for each instruction set.
#ifndef BACKPLANE_CPU_VECTOR_TANH_H_
#define BACKPLANE_CPU_VECTOR_TANH_H_

#include "cpu/vector_exp.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

BACKPLANE_INLINE HalfFloats low_half(Vector<float> v) {
#if defined(__AVX512F__)
  return reinterpret_cast<HalfFloats>(_mm512_castps512_ps256(reinterpret_cast<__m512>(v)));
#elif defined(__AVX2__)
  return reinterpret_cast<HalfFloats>(_mm256_castps256_ps128(reinterpret_cast<__m256>(v)));
#else
  HalfFloats half;
  __builtin_memcpy(&half, &v, sizeof half);
  return half;
#endif
}
BACKPLANE_INLINE HalfFloats high_half(Vector<float> v) {
#if defined(__AVX512F__)
  return reinterpret_cast<HalfFloats>(_mm512_extractf32x8_ps(reinterpret_cast<__m512>(v), 1));
#elif defined(__AVX2__)
  return reinterpret_cast<HalfFloats>(_mm256_extractf128_ps(reinterpret_cast<__m256>(v), 1));
#else
  HalfFloats half;
  __builtin_memcpy(&half, reinterpret_cast<const char*>(&v) + sizeof half, sizeof half);
  return half;
#endif
}
BACKPLANE_INLINE Vector<float> join_halves(HalfFloats low, HalfFloats high) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector<float>>(_mm512_insertf32x8(
      _mm512_castps256_ps512(reinterpret_cast<__m256>(low)), reinterpret_cast<__m256>(high), 1));
#elif defined(__AVX2__)
  return reinterpret_cast<Vector<float>>(
      _mm256_set_m128(reinterpret_cast<__m128>(high), reinterpret_cast<__m128>(low)));
#else
  Vector<float> v;
  __builtin_memcpy(&v, &low, sizeof low);
  __builtin_memcpy(reinterpret_cast<char*>(&v) + sizeof low, &high, sizeof high);
  return v;
#endif
}

// tanh of -t / 2, for t <= 0 or NaN.
BACKPLANE_INLINE HalfFloats tanh_half(HalfFloats size) {
  using D = Vector<double>;
  using W = Vector<int64_t>;
  constexpr double kRound = ExpConstants<double>::kRound;
  constexpr int kTerms = 9;
  D t = widen(size) * -2.0;
  // From -40 down the result is 1.
  t = t < -40.0 ? broadcast(-40.0) : t;
  const D shifted = multiply_add_or_fma(t, broadcast(0x1.71547652b82fep0), broadcast(kRound));
  const D n = shifted - kRound;
  const D r = multiply_add_or_fma(n, broadcast(-0x1.62e42fefa39efp-1), t);
  D series = broadcast(kExpSeries[kTerms - 1]);
#pragma GCC unroll 16
  for (int k = kTerms - 2; k >= 1; --k) series = multiply_add_or_fma(series, r, broadcast(kExpSeries[k]));
  const W whole = reinterpret_cast<W>(shifted) - reinterpret_cast<W>(broadcast(kRound));
  const D power =
      reinterpret_cast<D>((whole + ExpConstants<double>::kBias) << ExpConstants<double>::kMantissa);
  const D difference = multiply_add_or_fma(power, series * r, power - 1.0);
  return __builtin_convertvector(-difference / (difference + 2.0), HalfFloats);
}

BACKPLANE_INLINE Vector<float> tanh_of(Vector<float> x) {
  using W = Vector<int32_t>;
  constexpr int32_t kSize = 0x7fffffff;
  const W sign = reinterpret_cast<W>(x) & ~kSize;
  const Vector<float> size = reinterpret_cast<Vector<float>>(reinterpret_cast<W>(x) & kSize);
  const Vector<float> result = join_halves(tanh_half(low_half(size)), tanh_half(high_half(size)));
  return reinterpret_cast<Vector<float>>((reinterpret_cast<W>(result) & kSize) | sign);
}

}  // namespace
}  // namespace backplane::cpu::BACKPLANE_CPU_ISA

#endif  // BACKPLANE_CPU_VECTOR_TANH_H_
