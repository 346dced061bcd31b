// SPDX-License-Identifier: Apache-2.0
//
// The one seam through which this plugin uses oneTBB. Every parallel loop of every kernel goes through
// Threads.
//
// Rules that keep results equal for every thread count: the pieces a loop hands out depend on timing, so a
// body must treat each index on its own, and whatever is combined across indices is combined afterwards, in
// index order. What one index covers must depend on sizes alone, never on Threads::count().
#ifndef BACKPLANE_CPU_PARALLEL_H_
#define BACKPLANE_CPU_PARALLEL_H_

#include <cstdint>
#include <memory>

namespace backplane::cpu {

// The share of the machine's cores that belongs to one device. Thread-safe; loops may be started from any
// number of threads at once. No lock may be held while a loop runs: a waiting thread may pick up other work.
class Threads {
 public:
  // `count` >= 1: the most threads that one loop uses, the caller's included.
  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const noexcept { return count_; }

  // Calls body(begin, end) for disjoint ranges that together are [0, size), from up to count() threads, and
  // returns when all are done. Ranges are at least `grain` long but the last. With size <= grain, one thread,
  // or in the child of a fork there is one call, body(0, size), in the calling thread. Choose `grain` so that
  // one range is some 8 us of work or more. What a body throws is rethrown here.
  template <typename Body>
  void loop(int64_t size, int64_t grain, const Body& body) {
    if (size <= 0) return;
    if (size <= grain || !parallel()) {
      body(int64_t{0}, size);
    } else {
      run(
          size, grain,
          [](const void* context, int64_t begin, int64_t end) {
            (*static_cast<const Body*>(context))(begin, end);
          },
          &body);
    }
  }

  // Whether a loop may use other threads at all.
  bool parallel() const noexcept;

 private:
  using RangeFunction = void (*)(const void* context, int64_t begin, int64_t end);
  void run(int64_t size, int64_t grain, RangeFunction function, const void* context);

  struct Arena;
  const int count_;
  std::unique_ptr<Arena> arena_;
};

// Whether this process is the child of a fork of one that had loaded the plugin: no other thread exists here.
bool forked() noexcept;

// The floating-point state that kernels compute in: round to nearest, denormals kept, no traps. Sets it for
// the calling thread and puts back what was there.
class FloatingPointGuard {
 public:
  FloatingPointGuard() noexcept;
  ~FloatingPointGuard();
  FloatingPointGuard(const FloatingPointGuard&) = delete;
  FloatingPointGuard& operator=(const FloatingPointGuard&) = delete;

 private:
  uint64_t saved_;
};

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_PARALLEL_H_
