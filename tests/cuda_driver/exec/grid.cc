// SPDX-License-Identifier: Apache-2.0
#include "exec/grid.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "exec/cuda_codes.h"

namespace cuda_double {
namespace {

constexpr uint32_t kStackBytes = 16384;  // a thread, where a kernel calls functions or uses alloca
constexpr int kSharedPoison = 0xCD;

std::string where(const Block& block, const Warp& warp, int lane) {
  const Dim3& size = block.launch->block;
  const uint32_t thread = warp.thread(lane);
  const auto triple = [](uint32_t x, uint32_t y, uint32_t z) {
    return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
  };
  return "block " + triple(block.index.x, block.index.y, block.index.z) + ", thread " +
         triple(thread % size.x, thread / size.x % size.y, thread / size.x / size.y);
}

uint32_t special_value(const Warp& warp, Special which, int lane) {
  const Block& block = *warp.block;
  const Launch& launch = *block.launch;
  const uint32_t thread = warp.thread(lane);
  const auto bit = static_cast<uint32_t>(1u << lane);
  switch (which) {
    case Special::kTidX:
      return thread % launch.block.x;
    case Special::kTidY:
      return thread / launch.block.x % launch.block.y;
    case Special::kTidZ:
      return thread / launch.block.x / launch.block.y;
    case Special::kNtidX:
      return launch.block.x;
    case Special::kNtidY:
      return launch.block.y;
    case Special::kNtidZ:
      return launch.block.z;
    case Special::kCtaidX:
      return block.index.x;
    case Special::kCtaidY:
      return block.index.y;
    case Special::kCtaidZ:
      return block.index.z;
    case Special::kNctaidX:
      return launch.grid.x;
    case Special::kNctaidY:
      return launch.grid.y;
    case Special::kNctaidZ:
      return launch.grid.z;
    case Special::kLaneId:
      return static_cast<uint32_t>(lane);
    case Special::kWarpId:
      return warp.index;
    case Special::kNwarpId:
      return 32;
    case Special::kSmId:
      return 0;
    case Special::kNsmId:
      return 1;
    case Special::kGridId:
      return static_cast<uint32_t>(launch.grid_id);
    case Special::kLaneMaskEq:
      return bit;
    case Special::kLaneMaskLt:
      return bit - 1;
    case Special::kLaneMaskLe:
      return (bit - 1) | bit;
    case Special::kLaneMaskGt:
      return ~((bit - 1) | bit);
    case Special::kLaneMaskGe:
      return ~(bit - 1);
    case Special::kDynamicSharedSize:
      return launch.dynamic_shared;
    case Special::kTotalSharedSize:
      return block.shared_size;
    case Special::kDynamicSharedBase:
      return launch.kernel->shared_size;
    case Special::kLocalBase:
      return warp.frames.empty() ? 0 : warp.frames.back()->local_base;
  }
  return 0;
}

bool changes_with_block(Special which) {
  return which == Special::kCtaidX || which == Special::kCtaidY || which == Special::kCtaidZ;
}

void fill_constants(const Function& function, uint8_t* registers) {
  for (const Constant& constant : function.constants) {
    uint8_t* slot = registers + constant.slot;
    if (constant.size == 0) {
      std::memcpy(slot, &constant.bits, 4);
      continue;
    }
    for (int lane = 0; lane < kLanes; ++lane)
      std::memcpy(slot + lane * constant.size, &constant.bits, constant.size);
  }
}

}  // namespace

void Warp::fault(const Instr& instr, int lane, int code, const std::string& what) const {
  throw DeviceFault{code, "kernel '" + block->launch->kernel->name + "', " + where(*block, *this, lane) +
                              ", line " + std::to_string(instr.line) + " of the PTX: " + what};
}

void fill_special(Warp& warp, uint8_t* registers, const SpecialUse& use) {
  uint64_t value = special_value(warp, use.which, 0);
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!changes_with_block(use.which)) value = special_value(warp, use.which, lane);
    std::memcpy(registers + use.slot + lane * use.size, &value, use.size);
  }
}

Frame* push_frame(Warp& warp, const Function& function, Frame* parent, uint32_t lanes) {
  std::unique_ptr<Frame> frame;
  for (auto& candidate : warp.spare) {
    if (candidate->function == &function) {
      frame = std::move(candidate);
      std::swap(candidate, warp.spare.back());
      warp.spare.pop_back();
      break;
    }
  }
  if (frame == nullptr) {
    frame = std::make_unique<Frame>();
    frame->function = &function;
    frame->storage = std::make_unique<uint8_t[]>(function.frame_size + 64);
    const auto address = reinterpret_cast<uintptr_t>(frame->storage.get());
    frame->registers = frame->storage.get() + (64 - address % 64) % 64;
    fill_constants(function, frame->registers);
  }
  frame->parent = parent;
  frame->lanes = lanes;
  frame->depth = parent == nullptr ? 0 : parent->depth + 1;
  frame->local_base = parent == nullptr ? 0 : (parent->stack_top + 15) & ~15u;
  frame->stack_top = frame->local_base + function.local_size;
  for (const SpecialUse& use : function.specials) {
    if (use.which != Special::kLocalBase) fill_special(warp, frame->registers, use);
  }
  return warp.frames.emplace_back(std::move(frame)).get();
}

