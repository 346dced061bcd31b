// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set; see isa.h for what that forbids.
// The operations of integers and Bool, whose loops the compiler makes vectors of, and of any type what every
// type has.
#include "backplane/kernels/scalar.h"
#include "cpu/vector_loops.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

#define BP_JOIN3(a, b, c) a##b##c
#define BP_LOOP_NAME(name, suffix) BP_JOIN3(loop_, name##_, suffix)
#define BACKPLANE_LOOP(name) \
  void BP_LOOP_NAME(name, BP_S)(void* out, const void* const* in, const int64_t*, int64_t n)
#define BACKPLANE_ARRAY(name, type, index) const type* name = static_cast<const type*>(in[index])
#define BACKPLANE_EXACT_1(name, expression)                 \
  BACKPLANE_LOOP(name) {                                    \
    BACKPLANE_ARRAY(a, BP_T, 0);                            \
    BP_T* to = static_cast<BP_T*>(out);                     \
    BACKPLANE_SAME_INDEX_ONLY                               \
    for (int64_t i = 0; i < n; ++i) to[i] = BP(name)(a[i]); \
  }
#define BACKPLANE_EXACT_2(name, expression)                       \
  BACKPLANE_LOOP(name) {                                          \
    BACKPLANE_ARRAY(a, BP_T, 0);                                  \
    BACKPLANE_ARRAY(b, BP_T, 1);                                  \
    BP_T* to = static_cast<BP_T*>(out);                           \
    BACKPLANE_SAME_INDEX_ONLY                                     \
    for (int64_t i = 0; i < n; ++i) to[i] = BP(name)(a[i], b[i]); \
  }
#define BACKPLANE_EXACT_3(name, expression)                             \
  BACKPLANE_LOOP(name) {                                                \
    BACKPLANE_ARRAY(a, BP_T, 0);                                        \
    BACKPLANE_ARRAY(b, BP_T, 1);                                        \
    BACKPLANE_ARRAY(c, BP_T, 2);                                        \
    BP_T* to = static_cast<BP_T*>(out);                                 \
    BACKPLANE_SAME_INDEX_ONLY                                           \
    for (int64_t i = 0; i < n; ++i) to[i] = BP(name)(a[i], b[i], c[i]); \
  }
#define BACKPLANE_CHOICE(name, expression)                              \
  BACKPLANE_LOOP(name) {                                                \
    BACKPLANE_ARRAY(a, bp_bool, 0);                                     \
    BACKPLANE_ARRAY(b, BP_T, 1);                                        \
    BACKPLANE_ARRAY(c, BP_T, 2);                                        \
    BP_T* to = static_cast<BP_T*>(out);                                 \
    BACKPLANE_SAME_INDEX_ONLY                                           \
    for (int64_t i = 0; i < n; ++i) to[i] = BP(name)(a[i], b[i], c[i]); \
  }
#define BACKPLANE_TRUTH_1(name, expression)
#define BACKPLANE_TRUTH_2(name, expression)
#define BACKPLANE_HELPER_1(name, expression)
#define BACKPLANE_HELPER_2(name, expression)
#define BACKPLANE_BODY_2(name, body)
#include "cpu/vector_types.h"
#undef BACKPLANE_EXACT_1
#undef BACKPLANE_EXACT_2
#undef BACKPLANE_EXACT_3
#undef BACKPLANE_CHOICE

// float16 and bfloat16 lie in registers as float, but have their own neighbours.
#define BP_S f16
#define BP_T bp_f32
#define BACKPLANE_HALF_NEXTAFTER                                       \
  BACKPLANE_LOOP(nextafter) {                                          \
    BACKPLANE_ARRAY(a, BP_T, 0);                                       \
    BACKPLANE_ARRAY(b, BP_T, 1);                                       \
    BP_T* to = static_cast<BP_T*>(out);                                \
    BACKPLANE_SAME_INDEX_ONLY                                          \
    for (int64_t i = 0; i < n; ++i) to[i] = BP(nextafter)(a[i], b[i]); \
  }
BACKPLANE_HALF_NEXTAFTER
#undef BP_S
#define BP_S bf16
BACKPLANE_HALF_NEXTAFTER
#undef BP_S
#undef BP_T

#define BACKPLANE_EXACT_1(name, expression) \
  {plugin::ScalarOp::name, plugin::DType::BACKPLANE_DTYPE, kLoopIsExact, BP_LOOP_NAME(name, BP_S)},
#define BACKPLANE_EXACT_2 BACKPLANE_EXACT_1
#define BACKPLANE_EXACT_3 BACKPLANE_EXACT_1
#define BACKPLANE_CHOICE BACKPLANE_EXACT_1
constexpr Loop kRows[] = {
#include "cpu/vector_types.h"
    {plugin::ScalarOp::nextafter, plugin::DType::Float16, kLoopIsExact, loop_nextafter_f16},
    {plugin::ScalarOp::nextafter, plugin::DType::BFloat16, kLoopIsExact, loop_nextafter_bf16},
};

}  // namespace

const LoopTable integer_loops = {kRows, static_cast<int>(sizeof kRows / sizeof kRows[0])};

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
