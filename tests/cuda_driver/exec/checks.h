// SPDX-License-Identifier: Apache-2.0
// The optional checks: uninitialised memory, and races between threads of a block for want of a barrier.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuda_double {

struct CheckOptions {
  bool uninitialized = false;
  bool races = false;
  bool any() const { return uninitialized || races; }
};

enum class Access : uint8_t { kRead, kWrite, kAtomic };

// Remembers, for each byte, who touched it last and when. Two touches of different threads, one of them a
// write, are a race unless the later thread has passed a barrier since (__syncwarp too, within a warp).
class RaceChecker {
 public:
  void start(uint32_t threads);
  // Threads that synchronised with each other just now.
  void block_barrier(const std::vector<uint32_t>& threads);
  void warp_barrier(uint32_t warp, uint32_t lanes);
  // Empty where all is well, else what is wrong. `value` tells equal writes, which are harmless, from others.
  std::string touch(bool shared, uint64_t address, uint32_t size, uint32_t thread, Access access,
                    uint64_t value);

 private:
  struct Touch {
    uint32_t thread = ~0u;
    uint64_t time = 0;
  };
  struct Cell {
    Touch writer, reader, other_reader;
    uint64_t time = 0;  // of the last write
    uint8_t value = 0;
    bool atomic = false;
  };
  bool ordered(const Touch& earlier, uint32_t thread) const;
  const char* conflict(Cell& cell, uint32_t thread, Access access, uint8_t value, uint32_t& with) const;

  uint64_t time_ = 1;
  std::vector<uint64_t> last_block_barrier_, last_warp_barrier_;
  std::unordered_map<uint64_t, Cell> shared_, global_;
};

}  // namespace cuda_double
