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

// `lanes` <= kStripLanes rows of `count` values each that lie side by side: value i of row j at
// i * stride + j, in elements. Each row's result depends on its own values alone, however rows are put
// together. `past`: results go past the caches.
inline constexpr int64_t kStripLanes = 256;
using StripFunction = void (*)(const void* values, int64_t value_stride, void* result, int64_t result_stride,
                               int64_t count, int64_t lanes, bool past);

// By RowwiseOp. A null strip: rows are to be gathered.
struct RowwiseTable {
  RowFunction float32[kRowwiseOps];
  RowFunction float64[kRowwiseOps];
  StripFunction float32_strip[kRowwiseOps];
  StripFunction float64_strip[kRowwiseOps];
};
BACKPLANE_CPU_TABLE(RowwiseTable, rowwise_table)

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_VECTOR_ROWWISE_H_
