// SPDX-License-Identifier: Apache-2.0
//
// The iteration space of a launch: dimensions of size 1 dropped, ordered so that the innermost is the one the
// output walks closest together, and merged where every operand's strides allow.
#ifndef BACKPLANE_SRC_TENSOR_ITERATION_H_
#define BACKPLANE_SRC_TENSOR_ITERATION_H_

#include <array>
#include <cstdint>
#include <span>

#include "backplane/shape.h"
#include "stream/launch.h"

namespace backplane::internal {

// Dimensions as planned: sizes, and for each operand one stride a dimension.
struct IterationSpace {
  int rank = 0;
  std::array<int64_t, kMaxTensorRank + 1> shape;
  std::array<std::array<int64_t, kMaxTensorRank + 1>, kMaxOperands> strides;  // [operand][dimension]

  // Appends dimension `i` of a shape, with each operand's stride in it.
  void add_dimension(int64_t size, std::span<const Strides> operands, int i);
};

enum class Order {
  Any,       // dimensions may be permuted: elementwise, copy, sums
  RowMajor,  // they may only be merged: positions count
};

// Simplifies dimensions [first, last) of the space, which stay together; returns how many are left. The rest
// is not touched.
int simplify(IterationSpace& space, int operand_count, int first, int last, Order order);

// Copies the space into a launch, whose operands were added in the same order. InvalidArgument beyond
// plugin::kMaxRank dimensions.
void fill_launch(Launch& launch, const IterationSpace& space);

// Whether the space is one dimension in which every operand's stride is 1 or 0.
bool is_contiguous(const IterationSpace& space, int operand_count) noexcept;

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_TENSOR_ITERATION_H_
