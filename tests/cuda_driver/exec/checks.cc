// SPDX-License-Identifier: Apache-2.0
#include "exec/checks.h"

#include <algorithm>

#include "exec/program.h"

namespace cuda_double {

void RaceChecker::start(uint32_t threads) {
  time_ = 1;
  last_block_barrier_.assign(threads, 0);
  last_warp_barrier_.assign(threads, 0);
  shared_.clear();
  global_.clear();
}

void RaceChecker::block_barrier(const std::vector<uint32_t>& threads) {
  ++time_;
  for (const uint32_t thread : threads) last_block_barrier_[thread] = time_;
}

void RaceChecker::warp_barrier(uint32_t warp, uint32_t lanes) {
  ++time_;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const uint32_t thread = warp * kLanes + static_cast<uint32_t>(__builtin_ctz(rest));
    if (thread < last_warp_barrier_.size()) last_warp_barrier_[thread] = time_;
  }
}

bool RaceChecker::ordered(const Touch& earlier, uint32_t thread) const {
  if (earlier.thread == ~0u || earlier.thread == thread) return true;
  uint64_t synchronized = last_block_barrier_[thread];
  if (earlier.thread / kLanes == thread / kLanes)
    synchronized = std::max(synchronized, last_warp_barrier_[thread]);
  return synchronized > earlier.time;
}

const char* RaceChecker::conflict(Cell& cell, uint32_t thread, Access access, uint8_t value,
                                  uint32_t& with) const {
  const bool both_atomic = cell.atomic && access == Access::kAtomic;
  if (!both_atomic && !ordered(cell.writer, thread)) {
    const bool same = access == Access::kWrite && cell.value == value && !cell.atomic;
    with = cell.writer.thread;
    if (!same) return access == Access::kRead ? "reads what was written by" : "writes what was written by";
  }
  if (access == Access::kRead) return nullptr;
  for (const Touch& reader : {cell.reader, cell.other_reader}) {
    with = reader.thread;
    if (!ordered(reader, thread)) return "writes what was read by";
  }
  return nullptr;
}

std::string RaceChecker::touch(bool shared, uint64_t address, uint32_t size, uint32_t thread, Access access,
                               uint64_t value) {
  auto& cells = shared ? shared_ : global_;
  for (uint32_t i = 0; i < size; ++i) {
    Cell& cell = cells[address + i];
    const auto byte = static_cast<uint8_t>(value >> (8 * (i % 8)));
    uint32_t with = 0;
    if (const char* what = conflict(cell, thread, access, byte, with)) {
      return std::string("race in ") + (shared ? "shared" : "global") + " memory: thread " +
             std::to_string(thread) + " of the block " + what + " thread " + std::to_string(with) +
             " with no barrier between";
    }
    if (access == Access::kRead) {
      if (cell.reader.thread != thread) cell.other_reader = cell.reader;
      cell.reader = {thread, time_};
    } else {
      cell.writer = {thread, time_};
      cell.value = byte;
      cell.atomic = access == Access::kAtomic;
    }
  }
  return {};
}

}  // namespace cuda_double