void pop_frame(Warp& warp, Frame* frame) {
  const auto found =
      std::find_if(warp.frames.begin(), warp.frames.end(), [&](auto& f) { return f.get() == frame; });
  warp.spare.push_back(std::move(*found));
  warp.frames.erase(found);
}

void GridRunner::prepare(const Launch& launch) {
  block_.launch = &launch;
  const Function& kernel = *launch.kernel;
  const uint32_t warps = (block_.thread_count() + kLanes - 1) / kLanes;
  if (prepared_ != kernel.address) block_.warps.clear();
  prepared_ = kernel.address;
  while (block_.warps.size() > warps) block_.warps.pop_back();
  while (block_.warps.size() < warps) {
    auto& warp = *block_.warps.emplace_back(std::make_unique<Warp>());
    warp.block = &block_;
    warp.index = static_cast<uint32_t>(block_.warps.size() - 1);
  }
  block_.shared_size = kernel.shared_size + launch.dynamic_shared;
  block_.shared.resize(block_.shared_size + 16);
  block_.local_stride =
      kernel.calls ? std::max(kStackBytes, kernel.local_size * 4) : (kernel.local_size + 15) & ~15u;
  block_.local.resize(uint64_t{warps} * kLanes * block_.local_stride);
  per_block_.clear();
  for (auto& owned : block_.warps) {
    Warp& warp = *owned;
    while (!warp.frames.empty()) pop_frame(warp, warp.frames.back().get());
    Frame* frame = push_frame(warp, kernel, nullptr, 0);
    for (const SpecialUse& use : kernel.specials) {
      if (changes_with_block(use.which)) per_block_.emplace_back(frame, use);
    }
  }
}

void GridRunner::start_block(Dim3 index) {
  block_.index = index;
  block_.executed = 0;
  std::memset(block_.shared.data(), kSharedPoison, block_.shared.size());
  if (block_.launch->checks.uninitialized) block_.shared_initialized.assign(block_.shared_size, 0);
  if (block_.launch->checks.races) block_.races.start(static_cast<uint32_t>(block_.warps.size() * kLanes));
  for (Barrier& barrier : block_.barriers) barrier = {};
  for (auto& owned : block_.warps) {
    Warp& warp = *owned;
    while (warp.frames.size() > 1) pop_frame(warp, warp.frames.back().get());
    Frame* frame = warp.frames.front().get();
    const uint32_t first = warp.index * kLanes;
    const uint32_t lanes = std::min<uint32_t>(kLanes, block_.thread_count() - first);
    warp.live = lanes == kLanes ? kFullMask : (1u << lanes) - 1;
    frame->lanes = warp.live;
    frame->stack_top = frame->function->local_size;
    warp.frame = frame;
    warp.registers = frame->registers;
    warp.active = warp.live;
    warp.pc = 0;
    warp.waiting.clear();
    warp.runnable = true;
    warp.carry = 0;
  }
  for (size_t i = 0; i < per_block_.size(); ++i) {
    const auto& [frame, use] = per_block_[i];
    Warp& warp = *block_.warps[i * block_.warps.size() / per_block_.size()];
    fill_special(warp, frame->registers, use);
  }
}

void GridRunner::run_block() {
  std::vector<Warp*>& order = order_;
  order.clear();
  for (auto& warp : block_.warps) order.push_back(warp.get());
  const uint64_t seed = block_.launch->order_seed;
  if (seed != 0) random_.seed(seed + block_.index.x * 7919ull + block_.index.y * 104729ull);
  size_t live = order.size();
  while (live > 0) {
    if (seed != 0) std::shuffle(order.begin(), order.end(), random_);
    bool progress = false;
    for (Warp* warp : order) {
      if (warp->live == 0 || !warp->runnable) continue;
      progress = true;
      run_warp(*warp);
      if (warp->live == 0) --live;
    }
    for (int id = 0; id < 16 && live > 0; ++id)
      progress |= block_.barriers[id].in_use && try_release(block_, id, true);
    if (!progress) {
      Warp& stuck = **std::find_if(order.begin(), order.end(), [](Warp* w) { return w->live != 0; });
      const Group& group = stuck.waiting.front();
      const int lane = __builtin_ctz(group.mask);
      stuck.fault(group.frame->function->code[group.pc], lane, kErrorLaunchTimeout,
                  "deadlock: threads wait at a barrier that the others never reach");
    }
  }
}

void GridRunner::run(const Launch& launch) {
  prepare(launch);
  try {
    for (uint32_t z = 0; z < launch.grid.z; ++z) {
      for (uint32_t y = 0; y < launch.grid.y; ++y) {
        for (uint32_t x = 0; x < launch.grid.x; ++x) {
          start_block({x, y, z});
          run_block();
        }
      }
    }
  } catch (...) {
    block_.held.clear();
    for (Translation& translation : block_.translations) translation = {};
    throw;
  }
  block_.held.clear();
  for (Translation& translation : block_.translations) translation = {};
}

}  // namespace cuda_double
