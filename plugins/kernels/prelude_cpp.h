// SPDX-License-Identifier: Apache-2.0
//
// What the formulas need of the language, for C++ (g++ and clang++, C++17 and later): types, bit casts and
// the math library. Compile with -ffp-contract=off.
#ifndef BACKPLANE_KERNELS_PRELUDE_CPP_H_
#define BACKPLANE_KERNELS_PRELUDE_CPP_H_

#include <cmath>
#include <cstdint>

// Internal linkage and always inlined: an object built for a newer instruction set leaves nothing that the
// linker could merge into code for an older one.
#define BP_FN static inline __attribute__((always_inline, unused))
#define BP_HAS_F64 1

typedef int8_t bp_i8;
typedef int16_t bp_i16;
typedef int32_t bp_i32;
typedef int64_t bp_i64;
typedef uint8_t bp_u8;
typedef uint16_t bp_u16;
typedef uint32_t bp_u32;
typedef uint64_t bp_u64;
typedef uint8_t bp_bool;
typedef float bp_f32;
typedef double bp_f64;

BP_FN bp_i32 bp_bits_f32(bp_f32 a) { return __builtin_bit_cast(bp_i32, a); }
BP_FN bp_f32 bp_from_bits_f32(bp_i32 a) { return __builtin_bit_cast(bp_f32, a); }
BP_FN bp_i64 bp_bits_f64(bp_f64 a) { return __builtin_bit_cast(bp_i64, a); }
BP_FN bp_f64 bp_from_bits_f64(bp_i64 a) { return __builtin_bit_cast(bp_f64, a); }

__extension__ typedef unsigned __int128 bp_u128;
BP_FN bp_u64 bp_mulhi_u64(bp_u64 a, bp_u64 b) { return (bp_u64)(((bp_u128)a * b) >> 64); }

#define BP_MATH_1(name)                                                      \
  BP_FN bp_f32 bpm_##name##_f32(bp_f32 a) { return __builtin_##name##f(a); } \
  BP_FN bp_f64 bpm_##name##_f64(bp_f64 a) { return __builtin_##name(a); }
#define BP_MATH_2(name)                                                                   \
  BP_FN bp_f32 bpm_##name##_f32(bp_f32 a, bp_f32 b) { return __builtin_##name##f(a, b); } \
  BP_FN bp_f64 bpm_##name##_f64(bp_f64 a, bp_f64 b) { return __builtin_##name(a, b); }
#include "backplane/kernels/math_functions.def"
#undef BP_MATH_1
#undef BP_MATH_2

BP_FN bp_f32 bpm_divide_f32(bp_f32 a, bp_f32 b) { return a / b; }
BP_FN bp_f64 bpm_divide_f64(bp_f64 a, bp_f64 b) { return a / b; }
BP_FN bp_f32 bpm_sqrt_f32(bp_f32 a) { return __builtin_sqrtf(a); }
BP_FN bp_f64 bpm_sqrt_f64(bp_f64 a) { return __builtin_sqrt(a); }
BP_FN bp_f32 bpm_fma_f32(bp_f32 a, bp_f32 b, bp_f32 c) { return __builtin_fmaf(a, b, c); }
BP_FN bp_f64 bpm_fma_f64(bp_f64 a, bp_f64 b, bp_f64 c) { return __builtin_fma(a, b, c); }

// The plain lgamma stores the sign in a global, which is a race.
BP_FN bp_f32 bpm_lgamma_f32(bp_f32 a) {
  int sign;
  return ::lgammaf_r(a, &sign);
}
BP_FN bp_f64 bpm_lgamma_f64(bp_f64 a) {
  int sign;
  return ::lgamma_r(a, &sign);
}

#endif  // BACKPLANE_KERNELS_PRELUDE_CPP_H_
