// SPDX-License-Identifier: Apache-2.0
#include "cpu/move_bytes.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "cpu/host_files.h"
#include "cpu/vector_move.h"

namespace backplane::cpu {
namespace {

// Bytes that take some 8 us to move within the caches.
constexpr int64_t kGrain = 256 << 10;

// Of one cache: where a processor has several, as AMD's do, sysconf of some versions adds them all up.
int64_t level3_bytes() noexcept {
  const auto kibibytes = read_number("/sys/devices/system/cpu/cpu0/cache/index3/size");  // "32768K"
  return kibibytes && *kibibytes > 0 ? *kibibytes << 10 : sysconf(_SC_LEVEL3_CACHE_SIZE);
}

}  // namespace

int64_t streaming_threshold_bytes() noexcept {
  static const int64_t threshold = [] {
    const int64_t level3 = level3_bytes(), level2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return std::max<int64_t>({level3, level2, int64_t{4} << 20}) / 2;
  }();
  return threshold;
}

void move_bytes(Threads& threads, void* dst, const void* src, uint64_t bytes) {
  const bool streaming = static_cast<int64_t>(bytes) >= streaming_threshold_bytes();
  const auto move = streaming ? active_vector_move().stream : nullptr;
  threads.loop(static_cast<int64_t>(bytes), kGrain, [&](int64_t begin, int64_t end) {
    char* const to = static_cast<char*>(dst) + begin;
    const char* const from = static_cast<const char*>(src) + begin;
    if (move != nullptr) {
      move(to, from, end - begin);
    } else {
      std::memcpy(to, from, static_cast<size_t>(end - begin));
    }
  });
}

uint64_t repeat_pattern(const void* pattern, uint32_t size) noexcept {
  char bytes[8];
  for (uint32_t i = 0; i < 8; ++i) bytes[i] = static_cast<const char*>(pattern)[i % size];
  uint64_t repeated;
  std::memcpy(&repeated, bytes, 8);
  return repeated;
}

void fill_bytes(Threads& threads, void* dst, uint64_t bytes, uint64_t pattern) {
  const bool streaming = static_cast<int64_t>(bytes) >= streaming_threshold_bytes();
  const auto fill = streaming ? active_vector_move().stream_fill : active_vector_move().fill;
  // In whole patterns, so that every range starts with the pattern's first byte.
  const int64_t words = static_cast<int64_t>((bytes + 7) / 8);
  threads.loop(words, kGrain / 8, [&](int64_t begin, int64_t end) {
    const int64_t stop = std::min(end * 8, static_cast<int64_t>(bytes));
    fill(static_cast<char*>(dst) + begin * 8, pattern, stop - begin * 8);
  });
}

}  // namespace backplane::cpu
