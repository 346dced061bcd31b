// SPDX-License-Identifier: Apache-2.0
//
// The prelude of the shared formulas for vectors of float or double: BACKPLANE_FLOAT is 32 or 64. SLEEF's
// functions are the ones bounded by 1 ULP (erfc: 1.5); where it is missing, or wrong (see vector_fixes.h),
// the C library's serve lane by lane. The exponential, and tanh of float, are this project's own, inlined.
// Only for files compiled once for each instruction set; see isa.h.
#ifndef BACKPLANE_CPU_VECTOR_MATH_H_
#define BACKPLANE_CPU_VECTOR_MATH_H_

#include "backplane/kernels/prelude.h"
#include "cpu/vector.h"
#include "cpu/vector_exp.h"
#if BACKPLANE_FLOAT == 32
#include "cpu/vector_tanh.h"
#endif

#if defined(BACKPLANE_HAVE_SLEEF)
#include <sleef.h>
#endif

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

#if BACKPLANE_FLOAT == 32
using Real = float;
using Whole = int32_t;
#define BACKPLANE_SCALAR_MATH(name) bpm_##name##_f32
#else
using Real = double;
using Whole = int64_t;
#define BACKPLANE_SCALAR_MATH(name) bpm_##name##_f64
#endif
using Reals = Vector<Real>;
using Wholes = Vector<Whole>;

// SLEEF's vector type and the middle and end of its names, `Sleef_exp` + `f8_` + `u10` + `avx2`.
#if defined(__AVX512F__) && BACKPLANE_FLOAT == 32
using Native = __m512;
#define BACKPLANE_SLEEF(name, ulp) Sleef_##name##f16_##ulp##avx512f
#elif defined(__AVX512F__)
using Native = __m512d;
#define BACKPLANE_SLEEF(name, ulp) Sleef_##name##d8_##ulp##avx512f
#elif defined(__AVX2__) && BACKPLANE_FLOAT == 32
using Native = __m256;
#define BACKPLANE_SLEEF(name, ulp) Sleef_##name##f8_##ulp##avx2
#elif defined(__AVX2__)
using Native = __m256d;
#define BACKPLANE_SLEEF(name, ulp) Sleef_##name##d4_##ulp##avx2
#elif defined(__x86_64__) && BACKPLANE_FLOAT == 32
using Native = __m128;
#define BACKPLANE_SLEEF(name, ulp) Sleef_##name##f4_##ulp##sse2
#elif defined(__x86_64__)
using Native = __m128d;
#define BACKPLANE_SLEEF(name, ulp) Sleef_##name##d2_##ulp##sse2
#elif BACKPLANE_FLOAT == 32
using Native = float32x4_t;
#define BACKPLANE_SLEEF(name, ulp) Sleef_##name##f4_##ulp##advsimd
#else
using Native = float64x2_t;
#define BACKPLANE_SLEEF(name, ulp) Sleef_##name##d2_##ulp##advsimd
#endif

#define BACKPLANE_LANES_1(prefix, name)                                                  \
  BP_FN Reals prefix##name##_v(Reals a) {                                                \
    Reals r;                                                                             \
    for (int64_t i = 0; i < kLanes<Real>; ++i) r[i] = BACKPLANE_SCALAR_MATH(name)(a[i]); \
    return r;                                                                            \
  }
#define BACKPLANE_LANES_2(prefix, name)                                                        \
  BP_FN Reals prefix##name##_v(Reals a, Reals b) {                                             \
    Reals r;                                                                                   \
    for (int64_t i = 0; i < kLanes<Real>; ++i) r[i] = BACKPLANE_SCALAR_MATH(name)(a[i], b[i]); \
    return r;                                                                                  \
  }
#if defined(BACKPLANE_HAVE_SLEEF)
#define BACKPLANE_MATH_1(prefix, name, ulp) \
  BP_FN Reals prefix##name##_v(Reals a) { return (Reals)BACKPLANE_SLEEF(name, ulp)((Native)a); }
#define BACKPLANE_MATH_2(prefix, name, ulp)                         \
  BP_FN Reals prefix##name##_v(Reals a, Reals b) {                  \
    return (Reals)BACKPLANE_SLEEF(name, ulp)((Native)a, (Native)b); \
  }
#else
#define BACKPLANE_MATH_1(prefix, name, ulp) BACKPLANE_LANES_1(prefix, name)
#define BACKPLANE_MATH_2(prefix, name, ulp) BACKPLANE_LANES_2(prefix, name)
#endif

