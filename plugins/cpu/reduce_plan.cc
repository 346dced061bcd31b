// SPDX-License-Identifier: Apache-2.0
#include "cpu/reduce_plan.h"

namespace backplane::cpu {
namespace {

// The input whose strides decide.
constexpr int kMain = 1;

// Values of one piece: some 8 us of work, or more.
constexpr int64_t kPieceValues = 32768;
// With this many outputs or more, cutting the reduced dimensions gains nothing.
constexpr int64_t kManyPieces = 64;
// Keeps what the pieces leave behind small.
constexpr int64_t kMaxParts = 1024;
// Reduced rows shorter than this cost more to start than to walk.
constexpr int64_t kShortRow = 16;

constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

using ReduceSpace = Space<kReduceOperands>;

void push_dimension(ReduceSpace& space, const plugin::LaunchArgs& args, int dimension) {
  int64_t strides[kReduceOperands] = {};
  for (uint32_t k = 0; k < args.operand_count && k < kReduceOperands; ++k) {
    strides[k] = args.operand(k).strides[dimension];
  }
  space.push(args.shape[dimension], strides);
}

// So that there is always an innermost one.
void ensure_dimension(ReduceSpace& space) {
  constexpr int64_t kNoStrides[kReduceOperands] = {};
  if (space.rank == 0) space.push(1, kNoStrides);
}

// A kept dimension along which the main input is contiguous; else, with `any`, the one that is nearest to it.
// -1 if none.
int find_lanes(const ReduceSpace& kept, bool any) {
  int best = -1;
  for (int d = 0; d < kept.rank; ++d) {
    const int64_t stride = std::abs(kept.strides[kMain][d]);
    if (kept.shape[d] == 1 || (stride != 1 && !any)) continue;
    if (best < 0 || stride < std::abs(kept.strides[kMain][best])) best = d;
  }
  return best;
}

void choose_direction(ReducePlan& plan) {
  const int inner = plan.reduced.rank - 1;
  const bool long_rows =
      std::abs(plan.reduced.strides[kMain][inner]) == 1 && plan.reduced.shape[inner] >= kShortRow;
  if (long_rows) return;
  const int lanes = find_lanes(plan.kept, plan.reduced.shape[inner] < kShortRow);
  if (lanes < 0) return;
  plan.by_lanes = true;
  plan.kept.move_innermost(lanes);
}

void choose_sizes(ReducePlan& plan) {
  plan.lanes = plan.kept.shape[plan.kept.rank - 1];
  plan.outer = plan.kept.size() / plan.lanes;
  plan.reduced_count = plan.reduced.size();
  plan.part = plan.reduced_count;
  if (plan.by_lanes) {
    plan.chunk = std::min(plan.lanes, kReduceLanes);
  } else {
    plan.chunk =
        std::clamp<int64_t>(kPieceValues / plan.reduced_count, 1, std::min(plan.lanes, kReduceLanes));
  }
  plan.chunks = divide_up(plan.lanes, plan.chunk);
  if (plan.outer * plan.chunks < kManyPieces) {
    const int64_t least = std::max<int64_t>(1, kPieceValues / plan.chunk);
    if (plan.reduced_count > least) plan.part = std::max(least, divide_up(plan.reduced_count, kMaxParts));
  }
  plan.parts = divide_up(plan.reduced_count, plan.part);
}

}  // namespace

ReducePlan plan_reduce(const plugin::LaunchArgs& args, bool ordered) {
  ReducePlan plan;
  const int rank = static_cast<int>(args.rank);
  const int kept = rank - static_cast<int>(args.reduced_rank);
  plan.kept.operands = plan.reduced.operands =
      std::min(static_cast<int>(args.operand_count), kReduceOperands);
  for (int d = 0; d < kept; ++d) push_dimension(plan.kept, args, d);
  for (int d = kept; d < rank; ++d) push_dimension(plan.reduced, args, d);
  plan.kept.order_by(0);
  plan.kept.merge();
  if (!ordered) plan.reduced.order_by(kMain);
  plan.reduced.merge();
  ensure_dimension(plan.kept);
  ensure_dimension(plan.reduced);
  choose_direction(plan);
  choose_sizes(plan);
  return plan;
}

}  // namespace backplane::cpu
