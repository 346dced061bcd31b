// SPDX-License-Identifier: Apache-2.0
// Divergence: a warp is a set of groups of lanes, each with its own program counter. Of those that can run,
// the innermost frame's group at the lowest address runs next, which brings lanes together again where their
// paths meet; a group that has kept others waiting for long gives way, so that lanes may wait for each other
// (a lock, say).
#include <algorithm>

#include "exec/cuda_codes.h"
#include "exec/grid.h"
#include "ops/control.h"

namespace cuda_double {
namespace {

constexpr uint64_t kPatience = 4096;  // basic blocks that a group may run while another of its warp is ready
constexpr uint64_t kTurn = 1u << 16;  // basic blocks that a warp may run before the next warp's turn

void park(Warp& warp, GroupState state) {
  warp.waiting.push_back({warp.frame, warp.pc, warp.active, state, -1});
  warp.active = 0;
}

void make_current(Warp& warp, size_t position) {
  const Group group = warp.waiting[position];
  warp.waiting.erase(warp.waiting.begin() + static_cast<std::ptrdiff_t>(position));
  warp.frame = group.frame;
  warp.registers = group.frame->registers;
  warp.pc = group.pc;
  warp.active = group.mask;
}

bool before(const Group& left, const Group& right) {
  if (left.frame->depth != right.frame->depth) return left.frame->depth > right.frame->depth;
  return left.pc < right.pc;
}

// Joins waiting groups that stand where the current one does.
void merge(Warp& warp) {
  for (size_t i = 0; i < warp.waiting.size();) {
    Group& group = warp.waiting[i];
    if (group.frame == warp.frame && group.pc == warp.pc && group.state != GroupState::kAtBarrier) {
      warp.active |= group.mask;
      group = warp.waiting.back();
      warp.waiting.pop_back();
    } else {
      ++i;
    }
  }
}

constexpr size_t kNone = ~size_t{0};

// The ready group of `waiting` that comes first; the one at `except` only where there is no other.
size_t first_ready(const Warp& warp, size_t except) {
  size_t best = kNone;
  for (size_t i = 0; i < warp.waiting.size(); ++i) {
    if (warp.waiting[i].state != GroupState::kReady) continue;
    if (best == kNone || best == except || (i != except && before(warp.waiting[i], warp.waiting[best])))
      best = i;
  }
  return best;
}

// Chooses the group to run; false where none is ready.
bool choose(Warp& warp) {
  if (warp.waiting.empty()) return warp.active != 0;
  size_t parked = kNone;
  if (warp.active != 0) {
    const Group current{warp.frame, warp.pc, warp.active, GroupState::kReady, -1};
    const size_t other = first_ready(warp, kNone);
    const bool unfair = other != kNone && ++warp.blocks_since_switch > kPatience;
    if (other == kNone || (!unfair && !before(warp.waiting[other], current))) {
      merge(warp);
      return true;
    }
    if (unfair) parked = warp.waiting.size();
    park(warp, GroupState::kReady);
  }
  const size_t best = first_ready(warp, parked);
  if (best == kNone) return false;
  if (parked != kNone) warp.blocks_since_switch = 0;
  make_current(warp, best);
  merge(warp);
  return true;
}

[[gnu::always_inline]] inline void step(Warp& warp, const Instr& instr) {
  uint32_t mask = warp.active;
  if (instr.predicate >= 0) {
    const uint32_t guard = warp.predicate(static_cast<uint32_t>(instr.predicate));
    mask &= instr.predicate_negated ? ~guard : guard;
    if (mask == 0) return;
  }
  warp.mask = mask;
  instr.run(warp, instr);
}

void check_limit(Warp& warp, const Instr& instr) {
  const uint64_t limit = warp.block->launch->instruction_limit;
  if (limit != 0 && warp.block->executed > limit) {
    warp.fault(instr, __builtin_ctz(warp.active), kErrorLaunchTimeout,
               "the block ran longer than the limit allows");
  }
}

}  // namespace

void run_warp(Warp& warp) {
  for (uint64_t turn = 0; turn < kTurn; ++turn) {
    if (!choose(warp)) {
      warp.runnable = resolve_waiting(warp);
      if (!warp.runnable || warp.live == 0) return;
      continue;
    }
    const Function& function = *warp.frame->function;
    const Instr* instr = function.code.data() + warp.pc;
    const uint32_t last_index = function.block_last[warp.pc];
    const Instr* last = function.code.data() + last_index;
    ++warp.block->executed;
    for (; instr != last; ++instr) step(warp, *instr);
    warp.pc = last_index;
    if (last->control == Control::kNone) {
      step(warp, *last);
      ++warp.pc;
    } else {
      run_control(warp, *last);
    }
    check_limit(warp, *last);
  }
}

}  // namespace cuda_double
