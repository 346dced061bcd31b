// SPDX-License-Identifier: Apache-2.0
//
// A thread's own few free blocks of each of the smallest size classes of one pool, so that small results cost
// no lock. Only for devices that work in the calling thread, whose freed blocks are free at once. What a
// magazine holds counts as cached; the pool adds its counters when it is asked. A thread that ends gives its
// magazines' blocks back.
#ifndef BACKPLANE_SRC_MEMORY_MAGAZINE_H_
#define BACKPLANE_SRC_MEMORY_MAGAZINE_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "memory/pool.h"

namespace backplane::internal {

inline constexpr uint64_t kMagazineBytes = 4096;  // largest block kept
inline constexpr uint32_t kMagazineClasses = 32;
inline constexpr uint32_t kMagazineDepth = 8;

// The number of the class that holds `bytes` (1 to kMagazineBytes), and its size.
constexpr uint32_t small_class_of(uint64_t bytes) noexcept {
  if (bytes <= 512) return static_cast<uint32_t>((bytes + 63) / 64) - 1;
  const auto log = static_cast<uint32_t>(std::bit_width(bytes - 1)) - 1;  // 9, 10 or 11
  const uint64_t step = uint64_t{1} << (log - 3);
  return (log - 8) * 8 + static_cast<uint32_t>((bytes - 1 - (uint64_t{1} << log)) / step);
}
constexpr uint64_t small_class_size(uint32_t small_class) noexcept {
  if (small_class < 8) return (small_class + 1) * 64;
  const uint32_t log = small_class / 8 + 8;
  return (uint64_t{1} << log) + (small_class % 8 + 1) * (uint64_t{1} << (log - 3));
}

// A counter that one thread adds to and others read.
class OwnCounter {
 public:
  void add(int64_t n) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  int64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

struct Magazine {
  Pool* pool = nullptr;  // null once the pool is gone
  OwnCounter in_use;     // bytes handed out less bytes taken back, by this thread
  OwnCounter allocations;
  std::array<uint8_t, kMagazineClasses> count{};
  std::array<std::array<Block, kMagazineDepth>, kMagazineClasses> blocks;
};

// The magazine that this thread used last, which is nearly always the one that is wanted. A plain value, so
// that reaching it takes no call.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Magazine* last_magazine;
Magazine* find_or_make_magazine(Pool& pool) noexcept;

// This thread's magazine for a pool, made at the first call; null while the thread ends.
inline Magazine* magazine_for(Pool& pool) noexcept {
  Magazine* last = last_magazine;
  return last != nullptr && last->pool == &pool ? last : find_or_make_magazine(pool);
}

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_MEMORY_MAGAZINE_H_
