// SPDX-License-Identifier: Apache-2.0
#include "ops/control.h"

#include <algorithm>
#include <cstring>

#include "exec/cuda_codes.h"
#include "exec/grid.h"
#include "ops/barrier.h"

namespace cuda_double {
namespace {

uint32_t guarded(Warp& warp, const Instr& instr) {
  if (instr.predicate < 0) return warp.active;
  const uint32_t guard = warp.predicate(static_cast<uint32_t>(instr.predicate));
  return warp.active & (instr.predicate_negated ? ~guard : guard);
}

// The lanes of `mask` stay the current group; the others go on at `pc`.
void split(Warp& warp, uint32_t mask, uint32_t pc) {
  const uint32_t rest = warp.active & ~mask;
  if (rest != 0) warp.waiting.push_back({warp.frame, pc, rest, GroupState::kReady, -1});
  warp.active = mask;
}

void branch(Warp& warp, const Instr& instr, uint32_t mask) {
  const uint32_t next = warp.pc + 1;
  if (mask == warp.active) {
    warp.pc = instr.target;
  } else if (mask == 0) {
    warp.pc = next;
  } else {
    split(warp, mask, next);
    warp.pc = instr.target;
  }
}

void branch_indexed(Warp& warp, const Instr& instr, uint32_t mask) {
  split(warp, mask, warp.pc + 1);
  const uint32_t* index = warp.at<uint32_t>(instr.a);
  const int first = __builtin_ctz(mask);
  if (index[first] >= instr.count)
    warp.fault(instr, first, kErrorIllegalInstruction, "brx.idx beyond its targets");
  uint32_t same = 0;
  for_lanes(mask, [&](int lane) { same |= static_cast<uint32_t>(index[lane] == index[first]) << lane; });
  split(warp, same, warp.pc);
  warp.pc = instr.list[index[first]];
}

void exit_lanes(Warp& warp, uint32_t mask) {
  warp.live &= ~mask;
  warp.active &= ~mask;
  for (Frame* frame = warp.frame; frame != nullptr; frame = frame->parent) frame->lanes &= ~mask;
  ++warp.pc;
}

void copy_argument(Warp& warp, uint32_t mask, uint32_t from, uint32_t to, uint32_t size) {
  for_lanes(mask, [&](int lane) {
    uint8_t* memory = warp.block->local_memory(warp, lane);
    std::memmove(memory + to, memory + from, size);
  });
}

void return_lanes(Warp& warp, uint32_t mask) {
  Frame* frame = warp.frame;
  if (frame->parent == nullptr) return exit_lanes(warp, mask);
  split(warp, mask, warp.pc + 1);
  const auto& results = frame->site->results;
  for (size_t i = 0; i < results.size(); ++i) {
    copy_argument(warp, mask, frame->local_base + frame->function->returns[i].offset,
                  frame->parent->local_base + results[i].caller_offset, results[i].size);
  }
  warp.frame = frame->parent;
  warp.registers = warp.frame->registers;
  warp.pc = frame->return_pc;
  frame->lanes &= ~mask;
  if (frame->lanes == 0) pop_frame(warp, frame);
}

const Function* callee(Warp& warp, const Instr& instr, uint32_t& mask) {
  if (instr.call->callee != nullptr) return instr.call->callee;
  const uint64_t* targets = warp.at<uint64_t>(instr.a);
  const int first = __builtin_ctz(mask);
  uint32_t same = 0;
  for_lanes(mask, [&](int lane) { same |= static_cast<uint32_t>(targets[lane] == targets[first]) << lane; });
  mask = same;
  const auto& functions = warp.block->launch->program->by_address;
  const auto found = functions.find(targets[first]);
  if (found == functions.end())
    warp.fault(instr, first, kErrorIllegalInstruction, "call through a pointer to no function");
  return found->second;
}

void check_signature(const Warp& warp, const Instr& instr, const Function& function) {
  const bool match = function.parameters.size() == instr.call->arguments.size() &&
                     function.returns.size() == instr.call->results.size();
  if (!match)
    warp.fault(instr, __builtin_ctz(warp.active), kErrorIllegalInstruction,
               "call of '" + function.name + "' with other parameters than it has");
}

void call(Warp& warp, const Instr& instr, uint32_t mask) {
  split(warp, mask, warp.pc + 1);
  const Function* function = callee(warp, instr, mask);
  split(warp, mask, warp.pc);
  check_signature(warp, instr, *function);
  if (function->builtin != nullptr) {
    for_lanes(mask, [&](int lane) { function->builtin(warp, instr, lane); });
    ++warp.pc;
    return;
  }
  Frame* caller = warp.frame;
  Frame* frame = push_frame(warp, *function, caller, mask);
  if (frame->stack_top > warp.block->local_stride) {
    warp.fault(instr, __builtin_ctz(mask), kErrorHardwareStackError,
               "stack overflow in '" + function->name + "'");
  }
  for (size_t i = 0; i < function->parameters.size(); ++i) {
    copy_argument(warp, mask, caller->local_base + instr.call->arguments[i].caller_offset,
                  frame->local_base + function->parameters[i].offset, instr.call->arguments[i].size);
  }
  for (const SpecialUse& use : function->specials) {
    if (use.which == Special::kLocalBase) fill_special(warp, frame->registers, use);
  }
  frame->site = instr.call;
  frame->return_pc = warp.pc + 1;
  warp.frame = frame;
  warp.registers = frame->registers;
  warp.pc = 0;
}

void trap(Warp& warp, const Instr& instr, uint32_t mask) {
  warp.fault(instr, __builtin_ctz(mask), kErrorLaunchFailed, instr.flag ? "brkpt" : "trap");
}

void converge(Warp& warp) {
  warp.waiting.push_back({warp.frame, warp.pc, warp.active, GroupState::kConverging, -1});
  warp.active = 0;
}

void warp_sync(Warp& warp, const Instr& instr, uint32_t mask) {
  split(warp, mask, warp.pc + 1);
  const uint32_t* members = warp.at<uint32_t>(instr.d);
  bool complete = true;
  for_lanes(mask, [&](int lane) {
    if ((members[lane] >> lane & 1) == 0) {
      warp.fault(instr, lane, kErrorIllegalInstruction, "the thread is not in the member mask that it gives");
    }
    complete = complete && (members[lane] & warp.live & ~mask) == 0;
  });
  if (!complete) return converge(warp);
  warp.mask = mask;
  instr.run(warp, instr);
  ++warp.pc;
}

}  // namespace

void run_control(Warp& warp, const Instr& instr) {
  const uint32_t mask = guarded(warp, instr);
  if (instr.control == Control::kBranch) return branch(warp, instr, mask);
  if (mask == 0) {
    ++warp.pc;
    return;
  }
  switch (instr.control) {
    case Control::kBranchIndexed:
      return branch_indexed(warp, instr, mask);
    case Control::kReturn:
      return return_lanes(warp, mask);
    case Control::kExit:
      return exit_lanes(warp, mask);
    case Control::kCall:
      return call(warp, instr, mask);
    case Control::kTrap:
      return trap(warp, instr, mask);
    case Control::kWarpSync:
      return warp_sync(warp, instr, mask);
    case Control::kBarrier:
      split(warp, mask, warp.pc + 1);
      if (instr.aligned && mask != warp.live) return converge(warp);
      return arrive(warp, instr);
    case Control::kBranch:
    case Control::kNone:
      return;
  }
}

}  // namespace cuda_double
