// SPDX-License-Identifier: Apache-2.0
//
// What the formulas need of the language, for OpenCL C 1.2 and later: types, bit casts and the built-in
// functions. Build with -cl-fp32-correctly-rounded-divide-sqrt where the device has it, or define
// BP_SOFT_DIVIDE_SQRT, which computes float32 quotients and roots through float64, or integers where there is
// none. float64 is used where the device has it.
#ifndef BACKPLANE_KERNELS_PRELUDE_OPENCL_H_
#define BACKPLANE_KERNELS_PRELUDE_OPENCL_H_

#pragma OPENCL FP_CONTRACT OFF

#ifndef BP_HAS_F64
#ifdef cl_khr_fp64
#define BP_HAS_F64 1
#else
#define BP_HAS_F64 0
#endif
#endif
#if BP_HAS_F64 && __OPENCL_C_VERSION__ < 120
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#ifdef __clang__
#define BP_FN static inline __attribute__((unused))
#else
#define BP_FN static inline
#endif

typedef char bp_i8;
typedef short bp_i16;
typedef int bp_i32;
typedef long bp_i64;
typedef uchar bp_u8;
typedef ushort bp_u16;
typedef uint bp_u32;
typedef ulong bp_u64;
typedef uchar bp_bool;
typedef float bp_f32;
#if BP_HAS_F64
typedef double bp_f64;
#endif

BP_FN bp_i32 bp_bits_f32(bp_f32 a) { return as_int(a); }
BP_FN bp_f32 bp_from_bits_f32(bp_i32 a) { return as_float(a); }
#if BP_HAS_F64
BP_FN bp_i64 bp_bits_f64(bp_f64 a) { return as_long(a); }
BP_FN bp_f64 bp_from_bits_f64(bp_i64 a) { return as_double(a); }
#endif

BP_FN bp_u64 bp_mulhi_u64(bp_u64 a, bp_u64 b) { return mul_hi(a, b); }

#define BP_MATH_1(name) \
  BP_FN bp_f32 bpm_##name##_f32(bp_f32 a) { return name(a); }
#define BP_MATH_2(name) \
  BP_FN bp_f32 bpm_##name##_f32(bp_f32 a, bp_f32 b) { return name(a, b); }
#include "backplane/kernels/math_functions.def"
BP_MATH_1(lgamma)
BP_FN bp_f32 bpm_fma_f32(bp_f32 a, bp_f32 b, bp_f32 c) { return fma(a, b, c); }
#undef BP_MATH_1
#undef BP_MATH_2

#if BP_HAS_F64
#define BP_MATH_1(name) \
  BP_FN bp_f64 bpm_##name##_f64(bp_f64 a) { return name(a); }
#define BP_MATH_2(name) \
  BP_FN bp_f64 bpm_##name##_f64(bp_f64 a, bp_f64 b) { return name(a, b); }
#include "backplane/kernels/math_functions.def"
BP_MATH_1(lgamma)
BP_MATH_1(sqrt)
BP_FN bp_f64 bpm_divide_f64(bp_f64 a, bp_f64 b) { return a / b; }
BP_FN bp_f64 bpm_fma_f64(bp_f64 a, bp_f64 b, bp_f64 c) { return fma(a, b, c); }
#undef BP_MATH_1
#undef BP_MATH_2
#endif

#if defined(BP_SOFT_DIVIDE_SQRT) && BP_HAS_F64
// A float64 result has more than twice the digits of float32 plus two, so that rounding it once more is
// harmless for a root; a quotient below the normal range needs the sticky digit that rounding to odd keeps
// (S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding
// to odd", 2008).
BP_FN bp_f32 bpm_divide_f32(bp_f32 a, bp_f32 b) {
  bp_f64 q = (bp_f64)a / (bp_f64)b;
  bp_f64 rest = fma(-q, (bp_f64)b, (bp_f64)a);
  bp_i64 bits = as_long(q);
  bp_i64 down = ((rest < 0) != ((b < 0) != (q < 0))) ? 1 : 0;
  bp_f64 odd = as_double((bits - down) | 1);
  return (bp_f32)((rest != 0 && q - q == 0) ? odd : q);
}
BP_FN bp_f32 bpm_sqrt_f32(bp_f32 a) { return (bp_f32)sqrt((bp_f64)a); }
#elif defined(BP_SOFT_DIVIDE_SQRT)
#include "backplane/kernels/soft_divide.h"
BP_FN bp_f32 bpm_divide_f32(bp_f32 a, bp_f32 b) { return bp_soft_divide_f32(a, b); }
BP_FN bp_f32 bpm_sqrt_f32(bp_f32 a) { return bp_soft_sqrt_f32(a); }
#else
BP_FN bp_f32 bpm_divide_f32(bp_f32 a, bp_f32 b) { return a / b; }
BP_FN bp_f32 bpm_sqrt_f32(bp_f32 a) { return sqrt(a); }
#endif

#endif  // BACKPLANE_KERNELS_PRELUDE_OPENCL_H_
