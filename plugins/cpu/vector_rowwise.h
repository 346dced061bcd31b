// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_CPU_VECTOR_ROWWISE_H_
#define BACKPLANE_CPU_VECTOR_ROWWISE_H_

#include <cstdint>

#include "cpu/isa.h"

namespace backplane::cpu {

inline constexpr uint32_t kRowwiseOps = 4;

// One contiguous row of `count` >= 1 values, into `result`, which may be `values`. `weight` and `bias`,
// contiguous, or null for none, and epsilon serve the two norms alone.
using RowFunction = void (*)(const void* values, void* result, int64_t count, const void* weight,
                             const void* bias, double epsilon);

// By RowwiseOp.
struct RowwiseTable {
  RowFunction float32[kRowwiseOps];
  RowFunction float64[kRowwiseOps];
};
BACKPLANE_CPU_TABLE(RowwiseTable, rowwise_table)

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_VECTOR_ROWWISE_H_
