// SPDX-License-Identifier: Apache-2.0
//
// Iteration spaces, and walking over them. Not for files of vector loops: it is made of inline functions.
#ifndef BACKPLANE_CPU_ITERATION_H_
#define BACKPLANE_CPU_ITERATION_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "backplane/plugin/kernels.h"

namespace backplane::cpu {

// Dimensions, outermost first, with one stride in elements for each of kOperands operands.
template <int kOperands>
struct Space {
  int operands = kOperands;  // how many are in use; the others' strides are 0 and stay so
  int rank = 0;
  int64_t shape[plugin::kMaxRank] = {};
  int64_t strides[kOperands][plugin::kMaxRank] = {};

  int64_t size() const {
    int64_t count = 1;
    for (int d = 0; d < rank; ++d) count *= shape[d];
    return count;
  }

  void push(int64_t extent, const int64_t (&stride)[kOperands]) {
    shape[rank] = extent;
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): it does not see through constexpr arrays
    for (int k = 0; k < operands; ++k) strides[k][rank] = stride[k];
    ++rank;
  }

  void swap_dimensions(int a, int b) {
    std::swap(shape[a], shape[b]);
    for (int k = 0; k < operands; ++k) std::swap(strides[k][a], strides[k][b]);
  }

  void move_innermost(int at) {
    for (int d = at; d + 1 < rank; ++d) swap_dimensions(d, d + 1);
  }

  void remove_dimension(int at) {
    move_innermost(at);
    --rank;
  }

  // Orders dimensions by one operand's strides, the smallest innermost. Changes the order in which points
  // come.
  void order_by(int operand) {
    const auto stride = [&](int d) { return std::abs(strides[operand][d]); };
    for (int i = 1; i < rank; ++i) {
      for (int d = i; d > 0 && stride(d - 1) < stride(d); --d) swap_dimensions(d - 1, d);
    }
  }

  // Drops dimensions of one point and joins those that all operands walk through as through one. Keeps the
  // order of points.
  void merge() {
    for (int d = rank - 1; d >= 0; --d) {
      if (shape[d] == 1) remove_dimension(d);
    }
    for (int d = rank - 2; d >= 0; --d) {
      bool joined = true;
      for (int k = 0; k < operands; ++k) joined = joined && strides[k][d] == strides[k][d + 1] * shape[d + 1];
      if (!joined) continue;
      shape[d + 1] *= shape[d];
      remove_dimension(d);
    }
  }
};

// Where the points of some leading dimensions of a space lie, in elements from each operand's origin.
template <int kOperands>
class Walker {
 public:
  // Over the first `rank` dimensions, starting at row-major point `index`.
  Walker(const Space<kOperands>& space, int rank, int64_t index) : space_(space), rank_(rank) {
    for (int d = rank - 1; d >= 0; --d) {
      position_[d] = index % space.shape[d];
      index /= space.shape[d];
      for (int k = 0; k < space.operands; ++k) offset_[k] += position_[d] * space.strides[k][d];
    }
  }

  int64_t offset(int operand) const { return offset_[operand]; }

  void next() {
    for (int d = rank_ - 1; d >= 0; --d) {
      for (int k = 0; k < space_.operands; ++k) offset_[k] += space_.strides[k][d];
      if (++position_[d] < space_.shape[d]) return;
      for (int k = 0; k < space_.operands; ++k) offset_[k] -= space_.strides[k][d] * space_.shape[d];
      position_[d] = 0;
    }
  }

 private:
  const Space<kOperands>& space_;
  const int rank_;
  int64_t position_[plugin::kMaxRank] = {};
  int64_t offset_[kOperands] = {};
};

// The space of a launch, as it stands, for the first kOperands operands.
template <int kOperands>
Space<kOperands> launch_space(const plugin::LaunchArgs& args) {
  Space<kOperands> space;
  space.rank = static_cast<int>(args.rank);
  for (int d = 0; d < space.rank; ++d) {
    space.shape[d] = args.shape[d];
    for (int k = 0; k < kOperands; ++k)
      space.strides[k][d] = args.operand(static_cast<uint32_t>(k)).strides[d];
  }
  return space;
}

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_ITERATION_H_
