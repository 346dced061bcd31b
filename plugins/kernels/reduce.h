// SPDX-License-Identifier: Apache-2.0
//
// What reductions need of every type, in C++, OpenCL C and CUDA C++. Two partial results are combined by
// bp_add_<type>, bp_multiply_<type>, bp_maximum_<type> and bp_minimum_<type> of scalar.h (bool: maximum is
// any, minimum is all), which propagate NaN and order zeros, so that max and min do not depend on the order
// of combining. Here are
//
//   bp_identity_{sum,prod,max,min}_<type>()      what combines with x to x
//   bp_argmax_takes_<type>(a, i, b, j)           whether (b, at position j) replaces (a, at position i): it
//   is greater, bp_argmin_takes_<type>(a, i, b, j)           or smaller; a NaN beats every number; of equals,
//   and of NaNs, the first
//                                                position wins
//
// Sums of float32 that obey |error| <= 2 log2(n) 2^-24 sum|x| need pairwise or blocked addition: the order is
// the backend's, but fixed, whatever the number of threads.
#ifndef BACKPLANE_KERNELS_REDUCE_H_
#define BACKPLANE_KERNELS_REDUCE_H_

#include "backplane/kernels/scalar.h"

#define BP_REDUCTION(S, T, LEAST, MOST)                             \
  BP_FN T bp_identity_sum_##S(void) { return (T)0; }                \
  BP_FN T bp_identity_prod_##S(void) { return (T)1; }               \
  BP_FN T bp_identity_max_##S(void) { return (T)(LEAST); }          \
  BP_FN T bp_identity_min_##S(void) { return (T)(MOST); }           \
  BP_FN bp_bool bp_argmax_takes_##S(T a, bp_i64 i, T b, bp_i64 j) { \
    int tied = (a == b) | ((a != a) & (b != b));                    \
    int better = (b > a) | ((b != b) & (a == a));                   \
    return (bp_bool)(better | (tied & (j < i)));                    \
  }                                                                 \
  BP_FN bp_bool bp_argmin_takes_##S(T a, bp_i64 i, T b, bp_i64 j) { \
    int tied = (a == b) | ((a != a) & (b != b));                    \
    int better = (b < a) | ((b != b) & (a == a));                   \
    return (bp_bool)(better | (tied & (j < i)));                    \
  }

BP_REDUCTION(bool, bp_bool, 0, 1)
BP_REDUCTION(i8, bp_i8, -128, 127)
BP_REDUCTION(i16, bp_i16, -32768, 32767)
BP_REDUCTION(i32, bp_i32, -2147483647 - 1, 2147483647)
BP_REDUCTION(i64, bp_i64, -9223372036854775807L - 1, 9223372036854775807L)
BP_REDUCTION(u8, bp_u8, 0, 255)
BP_REDUCTION(u16, bp_u16, 0, 65535)
BP_REDUCTION(u32, bp_u32, 0, 4294967295u)
BP_REDUCTION(u64, bp_u64, 0, 18446744073709551615ul)
BP_REDUCTION(f32, bp_f32, bp_from_bits_f32((bp_i32)0xff800000u), bp_from_bits_f32(0x7f800000))
BP_REDUCTION(f16, bp_f32, bp_from_bits_f32((bp_i32)0xff800000u), bp_from_bits_f32(0x7f800000))
BP_REDUCTION(bf16, bp_f32, bp_from_bits_f32((bp_i32)0xff800000u), bp_from_bits_f32(0x7f800000))
#if BP_HAS_F64
BP_REDUCTION(f64, bp_f64, bp_from_bits_f64((bp_i64)0xfff0000000000000ul),
             bp_from_bits_f64(0x7ff0000000000000L))
#endif
#undef BP_REDUCTION

#endif  // BACKPLANE_KERNELS_REDUCE_H_
