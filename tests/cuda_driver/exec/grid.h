// SPDX-License-Identifier: Apache-2.0
// Runs a grid: its blocks one after the other, the warps of a block in turns.
#pragma once

#include <random>
#include <utility>
#include <vector>

#include "exec/warp.h"

namespace cuda_double {

// Keeps the memory of blocks from launch to launch. One thread at a time.
class GridRunner {
 public:
  // Throws DeviceFault.
  void run(const Launch& launch);

 private:
  void prepare(const Launch& launch);
  void start_block(Dim3 index);
  void run_block();

  Block block_;
  uint64_t prepared_ = 0;  // address of the function whose constants the warps' frames hold
  std::vector<std::pair<Frame*, SpecialUse>> per_block_;
  std::vector<Warp*> order_;
  std::mt19937_64 random_;
};

// A new frame of `function` for the warp, with its constants and special registers.
Frame* push_frame(Warp& warp, const Function& function, Frame* parent, uint32_t lanes);
void pop_frame(Warp& warp, Frame* frame);
void fill_special(Warp& warp, uint8_t* registers, const SpecialUse& use);

// Runs the warp until it waits for a barrier, has exited, or has had its turn.
void run_warp(Warp& warp);
// Lets go on the threads that wait for barrier `id`, if enough have arrived.
bool try_release(Block& block, int id, bool threads_exited);

}  // namespace cuda_double
