// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_CPU_VECTOR_REDUCE_H_
#define BACKPLANE_CPU_VECTOR_REDUCE_H_

#include <cstdint>

#include "backplane/plugin/types.h"
#include "cpu/isa.h"

namespace backplane::cpu {

inline constexpr uint32_t kReduceOps = 6;

// The loops of one reduction on one type. What is combined lies in an accumulator: float64 for sums and
// products of floating types, which makes those of float32 and narrower exact but for one rounding nearly
// always and keeps them from overflowing in between; float32 for extremes of float16 and bfloat16; else the
// type itself. The order of combining is fixed by the counts given. `positions` are used by ArgMax and ArgMin
// alone; others may pass null.
struct ReduceLoops {
  uint32_t accumulator_size;  // 0: there is no such reduction
  // *accumulator = all of `count` >= 1 contiguous values, the first of which is at position `first`.
  void (*row)(const void* values, int64_t count, int64_t first, void* accumulator, int64_t* position);
  // Two such rows of `count` values each, read side by side: memory is faster when asked in two places. Null
  // for ArgMax and ArgMin.
  void (*pair)(const void* first, const void* second, int64_t count, void* first_accumulator,
               void* second_accumulator);
  // accumulators[i] = values[i], at position `first`.
  void (*start)(const void* values, int64_t count, int64_t first, void* accumulators, int64_t* positions);
  // accumulators[i] combined with values[i], at position `at`.
  void (*add)(const void* values, int64_t count, int64_t at, void* accumulators, int64_t* positions);
  // accumulators[i] combined with others[i].
  void (*combine)(void* accumulators, int64_t* positions, const void* others, const int64_t* other_positions,
                  int64_t count);
  // results[i] = accumulators[i] as the type itself; for ArgMax and ArgMin its position.
  void (*finish)(const void* accumulators, const int64_t* positions, int64_t count, void* results);
};

// By ReduceOp and DType.
struct ReduceTable {
  ReduceLoops loops[kReduceOps][plugin::kDTypeCount];
};
BACKPLANE_CPU_TABLE(ReduceTable, reduce_table)

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_VECTOR_REDUCE_H_
