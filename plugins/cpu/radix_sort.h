// SPDX-License-Identifier: Apache-2.0
//
// Stable sorting of pairs of a key and a position, by position where keys are equal; the result is therefore
// the same whoever does what part of it.
#ifndef BACKPLANE_CPU_RADIX_SORT_H_
#define BACKPLANE_CPU_RADIX_SORT_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cpu/parallel.h"

namespace backplane::cpu {

template <typename Key, typename Position>
struct KeyedPosition {
  Key key;
  Position position;
};

inline constexpr int kDigitBits = 8;
inline constexpr int kDigits = 1 << kDigitBits;
// Shorter rows are sorted by comparing.
inline constexpr int64_t kShortSort = 256;
// Threads that share one row, at most.
inline constexpr int64_t kMostShares = 16;

template <typename Pair>
int digit_of(const Pair& pair, int shift) {
  return static_cast<int>(pair.key >> shift) & (kDigits - 1);
}

// Sorts `count` pairs; `other` is as much room again. Returns where the result is: in one or the other.
template <typename Pair>
Pair* sort_pairs(Pair* pairs, Pair* other, int64_t count, int key_bits) {
  if (count < kShortSort) {
    std::sort(pairs, pairs + count, [](const Pair& a, const Pair& b) {
      return a.key != b.key ? a.key < b.key : a.position < b.position;
    });
    return pairs;
  }
  for (int shift = 0; shift < key_bits; shift += kDigitBits) {
    int64_t starts[kDigits] = {};
    for (int64_t i = 0; i < count; ++i) ++starts[digit_of(pairs[i], shift)];
    if (starts[digit_of(pairs[0], shift)] == count) continue;  // one digit in all
    int64_t sum = 0;
    for (int64_t& start : starts) sum += std::exchange(start, sum);
    for (int64_t i = 0; i < count; ++i) other[starts[digit_of(pairs[i], shift)]++] = pairs[i];
    std::swap(pairs, other);
  }
  return pairs;
}

// The same with all threads: each counts and moves the digits of its share of the pairs.
template <typename Pair>
Pair* sort_pairs_in_parallel(Threads& threads, Pair* pairs, Pair* other, int64_t count, int key_bits) {
  const int64_t shares = std::min<int64_t>(threads.count(), kMostShares);
  const auto each_share = [&](const auto& body) {
    threads.loop(shares, 1, [&](int64_t begin, int64_t end) {
      for (int64_t share = begin; share < end; ++share) {
        body(share, count / shares * share + std::min(share, count % shares),
             count / shares * (share + 1) + std::min(share + 1, count % shares));
      }
    });
  };
  for (int shift = 0; shift < key_bits; shift += kDigitBits) {
    int64_t starts[kMostShares][kDigits] = {};
    each_share([&](int64_t share, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++starts[share][digit_of(pairs[i], shift)];
    });
    const int first = digit_of(pairs[0], shift);
    int64_t same = 0;
    for (int64_t share = 0; share < shares; ++share) same += starts[share][first];
    if (same == count) continue;
    int64_t sum = 0;
    for (int digit = 0; digit < kDigits; ++digit) {
      for (int64_t share = 0; share < shares; ++share) sum += std::exchange(starts[share][digit], sum);
    }
    each_share([&](int64_t share, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) other[starts[share][digit_of(pairs[i], shift)]++] = pairs[i];
    });
    std::swap(pairs, other);
  }
  return pairs;
}

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_RADIX_SORT_H_
