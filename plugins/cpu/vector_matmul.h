// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_CPU_VECTOR_MATMUL_H_
#define BACKPLANE_CPU_VECTOR_MATMUL_H_

#include <cstdint>

#include "backplane/plugin/types.h"
#include "cpu/isa.h"

namespace backplane::cpu {

// Copies `count` rows of a matrix into panels, panel after panel: a panel holds, position of the sum after
// position, the elements of its rows side by side, in the type that sums are made in; the last panel is
// filled up with zeros. Element (row, k) of the source lies at row * row_stride + k * k_stride elements.
using PackFunction = void (*)(const void* source, int64_t row_stride, int64_t k_stride, int64_t count,
                              int64_t k, void* panels);

// Memory that is needed soon, one range after the other: brought into the caches little by little while a
// product is made.
struct FetchAhead {
  const char* at = nullptr;
  const char* end = nullptr;
  const char* later = nullptr;
  const char* later_end = nullptr;
};

// The blocks of a matrix product in one type. Sums run over k in order, each element of the product on its
// own, so that results do not depend on how the product is cut.
struct MatmulLoops {
  int32_t size;        // bytes of a sum
  int32_t panel_size;  // bytes of an element of a panel
  int32_t k_step;      // positions of the sum that lie together in a panel, filled up with zeros: 1, 2 or 4
  int32_t k_extra;     // positions' room that a panel has in front of the first
  int32_t rows;        // of a panel of the left matrix
  int32_t columns;     // of a panel of the right matrix

  // By the source's type; null where it cannot be converted.
  PackFunction pack_left[plugin::kDTypeCount];
  PackFunction pack_right[plugin::kDTypeCount];

  // sums[i * stride + j], i < m, j < n, becomes, or is increased by, the sum over k of left(i, k) * right(k,
  // j). Panels follow each other at the distances given, in elements.
  void (*multiply)(int64_t m, int64_t n, int64_t k, const void* left, int64_t left_distance,
                   const void* right, int64_t right_distance, void* sums, int64_t stride, bool accumulate);

  // The same with a left matrix as it lies, of the type that sums are made in; null where there is no such
  // way. `ahead` may be null.
  void (*multiply_unpacked)(int64_t m, int64_t n, int64_t k, const void* left, int64_t row_stride,
                            int64_t k_stride, const void* right, int64_t right_distance, void* sums,
                            int64_t stride, bool accumulate, FetchAhead* ahead);

  // sums[i], i < rows, becomes the sum over k of left(i, k) * vector[k], for a left matrix of the type that
  // sums are made in, one of whose strides is 1: for products with a single column, which packing would only
  // slow down.
  void (*multiply_vector)(const void* left, int64_t row_stride, int64_t k_stride, int64_t rows, int64_t k,
                          const void* vector, void* sums);

  // into[i] += from[i].
  void (*add)(void* into, const void* from, int64_t count);
};

// The types that sums are made in. Integers of one width share code, signed or not: they wrap. Pairs are sums
// of 32 bits of 8-bit factors, two products at a time; where there is no instruction for it, it packs
// nothing.
enum class SumType { Float32, Float64, Integer8, Integer16, Integer32, Integer64, Pairs };
inline constexpr int kSumTypes = 7;

struct MatmulTable {
  MatmulLoops loops[kSumTypes];
};
BACKPLANE_CPU_TABLE(MatmulTable, matmul_table)

#if defined(__x86_64__)
namespace avx512_vnni {
// Sums of 32 bits of signed 8-bit factors, four products at a time; where has_vnni().
extern const MatmulLoops quad_loops;
}  // namespace avx512_vnni
#endif

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_VECTOR_MATMUL_H_
