// SPDX-License-Identifier: Apache-2.0
//
// The formulas' rows, for every type of a register; the including file says with the BACKPLANE_ macros what
// becomes of them. BP_T is the type, BP_S its suffix, BACKPLANE_DTYPE its name. Of the rows of floating types
// only conditions are wanted: vector_float.h has the others.

#define BP_S bool
#define BP_T bp_bool
#define BACKPLANE_DTYPE Bool
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_bool.def"
#undef BP_S
#undef BP_T
#undef BACKPLANE_DTYPE

#define BP_S i8
#define BP_T bp_i8
#define BACKPLANE_DTYPE Int8
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_signed.def"
#undef BP_S
#undef BP_T
#undef BACKPLANE_DTYPE

#define BP_S i16
#define BP_T bp_i16
#define BACKPLANE_DTYPE Int16
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_signed.def"
#undef BP_S
#undef BP_T
#undef BACKPLANE_DTYPE

#define BP_S i32
#define BP_T bp_i32
#define BACKPLANE_DTYPE Int32
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_signed.def"
#undef BP_S
#undef BP_T
#undef BACKPLANE_DTYPE

#define BP_S i64
#define BP_T bp_i64
#define BACKPLANE_DTYPE Int64
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_signed.def"
#undef BP_S
#undef BP_T
#undef BACKPLANE_DTYPE

#define BP_S u8
#define BP_T bp_u8
#define BACKPLANE_DTYPE UInt8
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_unsigned.def"
#undef BP_S
#undef BP_T
#undef BACKPLANE_DTYPE

#define BP_S u16
#define BP_T bp_u16
#define BACKPLANE_DTYPE UInt16
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_unsigned.def"
#undef BP_S
#undef BP_T
#undef BACKPLANE_DTYPE

#define BP_S u32
#define BP_T bp_u32
#define BACKPLANE_DTYPE UInt32
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_unsigned.def"
#undef BP_S
#undef BP_T
#undef BACKPLANE_DTYPE

#define BP_S u64
#define BP_T bp_u64
#define BACKPLANE_DTYPE UInt64
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_integer.def"
#include "backplane/kernels/formulas_unsigned.def"
#undef BP_S
#undef BP_T
#undef BACKPLANE_DTYPE

#define BP_S f32
#define BP_T bp_f32
#define BACKPLANE_DTYPE Float32
#include "backplane/kernels/formulas_any.def"
#if defined(BACKPLANE_FLOAT_TRUTHS)
#include "backplane/kernels/formulas_float.def"
#endif
#undef BP_S
#undef BP_T
#undef BACKPLANE_DTYPE

#define BP_S f64
#define BP_T bp_f64
#define BACKPLANE_DTYPE Float64
#include "backplane/kernels/formulas_any.def"
#if defined(BACKPLANE_FLOAT_TRUTHS)
#include "backplane/kernels/formulas_float.def"
#endif
#undef BP_S
#undef BP_T
#undef BACKPLANE_DTYPE
