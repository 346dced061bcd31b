// SPDX-License-Identifier: Apache-2.0
#include "scalar_rows.h"

#include <cstring>

#include "backplane/kernels/scalar.h"

namespace backplane::cpu_vector_test {
namespace {

template <typename T>
T get(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <typename T>
void put(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

#define BACKPLANE_FLOAT_TRUTHS
#define BACKPLANE_ROW(name, arity, truth, Result, call) \
  {plugin::ScalarOp::name,                              \
   #name,                                               \
   plugin::DType::BACKPLANE_DTYPE,                      \
   arity,                                               \
   truth,                                               \
   [](void* out, const void* const* in) { put<Result>(out, BP(name) call); }},
#define BACKPLANE_EXACT_1(name, expression) BACKPLANE_ROW(name, 1, false, BP_T, (get<BP_T>(in[0])))
#define BACKPLANE_EXACT_2(name, expression) \
  BACKPLANE_ROW(name, 2, false, BP_T, (get<BP_T>(in[0]), get<BP_T>(in[1])))
#define BACKPLANE_EXACT_3(name, expression) \
  BACKPLANE_ROW(name, 3, false, BP_T, (get<BP_T>(in[0]), get<BP_T>(in[1]), get<BP_T>(in[2])))
#define BACKPLANE_CHOICE(name, expression) \
  BACKPLANE_ROW(name, 3, false, BP_T, (get<bp_bool>(in[0]), get<BP_T>(in[1]), get<BP_T>(in[2])))
#define BACKPLANE_TRUTH_1(name, expression) BACKPLANE_ROW(name, 1, true, bp_bool, (get<BP_T>(in[0])))
#define BACKPLANE_TRUTH_2(name, expression) \
  BACKPLANE_ROW(name, 2, true, bp_bool, (get<BP_T>(in[0]), get<BP_T>(in[1])))
#define BACKPLANE_SAME_1 BACKPLANE_EXACT_1
#define BACKPLANE_SAME_2 BACKPLANE_EXACT_2
#define BACKPLANE_SAME_3 BACKPLANE_EXACT_3
#define BACKPLANE_GRID_2 BACKPLANE_EXACT_2
#define BACKPLANE_HELPER_1(name, expression)
#define BACKPLANE_HELPER_2(name, expression)
#define BACKPLANE_HELPER_3(name, expression)
#define BACKPLANE_BODY_2(name, body)

#define BACKPLANE_CAST(F, From, T, To) \
  [](void* out, const void* in) { put<To>(out, bp_cast_##F##_##T(get<From>(in))); }
#define BACKPLANE_CASTS(F, From)                                                     \
  {                                                                                  \
    BACKPLANE_CAST(F, From, bool, bp_bool), BACKPLANE_CAST(F, From, i8, bp_i8),      \
        BACKPLANE_CAST(F, From, i16, bp_i16), BACKPLANE_CAST(F, From, i32, bp_i32),  \
        BACKPLANE_CAST(F, From, i64, bp_i64), BACKPLANE_CAST(F, From, u8, bp_u8),    \
        BACKPLANE_CAST(F, From, u16, bp_u16), BACKPLANE_CAST(F, From, u32, bp_u32),  \
        BACKPLANE_CAST(F, From, u64, bp_u64), BACKPLANE_CAST(F, From, f16, bp_f32),  \
        BACKPLANE_CAST(F, From, bf16, bp_f32), BACKPLANE_CAST(F, From, f32, bp_f32), \
        BACKPLANE_CAST(F, From, f64, bp_f64)                                         \
  }
constexpr CastFunction kCasts[plugin::kDTypeCount][plugin::kDTypeCount] = {
    BACKPLANE_CASTS(bool, bp_bool), BACKPLANE_CASTS(i8, bp_i8),    BACKPLANE_CASTS(i16, bp_i16),
    BACKPLANE_CASTS(i32, bp_i32),   BACKPLANE_CASTS(i64, bp_i64),  BACKPLANE_CASTS(u8, bp_u8),
    BACKPLANE_CASTS(u16, bp_u16),   BACKPLANE_CASTS(u32, bp_u32),  BACKPLANE_CASTS(u64, bp_u64),
    BACKPLANE_CASTS(f16, bp_f32),   BACKPLANE_CASTS(bf16, bp_f32), BACKPLANE_CASTS(f32, bp_f32),
    BACKPLANE_CASTS(f64, bp_f64)};

}  // namespace

const std::vector<ScalarRow>& scalar_rows() {
  static const std::vector<ScalarRow> rows = {
#include "cpu/vector_types.h"
  };
  return rows;
}

CastFunction scalar_cast(plugin::DType from, plugin::DType to) {
  return kCasts[static_cast<int>(from)][static_cast<int>(to)];
}

}  // namespace backplane::cpu_vector_test