// bpm_ is what the formulas call; raw_ needs one of the corrections of vector_fixes.h.
BACKPLANE_MATH_2(raw_, pow, u10)
BACKPLANE_MATH_2(bpm_, atan2, u10)
BACKPLANE_MATH_2(bpm_, hypot, u05)
BP_FN Reals bpm_exp_v(Reals a) { return exp_of<Real>(a); }
BACKPLANE_MATH_1(bpm_, expm1, u10)
BACKPLANE_MATH_1(bpm_, exp2, u10)
BACKPLANE_MATH_1(bpm_, log, u10)
BACKPLANE_MATH_1(raw_, log1p, u10)
BACKPLANE_MATH_1(bpm_, log2, u10)
BACKPLANE_MATH_1(bpm_, log10, u10)
BACKPLANE_MATH_1(raw_, sin, u10)
BACKPLANE_MATH_1(raw_, cos, u10)
BACKPLANE_MATH_1(raw_, tan, u10)
BACKPLANE_MATH_1(bpm_, asin, u10)
BACKPLANE_MATH_1(bpm_, acos, u10)
BACKPLANE_MATH_1(bpm_, atan, u10)
BACKPLANE_MATH_1(raw_, sinh, u10)
BACKPLANE_MATH_1(raw_, cosh, u10)
#if BACKPLANE_FLOAT == 32
BP_FN Reals bpm_tanh_v(Reals a) { return tanh_of(a); }
#else
BACKPLANE_MATH_1(bpm_, tanh, u10)
#endif
BACKPLANE_MATH_1(raw_, asinh, u10)
BACKPLANE_MATH_1(raw_, acosh, u10)
BACKPLANE_MATH_1(bpm_, atanh, u10)
BACKPLANE_MATH_1(bpm_, erf, u10)
BACKPLANE_MATH_1(bpm_, erfc, u15)
BACKPLANE_MATH_1(bpm_, lgamma, u10)
BACKPLANE_MATH_2(raw_, fmod, )

BP_FN Reals bpm_divide_v(Reals a, Reals b) { return a / b; }

#if defined(__AVX512F__) && BACKPLANE_FLOAT == 32
#define BACKPLANE_NATIVE(name) _mm512_##name##_ps
#elif defined(__AVX512F__)
#define BACKPLANE_NATIVE(name) _mm512_##name##_pd
#elif defined(__AVX2__) && BACKPLANE_FLOAT == 32
#define BACKPLANE_NATIVE(name) _mm256_##name##_ps
#elif defined(__AVX2__)
#define BACKPLANE_NATIVE(name) _mm256_##name##_pd
#elif defined(__x86_64__) && BACKPLANE_FLOAT == 32
#define BACKPLANE_NATIVE(name) _mm_##name##_ps
#elif defined(__x86_64__)
#define BACKPLANE_NATIVE(name) _mm_##name##_pd
#endif

#if defined(__x86_64__)
BP_FN Reals bpm_sqrt_v(Reals a) { return (Reals)BACKPLANE_NATIVE(sqrt)((Native)a); }
#else
BACKPLANE_LANES_1(bpm_, sqrt)
#endif

#if defined(__FMA__)
BP_FN Reals bpm_fma_v(Reals a, Reals b, Reals c) {
  return (Reals)BACKPLANE_NATIVE(fmadd)((Native)a, (Native)b, (Native)c);
}
#else
BP_FN Reals bpm_fma_v(Reals a, Reals b, Reals c) {
  Reals r;
  for (int64_t i = 0; i < kLanes<Real>; ++i) r[i] = BACKPLANE_SCALAR_MATH(fma)(a[i], b[i], c[i]);
  return r;
}
#endif

#if defined(__AVX512F__)
#define BACKPLANE_ROUND(a, mode) (Reals) BACKPLANE_NATIVE(roundscale)((Native)(a), (mode) | _MM_FROUND_NO_EXC)
#elif defined(__AVX2__)
#define BACKPLANE_ROUND(a, mode) (Reals) BACKPLANE_NATIVE(round)((Native)(a), (mode) | _MM_FROUND_NO_EXC)
#endif
#if defined(BACKPLANE_ROUND)
BP_FN Reals bpm_floor_v(Reals a) { return BACKPLANE_ROUND(a, _MM_FROUND_TO_NEG_INF); }
BP_FN Reals bpm_ceil_v(Reals a) { return BACKPLANE_ROUND(a, _MM_FROUND_TO_POS_INF); }
BP_FN Reals bpm_trunc_v(Reals a) { return BACKPLANE_ROUND(a, _MM_FROUND_TO_ZERO); }
BP_FN Reals bpm_rint_v(Reals a) { return BACKPLANE_ROUND(a, _MM_FROUND_TO_NEAREST_INT); }
#else
// From 2^23 (2^52) up every number is whole; below, adding that much leaves no room for digits after the
// point.
constexpr Real kWholeFrom = BACKPLANE_FLOAT == 32 ? Real(8388608) : Real(4503599627370496);
constexpr Whole kSign = Whole(1) << (BACKPLANE_FLOAT - 1);
BP_FN Reals with_sign_of(Reals a, Reals b) { return (Reals)(((Wholes)a & ~kSign) | ((Wholes)b & kSign)); }
BP_FN Reals bpm_rint_v(Reals a) {
  const Reals size = (Reals)((Wholes)a & ~kSign);
  const Reals whole = with_sign_of((size + kWholeFrom) - kWholeFrom, a);
  return size < kWholeFrom ? whole : a;
}
BP_FN Reals bpm_floor_v(Reals a) {
  const Reals near = bpm_rint_v(a);
  return with_sign_of(near > a ? near - Real(1) : near, a);
}
BP_FN Reals bpm_ceil_v(Reals a) {
  const Reals near = bpm_rint_v(a);
  return with_sign_of(near < a ? near + Real(1) : near, a);
}
BP_FN Reals bpm_trunc_v(Reals a) { return with_sign_of(bpm_floor_v((Reals)((Wholes)a & ~kSign)), a); }
#endif

}  // namespace
}  // namespace backplane::cpu::BACKPLANE_CPU_ISA

#include "cpu/vector_fixes.h"

#endif  // BACKPLANE_CPU_VECTOR_MATH_H_
