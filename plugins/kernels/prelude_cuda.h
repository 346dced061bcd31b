// SPDX-License-Identifier: Apache-2.0
//
// What the formulas need of the language, for CUDA C++ (nvcc and NVRTC): types, bit casts and the device's
// math library. Compile with -fmad=false, and without -use_fast_math or -ftz.
#ifndef BACKPLANE_KERNELS_PRELUDE_CUDA_H_
#define BACKPLANE_KERNELS_PRELUDE_CUDA_H_

#define BP_FN static __device__ __forceinline__ __attribute__((unused))
#define BP_HAS_F64 1

typedef signed char bp_i8;
typedef short bp_i16;
typedef int bp_i32;
typedef long long bp_i64;
typedef unsigned char bp_u8;
typedef unsigned short bp_u16;
typedef unsigned int bp_u32;
typedef unsigned long long bp_u64;
typedef unsigned char bp_bool;
typedef float bp_f32;
typedef double bp_f64;

BP_FN bp_i32 bp_bits_f32(bp_f32 a) { return __float_as_int(a); }
BP_FN bp_f32 bp_from_bits_f32(bp_i32 a) { return __int_as_float(a); }
BP_FN bp_i64 bp_bits_f64(bp_f64 a) { return __double_as_longlong(a); }
BP_FN bp_f64 bp_from_bits_f64(bp_i64 a) { return __longlong_as_double(a); }

BP_FN bp_u64 bp_mulhi_u64(bp_u64 a, bp_u64 b) { return __umul64hi(a, b); }

#define BP_MATH_1(name)                                            \
  BP_FN bp_f32 bpm_##name##_f32(bp_f32 a) { return ::name##f(a); } \
  BP_FN bp_f64 bpm_##name##_f64(bp_f64 a) { return ::name(a); }
#define BP_MATH_2(name)                                                         \
  BP_FN bp_f32 bpm_##name##_f32(bp_f32 a, bp_f32 b) { return ::name##f(a, b); } \
  BP_FN bp_f64 bpm_##name##_f64(bp_f64 a, bp_f64 b) { return ::name(a, b); }
#include "backplane/kernels/math_functions.def"
BP_MATH_1(lgamma)
#undef BP_MATH_1
#undef BP_MATH_2

BP_FN bp_f32 bpm_divide_f32(bp_f32 a, bp_f32 b) { return __fdiv_rn(a, b); }
BP_FN bp_f64 bpm_divide_f64(bp_f64 a, bp_f64 b) { return __ddiv_rn(a, b); }
BP_FN bp_f32 bpm_sqrt_f32(bp_f32 a) { return __fsqrt_rn(a); }
BP_FN bp_f64 bpm_sqrt_f64(bp_f64 a) { return __dsqrt_rn(a); }
BP_FN bp_f32 bpm_fma_f32(bp_f32 a, bp_f32 b, bp_f32 c) { return __fmaf_rn(a, b, c); }
BP_FN bp_f64 bpm_fma_f64(bp_f64 a, bp_f64 b, bp_f64 c) { return __fma_rn(a, b, c); }

#endif  // BACKPLANE_KERNELS_PRELUDE_CUDA_H_
