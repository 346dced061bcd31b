// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set; see isa.h for what that forbids.
// The operations whose result is Bool, for every type of a register.
#include "backplane/kernels/scalar.h"
#include "cpu/vector_loops.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

#define BACKPLANE_FLOAT_TRUTHS
#define BP_JOIN3(a, b, c) a##b##c
#define BP_LOOP_NAME(name, suffix) BP_JOIN3(loop_, name##_, suffix)
#define BACKPLANE_LOOP(name) \
  void BP_LOOP_NAME(name, BP_S)(void* out, const void* const* in, const int64_t*, int64_t n)
#define BACKPLANE_ARRAY(name, type, index) const type* name = static_cast<const type*>(in[index])
#define BACKPLANE_TRUTH_1(name, expression)                 \
  BACKPLANE_LOOP(name) {                                    \
    BACKPLANE_ARRAY(a, BP_T, 0);                            \
    bp_bool* to = static_cast<bp_bool*>(out);               \
    BACKPLANE_SAME_INDEX_ONLY                               \
    for (int64_t i = 0; i < n; ++i) to[i] = BP(name)(a[i]); \
  }
#define BACKPLANE_TRUTH_2(name, expression)                       \
  BACKPLANE_LOOP(name) {                                          \
    BACKPLANE_ARRAY(a, BP_T, 0);                                  \
    BACKPLANE_ARRAY(b, BP_T, 1);                                  \
    bp_bool* to = static_cast<bp_bool*>(out);                     \
    BACKPLANE_SAME_INDEX_ONLY                                     \
    for (int64_t i = 0; i < n; ++i) to[i] = BP(name)(a[i], b[i]); \
  }
#define BACKPLANE_EXACT_1(name, expression)
#define BACKPLANE_EXACT_2(name, expression)
#define BACKPLANE_EXACT_3(name, expression)
#define BACKPLANE_SAME_1(name, expression)
#define BACKPLANE_SAME_2(name, expression)
#define BACKPLANE_SAME_3(name, expression)
#define BACKPLANE_GRID_2(name, expression)
#define BACKPLANE_CHOICE(name, expression)
#define BACKPLANE_HELPER_1(name, expression)
#define BACKPLANE_HELPER_2(name, expression)
#define BACKPLANE_HELPER_3(name, expression)
#define BACKPLANE_BODY_2(name, body)
#include "cpu/vector_types.h"
#undef BACKPLANE_TRUTH_1
#undef BACKPLANE_TRUTH_2

#define BACKPLANE_TRUTH_1(name, expression) \
  {plugin::ScalarOp::name, plugin::DType::BACKPLANE_DTYPE, kLoopIsExact, BP_LOOP_NAME(name, BP_S)},
#define BACKPLANE_TRUTH_2 BACKPLANE_TRUTH_1
constexpr Loop kRows[] = {
#include "cpu/vector_types.h"
};

}  // namespace

const LoopTable truth_loops = {kRows, static_cast<int>(sizeof kRows / sizeof kRows[0])};

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
