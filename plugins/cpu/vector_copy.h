// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_CPU_VECTOR_COPY_H_
#define BACKPLANE_CPU_VECTOR_COPY_H_

#include <cstdint>

#include "cpu/isa.h"

namespace backplane::cpu {

// Inner loops of strided copies, by the element's size: entry k is for 2^k bytes. Strides are in elements.
struct VectorCopy {
  // Elements on a side of the square that `transpose` best handles at once where results go past the caches:
  // several cache lines, so that memory is read and written in longer pieces.
  int64_t block[4];
  // dst[a * dst_stride + b] = src[b * src_stride + a] for a < a_count, b < b_count. `streaming` stores past
  // the caches.
  void (*transpose[4])(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t a_count,
                       int64_t b_count, bool streaming);
  // dst[i * dst_stride] = src[i * src_stride] for i < count.
  void (*strided[4])(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t count);
};
BACKPLANE_CPU_TABLE(VectorCopy, vector_copy)

// Elements on a side of the square that `transpose` handles at once: a cache line.
constexpr int64_t transpose_tile(uint32_t element_size) { return 64 / static_cast<int64_t>(element_size); }

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_VECTOR_COPY_H_
