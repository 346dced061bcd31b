// SPDX-License-Identifier: Apache-2.0
//
// The formulas for float16 and bfloat16: those of float32, rounded; a part of scalar.h. BP_ROUND rounds to
// the type.

#define BACKPLANE_EXACT_1(name, expression) \
  BP_FN bp_f32 BP_NAME(bp_##name##_, BP_S)(bp_f32 a) { return bp_##name##_f32(a); }
#define BACKPLANE_EXACT_2(name, expression) \
  BP_FN bp_f32 BP_NAME(bp_##name##_, BP_S)(bp_f32 a, bp_f32 b) { return bp_##name##_f32(a, b); }
#define BACKPLANE_EXACT_3(name, expression) \
  BP_FN bp_f32 BP_NAME(bp_##name##_, BP_S)(bp_f32 a, bp_f32 b, bp_f32 c) { return bp_##name##_f32(a, b, c); }
#define BACKPLANE_SAME_1(name, expression) \
  BP_FN bp_f32 BP_NAME(bp_##name##_, BP_S)(bp_f32 a) { return BP_ROUND(bp_##name##_f32(a)); }
#define BACKPLANE_SAME_2(name, expression) \
  BP_FN bp_f32 BP_NAME(bp_##name##_, BP_S)(bp_f32 a, bp_f32 b) { return BP_ROUND(bp_##name##_f32(a, b)); }
#define BACKPLANE_SAME_3(name, expression)                                 \
  BP_FN bp_f32 BP_NAME(bp_##name##_, BP_S)(bp_f32 a, bp_f32 b, bp_f32 c) { \
    return BP_ROUND(bp_##name##_f32(a, b, c));                             \
  }
#define BACKPLANE_TRUTH_1(name, expression) \
  BP_FN bp_bool BP_NAME(bp_##name##_, BP_S)(bp_f32 a) { return bp_##name##_f32(a); }
#define BACKPLANE_TRUTH_2(name, expression) \
  BP_FN bp_bool BP_NAME(bp_##name##_, BP_S)(bp_f32 a, bp_f32 b) { return bp_##name##_f32(a, b); }
#define BACKPLANE_CHOICE(name, expression) \
  BP_FN bp_f32 BP_NAME(bp_##name##_, BP_S)(bp_bool a, bp_f32 b, bp_f32 c) { return bp_##name##_f32(a, b, c); }
#define BACKPLANE_GRID_2(name, expression)
#define BACKPLANE_HELPER_1(name, expression)
#define BACKPLANE_HELPER_2(name, expression)
#define BACKPLANE_HELPER_3(name, expression)

#define BP_S f16
#define BP_ROUND bp_nearest_f16
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_float.def"
#undef BP_S
#undef BP_ROUND

#define BP_S bf16
#define BP_ROUND bp_nearest_bf16
#include "backplane/kernels/formulas_any.def"
#include "backplane/kernels/formulas_float.def"
#undef BP_S
#undef BP_ROUND

#undef BACKPLANE_EXACT_1
#undef BACKPLANE_EXACT_2
#undef BACKPLANE_EXACT_3
#undef BACKPLANE_SAME_1
#undef BACKPLANE_SAME_2
#undef BACKPLANE_SAME_3
#undef BACKPLANE_TRUTH_1
#undef BACKPLANE_TRUTH_2
#undef BACKPLANE_CHOICE
#undef BACKPLANE_GRID_2
#undef BACKPLANE_HELPER_1
#undef BACKPLANE_HELPER_2
#undef BACKPLANE_HELPER_3
