// SPDX-License-Identifier: Apache-2.0
//
// The loops that elementwise programs are made of, as tables that every instruction set fills. A value of a
// tile lies in memory as an array of its register type: the type itself, but float for float16 and bfloat16,
// and uint8_t for Bool.
#ifndef BACKPLANE_CPU_VECTOR_LOOPS_H_
#define BACKPLANE_CPU_VECTOR_LOOPS_H_

#include <stdint.h>

#include "backplane/plugin/kernels.h"
#include "backplane/plugin/types.h"
#include "cpu/isa.h"

// Before a loop over i whose arrays are either apart or the very same, so that a[i] meets b[i] alone.
#if defined(__clang__)
#define BACKPLANE_SAME_INDEX_ONLY _Pragma("clang loop vectorize(assume_safety)")
#else
#define BACKPLANE_SAME_INDEX_ONLY _Pragma("GCC ivdep")
#endif

namespace backplane::cpu {

enum LoopFlags : uint8_t {
  kLoopTakesSplat = 1,  // an argument may have step 0: it is then kSplatBytes of one value repeated
  kLoopIsExact = 2,     // results need no rounding when the type at hand is narrower than the loop's
};
inline constexpr int64_t kSplatBytes = 64;

// `in` has one address an argument, `step` 1 for an array of n values and 0 for a splat. `out` may be an
// argument's very array; n >= 0; no alignment but the elements' own.
using LoopFunction = void (*)(void* out, const void* const* in, const int64_t* step, int64_t n);

// One scalar operation on one type. Loops of Float32 serve float16 and bfloat16 too.
struct Loop {
  plugin::ScalarOp op;
  plugin::DType type;
  uint8_t flags;
  LoopFunction run;
  // The same past the caches, straight from registers; null if there is none. `out` is a multiple of
  // kSplatBytes; ends with no fence.
  LoopFunction stream = nullptr;
};

struct LoopTable {
  const Loop* rows;
  int count;
};
BACKPLANE_CPU_TABLE(LoopTable, float32_loops)
BACKPLANE_CPU_TABLE(LoopTable, float64_loops)
BACKPLANE_CPU_TABLE(LoopTable, integer_loops)
BACKPLANE_CPU_TABLE(LoopTable, truth_loops)

using MapFunction = void (*)(void* out, const void* in, int64_t n);

// Arrays from type to type, registers and memory. `out` may be `in` where both have elements of one size.
// `load` widens memory to registers and `store` rounds registers to memory for the types where these differ,
// `round` rounds registers in place; null for all other types.
struct ConvertTable {
  MapFunction cast[plugin::kDTypeCount][plugin::kDTypeCount];  // [from][to]
  MapFunction load[plugin::kDTypeCount];
  MapFunction store[plugin::kDTypeCount];
  MapFunction round[plugin::kDTypeCount];
  void (*iota[plugin::kDTypeCount])(void* out, int64_t first, int64_t n);
};
BACKPLANE_CPU_TABLE(ConvertTable, convert_loops)

// By log2 of the element's size in bytes.
struct StrideTable {
  void (*gather[4])(void* out, const void* in, int64_t stride, int64_t n);   // out[i] = in[i * stride]
  void (*scatter[4])(void* out, int64_t stride, const void* in, int64_t n);  // out[i * stride] = in[i]
  void (*fill[4])(void* out, const void* value, int64_t n);                  // out[i] = *value
  void (*stream)(void* out, const void* in, int64_t bytes);  // past the caches; ends with no fence
  void (*fence)();
};
BACKPLANE_CPU_TABLE(StrideTable, stride_loops)

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_VECTOR_LOOPS_H_
