// SPDX-License-Identifier: Apache-2.0
//
// The blocks of one pool that were freed last and that nothing queued uses, and the pool's counters: what is
// made and dropped again and again is found here for one locked instruction on each side, without a look at
// the shared classes. Thread-safe.
#ifndef BACKPLANE_SRC_MEMORY_RECENT_H_
#define BACKPLANE_SRC_MEMORY_RECENT_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

#include "memory/block.h"

namespace backplane::internal {

// For a few instructions that neither block nor call anybody.
class SpinLock {
 public:
  void lock() noexcept {
    while (locked_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> locked_{false};
};

class Recent {
 public:
  static constexpr uint32_t kMost = 8;

  struct Counters {
    int64_t in_use = 0, peak = 0;  // bytes; below 0 while threads hold in magazines what others freed
    uint64_t allocations = 0, hits = 0;
  };

  // The block freed last that holds `size` bytes and wastes little.
  bool take(uint64_t size, Block* block) noexcept {
    const std::lock_guard lock(lock_);
    for (uint32_t i = count_; i-- > 0;) {
      if (!fits(blocks_[i], size)) continue;
      *block = blocks_[i];
      for (--count_; i < count_; ++i) blocks_[i] = blocks_[i + 1];
      ++counters_.hits;
      count_out(block->size);
      return true;
    }
    return false;
  }

  // Takes a freed block unless there is no room.
  bool keep(const Block& block) noexcept {
    const std::lock_guard lock(lock_);
    if (count_ == kMost) return false;
    counters_.in_use -= static_cast<int64_t>(block.size);
    blocks_[count_++] = block;
    return true;
  }

  // Moves all blocks out, oldest first; returns how many.
  uint32_t take_all(std::array<Block, kMost>* blocks) noexcept {
    const std::lock_guard lock(lock_);
    std::copy_n(blocks_.begin(), count_, blocks->begin());
    return std::exchange(count_, 0);
  }

  void count_allocation(uint64_t size) noexcept {
    const std::lock_guard lock(lock_);
    count_out(size);
  }
  void count_free(uint64_t size) noexcept {
    const std::lock_guard lock(lock_);
    counters_.in_use -= static_cast<int64_t>(size);
  }
  // What a magazine counted while it was attached; all its allocations were hits.
  void count_magazine(int64_t in_use, int64_t allocations) noexcept {
    const std::lock_guard lock(lock_);
    counters_.in_use += in_use;
    counters_.allocations += static_cast<uint64_t>(allocations);
    counters_.hits += static_cast<uint64_t>(allocations);
    counters_.peak = std::max(counters_.peak, counters_.in_use);
  }
  void count_peak(int64_t in_use_elsewhere) noexcept {
    const std::lock_guard lock(lock_);
    counters_.peak = std::max(counters_.peak, counters_.in_use + in_use_elsewhere);
  }
  Counters counters() const noexcept {
    const std::lock_guard lock(lock_);
    return counters_;
  }

 private:
  static bool fits(const Block& block, uint64_t size) noexcept {
    return block.size == size ||
           (block.segment != nullptr && block.size > size && block.size - size <= size / 4);
  }
  void count_out(uint64_t size) noexcept {
    ++counters_.allocations;
    counters_.in_use += static_cast<int64_t>(size);
    counters_.peak = std::max(counters_.peak, counters_.in_use);
  }

  mutable SpinLock lock_;
  uint32_t count_ = 0;
  std::array<Block, kMost> blocks_;  // the last one was freed last
  Counters counters_;
};

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_MEMORY_RECENT_H_
