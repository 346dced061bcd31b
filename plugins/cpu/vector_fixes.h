// SPDX-License-Identifier: Apache-2.0
//
// Where SLEEF 3.5's vector functions are wrong, or give a lane a result that depends on the other lanes; a
// part of vector_math.h. What was found is kept by tests/unit/cpu_vector.
#ifndef BACKPLANE_CPU_VECTOR_FIXES_H_
#define BACKPLANE_CPU_VECTOR_FIXES_H_

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

// Whether a lane of a comparison's result is true.
BACKPLANE_INLINE bool any(Wholes mask) {
#if defined(__AVX512F__)
  return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
  return _mm256_testz_si256((__m256i)mask, (__m256i)mask) == 0;
#elif defined(__x86_64__)
  return _mm_movemask_epi8((__m128i)mask) != 0;
#else
  Whole all = 0;
  for (int64_t i = 0; i < kLanes<Real>; ++i) all |= mask[i];
  return all != 0;
#endif
}

BACKPLANE_INLINE Reals size_of_real(Reals a) {
  constexpr Whole kSignBit = Whole(1) << (BACKPLANE_FLOAT - 1);
  return (Reals)((Wholes)a & ~kSignBit);
}
BACKPLANE_INLINE Reals with_sign(Reals a, Reals sign) {
  constexpr Whole kSignBit = Whole(1) << (BACKPLANE_FLOAT - 1);
  return (Reals)(((Wholes)a & ~kSignBit) | ((Wholes)sign & kSignBit));
}

// From here on 1 + x rounds to x, and so does what else is added below.
constexpr Real kVast = BACKPLANE_FLOAT == 32 ? Real(1 << 30) : Real(int64_t(1) << 60);

// Below this, ln(1 + x), arsinh x and tan x are x.
constexpr Real kTiny = BACKPLANE_FLOAT == 32 ? Real(1e-18) : Real(1e-150);
BP_FN Reals or_itself_if_tiny(Reals result, Reals a) { return size_of_real(a) < kTiny ? a : result; }

// SLEEF overflows near the largest number, where ln(1 + x) is ln x, and makes +0 of the smallest negative
// numbers.
BP_FN Reals bpm_log1p_v(Reals a) {
  const Wholes vast = a > kVast;
  const Reals usual = raw_log1p_v(vast ? Reals{} : a);
  return or_itself_if_tiny(any(vast) ? (vast ? bpm_log_v(a) : usual) : usual, a);
}

// SLEEF squares its argument, and makes +0 of the smallest negative numbers; arsinh x and arcosh x are ln 2x
// in the end.
BP_FN Reals log_of_twice(Reals size) { return bpm_log_v(size) + Real(0.693147180559945309417); }
BP_FN Reals bpm_asinh_v(Reals a) {
  const Reals size = size_of_real(a);
  const Wholes vast = size > kVast;
  const Reals usual = raw_asinh_v(vast ? Reals{} : a);
  return or_itself_if_tiny(any(vast) ? (vast ? with_sign(log_of_twice(size), a) : usual) : usual, a);
}
BP_FN Reals bpm_acosh_v(Reals a) {
  const Wholes vast = a > kVast;
  const Reals usual = raw_acosh_v(vast ? Reals{} + Real(1) : a);
  return any(vast) ? (vast ? log_of_twice(a) : usual) : usual;
}

// SLEEF overflows where e^|x| does; half of it is still finite, and |x| - 1 is exact there.
constexpr Real kLargeExponent = BACKPLANE_FLOAT == 32 ? Real(88) : Real(709);
BP_FN Reals half_exp(Reals size) { return bpm_exp_v(size - Real(1)) * Real(1.35914091422952261768); }
BP_FN Reals bpm_sinh_v(Reals a) {
  const Reals size = size_of_real(a);
  const Wholes large = size > kLargeExponent;
  const Reals usual = raw_sinh_v(large ? Reals{} : a);
  return any(large) ? (large ? with_sign(half_exp(size), a) : usual) : usual;
}
BP_FN Reals bpm_cosh_v(Reals a) {
  const Reals size = size_of_real(a);
  const Wholes large = size > kLargeExponent;
  const Reals usual = raw_cosh_v(large ? Reals{} : a);
  return any(large) ? (large ? half_exp(size) : usual) : usual;
}

// SLEEF reduces the arguments of all lanes by the way that the greatest of them needs: below kNear, below
// kFar (float64 only), and the others. Each kind gets its own call here, with lanes of that kind alone.
constexpr Real kNear = BACKPLANE_FLOAT == 32 ? Real(125) : Real(15);
constexpr Real kFar = BACKPLANE_FLOAT == 32 ? Real(125) : Real(1e14);
template <typename Function>
BACKPLANE_INLINE Reals by_size(Reals a, Function function) {
  const Reals size = size_of_real(a);
  const Wholes near = size < kNear;
  if (!any(~near)) return function(a);
  const Wholes vast = ~(size < kFar);
  const Wholes between = ~near & ~vast;
  Reals result = function(near ? a : Reals{});
  if (any(between)) result = between ? function(between ? a : Reals{} + kNear * 2) : result;
  return any(vast) ? (vast ? function(vast ? a : Reals{} + kFar * 2) : result) : result;
}
BP_FN Reals bpm_sin_v(Reals a) {
  return by_size(a, [](Reals x) { return raw_sin_v(x); });
}
BP_FN Reals bpm_cos_v(Reals a) {
  return by_size(a, [](Reals x) { return raw_cos_v(x); });
}
BP_FN Reals bpm_tan_v(Reals a) {
  return or_itself_if_tiny(by_size(a, [](Reals x) { return raw_tan_v(x); }), a);
}

// SLEEF makes infinity of the greatest number to the power 1.
BP_FN Reals bpm_pow_v(Reals a, Reals b) { return b == Reals{} + Real(1) ? a : raw_pow_v(a, b); }

// SLEEF's remainder is exact while the quotient is small and the divisor far from the smallest numbers. With
// a fused multiply-add the same holds of a - q b, q being the rounded quotient's whole part: q is right or
// one too large, and either way the difference is a number of the type.
#if defined(__FMA__)
BP_FN Reals near_fmod_v(Reals a, Reals b) {
  const Reals size = size_of_real(a), divisor = size_of_real(b);
  const Reals rest = bpm_fma_v(-bpm_trunc_v(size / divisor), divisor, size);
  return with_sign(rest < Real(0) ? rest + divisor : rest, a);
}
#else
BP_FN Reals near_fmod_v(Reals a, Reals b) { return raw_fmod_v(a, b); }
#endif
constexpr Real kSmallQuotient = Real(1 << 20);
constexpr Real kSmallDivisor = BACKPLANE_FLOAT == 32 ? Real(1e-18) : Real(1e-150);
BP_FN Reals bpm_fmod_v(Reals a, Reals b) {
  const Reals divisor = size_of_real(b);
  const Wholes easy = (size_of_real(a) < divisor * kSmallQuotient) & (divisor > kSmallDivisor) &
                      (divisor < Real(1) / kSmallDivisor);
  Reals result = near_fmod_v(easy ? a : Reals{}, easy ? b : Reals{} + Real(1));
  if (!any(~easy)) return result;
  for (int64_t i = 0; i < kLanes<Real>; ++i) {
    if (easy[i] == 0) result[i] = BACKPLANE_SCALAR_MATH(fmod)(a[i], b[i]);
  }
  return result;
}

}  // namespace
}  // namespace backplane::cpu::BACKPLANE_CPU_ISA

#endif  // BACKPLANE_CPU_VECTOR_FIXES_H_
