// SPDX-License-Identifier: Apache-2.0
//
// The formulas for every type but float16 and bfloat16; a part of scalar.h. BP_T is the type, BP_S its
// suffix, BP_W the unsigned type in which integers are computed, BP_WIDTH the number of bits.

#define BP_T bp_bool
#define BP_S bool
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_bool.def"
#undef BP_T
#undef BP_S

#define BP_T bp_i8
#define BP_S i8
#define BP_W bp_u32
#define BP_WIDTH 8u
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_signed.def"
#undef BP_T
#undef BP_S
#undef BP_W
#undef BP_WIDTH

#define BP_T bp_i16
#define BP_S i16
#define BP_W bp_u32
#define BP_WIDTH 16u
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_signed.def"
#undef BP_T
#undef BP_S
#undef BP_W
#undef BP_WIDTH

#define BP_T bp_i32
#define BP_S i32
#define BP_W bp_u32
#define BP_WIDTH 32u
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_signed.def"
#undef BP_T
#undef BP_S
#undef BP_W
#undef BP_WIDTH

#define BP_T bp_i64
#define BP_S i64
#define BP_W bp_u64
#define BP_WIDTH 64u
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_signed.def"
#undef BP_T
#undef BP_S
#undef BP_W
#undef BP_WIDTH

#define BP_T bp_u8
#define BP_S u8
#define BP_W bp_u32
#define BP_WIDTH 8u
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_unsigned.def"
#undef BP_T
#undef BP_S
#undef BP_W
#undef BP_WIDTH

#define BP_T bp_u16
#define BP_S u16
#define BP_W bp_u32
#define BP_WIDTH 16u
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_unsigned.def"
#undef BP_T
#undef BP_S
#undef BP_W
#undef BP_WIDTH

#define BP_T bp_u32
#define BP_S u32
#define BP_W bp_u32
#define BP_WIDTH 32u
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_unsigned.def"
#undef BP_T
#undef BP_S
#undef BP_W
#undef BP_WIDTH

#define BP_T bp_u64
#define BP_S u64
#define BP_W bp_u64
#define BP_WIDTH 64u
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_unsigned.def"
#undef BP_T
#undef BP_S
#undef BP_W
#undef BP_WIDTH

#define BP_T bp_f32
#define BP_S f32
#define BP_BITS bp_bits_f32
#define BP_FROM_BITS bp_from_bits_f32
#define BP_C(value) value##f
#define BP_ABS_MASK 0x7fffffff
#define BP_SIGN_MASK (~BP_ABS_MASK)
#define BP_INF_BITS 0x7f800000
#define BP_ONE_BIT 1
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_float.def"
#undef BP_T
#undef BP_S
#undef BP_BITS
#undef BP_FROM_BITS
#undef BP_C
#undef BP_ABS_MASK
#undef BP_SIGN_MASK
#undef BP_INF_BITS
#undef BP_ONE_BIT

#if BP_HAS_F64
#define BP_T bp_f64
#define BP_S f64
#define BP_BITS bp_bits_f64
#define BP_FROM_BITS bp_from_bits_f64
#define BP_C(value) value
#define BP_ABS_MASK 0x7fffffffffffffffL
#define BP_SIGN_MASK (~BP_ABS_MASK)
#define BP_INF_BITS 0x7ff0000000000000L
#define BP_ONE_BIT 1L
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_float.def"
#undef BP_T
#undef BP_S
#undef BP_BITS
#undef BP_FROM_BITS
#undef BP_C
#undef BP_ABS_MASK
#undef BP_SIGN_MASK
#undef BP_INF_BITS
#undef BP_ONE_BIT
#endif
