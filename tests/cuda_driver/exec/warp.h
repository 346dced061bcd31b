// SPDX-License-Identifier: Apache-2.0
// The state of a running grid: launch, block, warp, and the groups of lanes that a warp has split into.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/address_space.h"
#include "exec/checks.h"
#include "exec/program.h"

namespace cuda_double {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t volume() const { return uint64_t{x} * y * z; }
};

// What a running kernel did wrong. `code` is a CUresult.
struct DeviceFault {
  int code = 0;
  std::string message;
};

struct Launch {
  const Program* program = nullptr;
  const Function* kernel = nullptr;
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;
  std::vector<uint8_t> parameters;
  int device = 0;
  uint32_t accessible_devices = 0;  // bit d: memory of device d may be used
  CheckOptions checks;
  uint64_t instruction_limit = 0;  // warp instructions a block; 0: none
  uint64_t order_seed = 0;         // shuffles the order in which warps run; 0: in order
  uint64_t grid_id = 0;
};

struct Frame {
  const Function* function = nullptr;
  std::unique_ptr<uint8_t[]> storage;
  uint8_t* registers = nullptr;
  Frame* parent = nullptr;
  const CallSite* site = nullptr;
  uint32_t return_pc = 0;
  uint32_t local_base = 0;  // offset in each lane's local memory
  uint32_t stack_top = 0;   // first byte above this frame, alloca included
  uint32_t lanes = 0;       // those that have not returned yet
  int depth = 0;
};

enum class GroupState : uint8_t { kReady, kConverging, kAtBarrier };

struct Group {
  Frame* frame = nullptr;
  uint32_t pc = 0;
  uint32_t mask = 0;
  GroupState state = GroupState::kReady;
  int barrier = -1;  // that it waits at
};

// The last few allocations that a block has touched.
struct Translation {
  uint64_t base = 1, size = 0;
  uint8_t* host = nullptr;
  Allocation* allocation = nullptr;
};

constexpr int kTranslations = 8;

class Block;

class Warp {
 public:
  // What handlers use.
  uint8_t* registers = nullptr;  // of the current frame
  uint32_t mask = 0;             // lanes for which the current instruction counts
  uint32_t active = 0;           // lanes of the current group
  Block* block = nullptr;
  Frame* frame = nullptr;
  uint32_t index = 0;  // in the block
  uint32_t live = 0;   // lanes that have not exited
  uint32_t pc = 0;
  std::vector<Group> waiting;  // the warp's other groups
  bool runnable = true;        // whether any group is ready
  uint64_t blocks_since_switch = 0;
  uint32_t carry = 0;                          // CC.CF, a bit a lane
  std::vector<std::unique_ptr<Frame>> frames;  // those in use, entry's first
  std::vector<std::unique_ptr<Frame>> spare;

  template <class T>
  T* at(uint32_t slot) {
    return reinterpret_cast<T*>(registers + slot);
  }
  uint32_t& predicate(uint32_t slot) { return *at<uint32_t>(slot); }

  uint32_t thread(int lane) const { return index * kLanes + static_cast<uint32_t>(lane); }
  // Stops the grid. The message gets kernel, block, thread and line.
  [[noreturn]] void fault(const Instr& instr, int lane, int code, const std::string& what) const;
};

struct Barrier {
  uint32_t arrived = 0;   // threads
  uint32_t expected = 0;  // 0: all live threads
  uint32_t count = 0;     // for the reductions
  bool all = true, any = false;
  bool in_use = false;
};

class Block {
 public:
  const Launch* launch = nullptr;
  Dim3 index;
  std::vector<uint8_t> shared;
  uint32_t shared_size = 0;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<uint8_t> local;
  uint32_t local_stride = 0;  // bytes of local memory a thread
  Barrier barriers[16];
  uint64_t executed = 0;  // basic blocks, for the instruction limit and clocks
  RaceChecker races;
  std::vector<uint8_t> shared_initialized;

  Translation translations[kTranslations];
  uint64_t translation_epoch = 0;
  std::vector<std::shared_ptr<Allocation>> held;  // keeps the bytes of `translations` in place

  uint32_t thread_count() const { return static_cast<uint32_t>(launch->block.volume()); }
  uint8_t* local_memory(const Warp& warp, int lane) {
    return local.data() + uint64_t{warp.thread(lane)} * local_stride;
  }
};

// Runs `body(lane)` for each lane of `mask`; one plain loop where all are there.
template <class Body>
[[gnu::always_inline]] inline void for_lanes(uint32_t mask, Body body) {
  if (mask == kFullMask) {
#pragma GCC ivdep
    for (int lane = 0; lane < kLanes; ++lane) body(lane);
    return;
  }
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) body(__builtin_ctz(rest));
}

}  // namespace cuda_double
