// SPDX-License-Identifier: Apache-2.0
#include "ops/barrier.h"

#include <algorithm>

#include "exec/cuda_codes.h"
#include "exec/grid.h"
#include "ops/control.h"

namespace cuda_double {
namespace {

const Instr& instruction(const Group& group) { return group.frame->function->code[group.pc]; }

bool reduces(BarrierKind kind) { return kind != BarrierKind::kSync && kind != BarrierKind::kArrive; }

void contribute(Warp& warp, const Instr& instr, Barrier& barrier) {
  if (!reduces(instr.barrier)) return;
  uint32_t votes = warp.predicate(instr.c);
  if (instr.flag) votes = ~votes;
  votes &= warp.active;
  barrier.count += static_cast<uint32_t>(__builtin_popcount(votes));
  barrier.all = barrier.all && votes == warp.active;
  barrier.any = barrier.any || votes != 0;
}

void store_result(const Group& group, const Barrier& barrier) {
  const Instr& instr = instruction(group);
  uint8_t* slot = group.frame->registers + instr.dst;
  if (instr.barrier == BarrierKind::kPopc) {
    for_lanes(group.mask, [&](int lane) { reinterpret_cast<uint32_t*>(slot)[lane] = barrier.count; });
    return;
  }
  auto& predicate = *reinterpret_cast<uint32_t*>(slot);
  const bool value = instr.barrier == BarrierKind::kAnd ? barrier.all : barrier.any;
  predicate = (predicate & ~group.mask) | (value ? group.mask : 0);
}

uint32_t live_threads(const Block& block) {
  uint32_t count = 0;
  for (const auto& warp : block.warps) count += static_cast<uint32_t>(__builtin_popcount(warp->live));
  return count;
}

// Whether every lane that this one waits for stands at some __syncwarp.
uint32_t lanes_at_warp_barrier(const Warp& warp) {
  uint32_t lanes = 0;
  for (const Group& group : warp.waiting) {
    const Instr& instr = instruction(group);
    if (group.state == GroupState::kConverging && instr.control == Control::kWarpSync && instr.flag)
      lanes |= group.mask;
  }
  return lanes;
}

bool members_in(const Warp& warp, const Group& group, uint32_t lanes) {
  const Instr& instr = instruction(group);
  const auto* members = reinterpret_cast<const uint32_t*>(group.frame->registers + instr.d);
  bool all = true;
  for_lanes(group.mask, [&](int lane) { all = all && (members[lane] & warp.live & ~lanes) == 0; });
  return all;
}

[[noreturn]] void report_divergence(const Warp& warp) {
  const auto stuck = std::find_if(warp.waiting.begin(), warp.waiting.end(),
                                  [](const Group& group) { return group.state == GroupState::kConverging; });
  const Instr& instr = instruction(*stuck);
  std::string lines;
  for (const Group& group : warp.waiting) {
    if (&group != &*stuck) lines += (lines.empty() ? "" : ", ") + std::to_string(instruction(group).line);
  }
  const std::string what = instr.control == Control::kBarrier
                               ? "barrier in divergent code: only some threads of the warp reach it"
                               : "threads of the member mask never reach this instruction";
  warp.fault(instr, __builtin_ctz(stuck->mask), kErrorLaunchTimeout,
             what + (lines.empty() ? "" : " (others wait in line " + lines + ")"));
}

}  // namespace

bool try_release(Block& block, int id, bool) {
  Barrier& barrier = block.barriers[id];
  const uint32_t expected = barrier.expected == 0 ? live_threads(block) : barrier.expected;
  if (barrier.arrived < expected) return false;
  std::vector<uint32_t> threads;
  for (auto& warp : block.warps) {
    for (Group& group : warp->waiting) {
      if (group.state != GroupState::kAtBarrier || group.barrier != id) continue;
      if (reduces(instruction(group).barrier)) store_result(group, barrier);
      group.state = GroupState::kReady;
      group.barrier = -1;
      ++group.pc;
      warp->runnable = true;
      for_lanes(group.mask, [&](int lane) { threads.push_back(warp->thread(lane)); });
    }
  }
  if (block.launch->checks.races) block.races.block_barrier(threads);
  barrier = {};
  return true;
}

void arrive(Warp& warp, const Instr& instr) {
  const int first = __builtin_ctz(warp.active);
  const uint32_t id = warp.at<uint32_t>(instr.a)[first];
  if (id >= 16) warp.fault(instr, first, kErrorIllegalInstruction, "no barrier " + std::to_string(id));
  Barrier& barrier = warp.block->barriers[id];
  const uint32_t expected = instr.mode != 0 ? warp.at<uint32_t>(instr.b)[first] : 0;
  if (instr.mode != 0 && (expected == 0 || expected % kLanes != 0)) {
    warp.fault(instr, first, kErrorIllegalInstruction,
               "a barrier's thread count must be a multiple of the warp size");
  }
  if (barrier.in_use && barrier.expected != expected) {
    warp.fault(instr, first, kErrorIllegalInstruction,
               "threads arrive at one barrier with different thread counts");
  }
  barrier.in_use = true;
  barrier.expected = expected;
  contribute(warp, instr, barrier);
  const bool whole_warp = expected != 0 && instr.aligned;
  barrier.arrived += whole_warp ? kLanes : static_cast<uint32_t>(__builtin_popcount(warp.active));
  if (instr.barrier == BarrierKind::kArrive) {
    ++warp.pc;
  } else {
    warp.waiting.push_back({warp.frame, warp.pc, warp.active, GroupState::kAtBarrier, static_cast<int>(id)});
    warp.active = 0;
  }
  try_release(*warp.block, static_cast<int>(id), false);
}

bool resolve_waiting(Warp& warp) {
  bool released = false, at_barrier = false, converging = false;
  const uint32_t at_warp_barrier = lanes_at_warp_barrier(warp);
  uint32_t passed = 0;
  for (Group& group : warp.waiting) {
    at_barrier |= group.state == GroupState::kAtBarrier;
    if (group.state != GroupState::kConverging) continue;
    converging = true;
    const Instr& instr = instruction(group);
    if (instr.control == Control::kBarrier ? group.mask == warp.live : members_in(warp, group, group.mask)) {
      group.state = GroupState::kReady;
      released = true;
    } else if (instr.control == Control::kWarpSync && instr.flag &&
               members_in(warp, group, at_warp_barrier)) {
      group.state = GroupState::kReady;
      ++group.pc;
      passed |= group.mask;
      released = true;
    }
  }
  if (passed != 0 && warp.block->launch->checks.races) warp.block->races.warp_barrier(warp.index, passed);
  if (!released && converging && !at_barrier) report_divergence(warp);
  return released;
}

}  // namespace cuda_double
