// SPDX-License-Identifier: Apache-2.0
//
// How one reduction is cut into pieces. Depends on shape and strides alone, so that results are equal for
// every thread count.
#ifndef BACKPLANE_CPU_REDUCE_PLAN_H_
#define BACKPLANE_CPU_REDUCE_PLAN_H_

#include <cstdint>

#include "cpu/iteration.h"

namespace backplane::cpu {

// The output, the prologue's inputs, the epilogue's inputs but the first.
inline constexpr int kReduceOperands = 1 + plugin::kMaxInputs + plugin::kMaxInputs - 1;

// Outputs that one piece makes at most, and values that are made at once.
inline constexpr int64_t kReduceLanes = 512;
inline constexpr int64_t kReduceTile = 2048;

struct ReducePlan {
  // Kept dimensions; the innermost is the one whose outputs are made side by side, the lanes.
  Space<kReduceOperands> kept;
  Space<kReduceOperands> reduced;

  // Combine whole rows of lanes with each other, rather than the values of one output after another.
  bool by_lanes = false;

  int64_t lanes = 1;          // extent of the innermost kept dimension
  int64_t outer = 1;          // product of the other kept dimensions
  int64_t reduced_count = 1;  // values combined into one output
  int64_t chunk = 1;          // lanes of one piece
  int64_t chunks = 1;
  int64_t part = 1;  // reduced positions of one piece
  int64_t parts = 1;

  int64_t outputs() const { return outer * lanes; }
  int64_t pieces() const { return outer * chunks * parts; }
};

// `ordered`: positions matter (ArgMax, ArgMin), and the reduced dimensions keep their order.
ReducePlan plan_reduce(const plugin::LaunchArgs& args, bool ordered);

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_REDUCE_PLAN_H_
