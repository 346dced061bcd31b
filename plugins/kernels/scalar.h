// SPDX-License-Identifier: Apache-2.0
//
// Every scalar operation of plugin/scalar_ops.def as a function, in C++, OpenCL C and CUDA C++:
//
//   bp_<op>_<type>(a, b, c)        the type's values in, a value of the type or a bp_bool (0 or 1) out
//   bp_cast_<from>_<to>(a)         see cast.h
//   bp_iota_<type>(index)          the row-major index, a bp_i64, as a value of the type
//   bp_where_<type>(chosen, b, c)  chosen is a bp_bool
//
// <type> is bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32 or f64 (the last where BP_HAS_F64 is
// 1). The type of a value is bp_<type>, but for f16 and bf16, whose values are bp_f32 in registers and bp_u16
// in memory, with bp_load_<type> and bp_store_<type> between them; results are already rounded to the type.
//
// The formulas stand in formulas_*.def, one row an operation, in the arguments a, b, c:
//   EXACT   the result is a number of the argument type as it stands
//   SAME    the result is of the argument type, to which narrower types round it
//   TRUTH   a condition
//   GRID    about the type's own grid of numbers: float16 and bfloat16 have it in half.h
//   CHOICE  the first argument is a condition; BODY is a list of statements; HELPER is used by later rows
//   alone
#ifndef BACKPLANE_KERNELS_SCALAR_H_
#define BACKPLANE_KERNELS_SCALAR_H_

#include "backplane/kernels/prelude.h"

#include "backplane/kernels/half.h"

#include "backplane/kernels/cast.h"

// The name of a row's function for the type at hand, BP_S. A row's own macro pastes it together itself:
// handed on to BP, the name would be expanded first, and OpenCL compilers define some of them (abs, copysign)
// as macros.
#define BP_JOIN(prefix, suffix) prefix##suffix
#define BP_NAME(prefix, suffix) BP_JOIN(prefix, suffix)
#define BP(name) BP_NAME(bp_##name##_, BP_S)
#define BP_MATH(name) BP_NAME(bpm_##name##_, BP_S)

#define BACKPLANE_EXACT_1(name, expression) \
  BP_FN BP_T BP_NAME(bp_##name##_, BP_S)(BP_T a) { return (BP_T)(expression); }
#define BACKPLANE_EXACT_2(name, expression) \
  BP_FN BP_T BP_NAME(bp_##name##_, BP_S)(BP_T a, BP_T b) { return (BP_T)(expression); }
#define BACKPLANE_EXACT_3(name, expression) \
  BP_FN BP_T BP_NAME(bp_##name##_, BP_S)(BP_T a, BP_T b, BP_T c) { return (BP_T)(expression); }
#define BACKPLANE_TRUTH_1(name, expression) \
  BP_FN bp_bool BP_NAME(bp_##name##_, BP_S)(BP_T a) { return (bp_bool)(expression); }
#define BACKPLANE_TRUTH_2(name, expression) \
  BP_FN bp_bool BP_NAME(bp_##name##_, BP_S)(BP_T a, BP_T b) { return (bp_bool)(expression); }
#define BACKPLANE_CHOICE(name, expression) \
  BP_FN BP_T BP_NAME(bp_##name##_, BP_S)(bp_bool a, BP_T b, BP_T c) { return (BP_T)(expression); }
#define BACKPLANE_BODY_2(name, body) BP_FN BP_T BP_NAME(bp_##name##_, BP_S)(BP_T a, BP_T b) body
#define BACKPLANE_SAME_1 BACKPLANE_EXACT_1
#define BACKPLANE_SAME_2 BACKPLANE_EXACT_2
#define BACKPLANE_SAME_3 BACKPLANE_EXACT_3
#define BACKPLANE_GRID_2 BACKPLANE_EXACT_2
#define BACKPLANE_HELPER_1 BACKPLANE_EXACT_1
#define BACKPLANE_HELPER_2 BACKPLANE_EXACT_2
#define BACKPLANE_HELPER_3 BACKPLANE_EXACT_3

#include "backplane/kernels/scalar_types.h"

#undef BACKPLANE_EXACT_1
#undef BACKPLANE_EXACT_2
#undef BACKPLANE_EXACT_3
#undef BACKPLANE_TRUTH_1
#undef BACKPLANE_TRUTH_2
#undef BACKPLANE_CHOICE
#undef BACKPLANE_BODY_2
#undef BACKPLANE_SAME_1
#undef BACKPLANE_SAME_2
#undef BACKPLANE_SAME_3
#undef BACKPLANE_GRID_2
#undef BACKPLANE_HELPER_1
#undef BACKPLANE_HELPER_2
#undef BACKPLANE_HELPER_3

#include "backplane/kernels/scalar_half.h"

#define BP_IOTA(S, T) \
  BP_FN T bp_iota_##S(bp_i64 index) { return bp_cast_i64_##S(index); }
BP_IOTA(bool, bp_bool)
BP_IOTA(i8, bp_i8)
BP_IOTA(i16, bp_i16)
BP_IOTA(i32, bp_i32)
BP_IOTA(i64, bp_i64)
BP_IOTA(u8, bp_u8)
BP_IOTA(u16, bp_u16)
BP_IOTA(u32, bp_u32)
BP_IOTA(u64, bp_u64)
BP_IOTA(f16, bp_f32)
BP_IOTA(bf16, bp_f32)
BP_IOTA(f32, bp_f32)
#if BP_HAS_F64
BP_IOTA(f64, bp_f64)
#endif
#undef BP_IOTA

#endif  // BACKPLANE_KERNELS_SCALAR_H_
