// SPDX-License-Identifier: Apache-2.0
#include "tensor/iteration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "backplane/error.h"

namespace backplane::internal {
namespace {

// The output's strides decide, then the inputs'; zero strides say nothing. Ties keep the given order.
bool walks_wider(const IterationSpace& space, int operand_count, int a, int b) {
  for (int i = 0; i < operand_count; ++i) {
    const int64_t x = std::abs(space.strides[i][a]), y = std::abs(space.strides[i][b]);
    if (x == 0 || y == 0 || x == y) continue;
    return x > y;
  }
  return false;
}

void move_dimension(IterationSpace& space, int operand_count, int from, int to) {
  space.shape[to] = space.shape[from];
  for (int i = 0; i < operand_count; ++i) space.strides[i][to] = space.strides[i][from];
}

void swap_dimensions(IterationSpace& space, int operand_count, int a, int b) {
  std::swap(space.shape[a], space.shape[b]);
  for (int i = 0; i < operand_count; ++i) std::swap(space.strides[i][a], space.strides[i][b]);
}

// Insertion sort: few dimensions, stable, and the relation above is not a strict weak order, which std::sort
// would need.
void order_dimensions(IterationSpace& space, int operand_count, int first, int last) {
  for (int i = first + 1; i < last; ++i)
    for (int j = i; j > first && walks_wider(space, operand_count, j, j - 1); --j)
      swap_dimensions(space, operand_count, j, j - 1);
}

bool can_merge(const IterationSpace& space, int operand_count, int outer, int inner) {
  for (int i = 0; i < operand_count; ++i)
    if (space.strides[i][outer] != space.strides[i][inner] * space.shape[inner]) return false;
  return true;
}

}  // namespace

void IterationSpace::add_dimension(int64_t size, std::span<const Strides> operands, int i) {
  shape[rank] = size;
  for (size_t o = 0; o < operands.size(); ++o) strides[o][rank] = operands[o][i];
  ++rank;
}

int simplify(IterationSpace& space, int operand_count, int first, int last, Order order) {
  int kept = first;
  for (int i = first; i < last; ++i)
    if (space.shape[i] != 1) move_dimension(space, operand_count, i, kept++);
  if (order == Order::Any) order_dimensions(space, operand_count, first, kept);
  int merged = std::min(kept, first + 1);
  for (int i = first + 1; i < kept; ++i) {
    if (can_merge(space, operand_count, merged - 1, i)) {
      const int64_t size = space.shape[merged - 1] * space.shape[i];
      move_dimension(space, operand_count, i, merged - 1);
      space.shape[merged - 1] = size;
    } else {
      move_dimension(space, operand_count, i, merged++);
    }
  }
  for (int i = last; i < space.rank; ++i) move_dimension(space, operand_count, i, merged + i - last);
  space.rank -= last - merged;
  return merged - first;
}

void fill_launch(Launch& launch, const IterationSpace& space) {
  if (space.rank > static_cast<int>(plugin::kMaxRank))
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}: {} dimensions that cannot be merged; kernels take at most {}",
                            launch.args.label, space.rank, plugin::kMaxRank));
  // A single point is one dimension of size 1, so that kernels need no case for it.
  if (space.rank == 0) {
    launch.args.rank = 1;
    launch.args.shape[0] = 1;
    for (uint32_t i = 0; i < launch.args.operand_count; ++i) launch.operands[i].strides[0] = 1;
    return;
  }
  launch.args.rank = static_cast<uint32_t>(space.rank);
  std::copy_n(space.shape.begin(), space.rank, launch.args.shape);
  for (uint32_t i = 0; i < launch.args.operand_count; ++i)
    std::copy_n(space.strides[i].begin(), space.rank, launch.operands[i].strides);
}

bool is_contiguous(const IterationSpace& space, int operand_count) noexcept {
  if (space.rank == 0) return true;
  if (space.rank != 1) return false;
  for (int i = 0; i < operand_count; ++i)
    if (space.strides[i][0] != 0 && space.strides[i][0] != 1) return false;
  return true;
}

}  // namespace backplane::internal
