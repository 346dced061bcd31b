// SPDX-License-Identifier: Apache-2.0
#include "cpu/parallel.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#if defined(__SANITIZE_THREAD__)
#define BACKPLANE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BACKPLANE_TSAN 1
#endif
#endif

#if defined(BACKPLANE_TSAN)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace backplane::cpu {
namespace {

// Debian's TBB is not instrumented: these tell ThreadSanitizer what its tasks order.
#if defined(BACKPLANE_TSAN)
void acquire(void* address) { __tsan_acquire(address); }
void release(void* address) { __tsan_release(address); }
#else
void acquire(void*) {}
void release(void*) {}
#endif

std::atomic<bool> in_forked_child{false};

void mark_forked_child() { in_forked_child.store(true, std::memory_order_relaxed); }

[[maybe_unused]] const int kForkHandler = pthread_atfork(nullptr, nullptr, mark_forked_child);

// Ranges per thread: enough that a thread which starts late or is disturbed leaves its part to the others.
constexpr int64_t kRangesPerThread = 4;

#if defined(__SSE__)
constexpr uint64_t kControl = 0x1f80;    // all exceptions masked, nearest, no flush to zero
constexpr uint64_t kStickyFlags = 0x3f;  // raised by arithmetic; not part of the state to compare
#else
constexpr uint64_t kControl = 0;
constexpr uint64_t kStickyFlags = 0;
#endif

// Writing the register costs more than a small launch's arithmetic.
uint64_t exchange_control(uint64_t value) noexcept {
#if defined(__SSE__)
  const uint64_t old = _mm_getcsr();
  if (((old ^ value) & ~kStickyFlags) != 0) _mm_setcsr(static_cast<uint32_t>(value));
  return old;
#elif defined(__aarch64__)
  uint64_t old;
  __asm__ volatile("mrs %0, fpcr" : "=r"(old));
  if (old != value) __asm__ volatile("msr fpcr, %0" ::"r"(value));
  return old;
#else
  return value;
#endif
}

}  // namespace

bool forked() noexcept { return in_forked_child.load(std::memory_order_relaxed); }

FloatingPointGuard::FloatingPointGuard() noexcept : saved_(exchange_control(kControl)) {}

FloatingPointGuard::~FloatingPointGuard() { exchange_control(saved_ & ~kStickyFlags); }

struct Threads::Arena {
  explicit Arena(int count) : arena(count, 1) {}
  oneapi::tbb::task_arena arena;
};

Threads::Threads(int count) : count_(std::max(count, 1)), arena_(std::make_unique<Arena>(count_)) {}

Threads::~Threads() {
  // The child has none of the threads that the arena's end would wait for.
  if (forked()) static_cast<void>(arena_.release());
}

bool Threads::parallel() const noexcept { return count_ > 1 && !forked(); }

void Threads::run(int64_t size, int64_t grain, RangeFunction function, const void* context) {
  const int64_t ranges = std::min(kRangesPerThread * count_, size / std::max<int64_t>(grain, 1));
  if (ranges <= 1) {
    function(context, 0, size);
    return;
  }
  char order = 0;  // an address for ThreadSanitizer
  const auto task = [&](int64_t index) {
    acquire(&order);
    const FloatingPointGuard guard;
    const auto bound = [&](int64_t i) { return size / ranges * i + std::min(i, size % ranges); };
    function(context, bound(index), bound(index + 1));
    release(&order);
  };
  release(&order);
  arena_->arena.execute([&] {
    oneapi::tbb::parallel_for(
        oneapi::tbb::blocked_range<int64_t>(0, ranges, 1),
        [&](const oneapi::tbb::blocked_range<int64_t>& range) {
          for (int64_t i = range.begin(); i != range.end(); ++i) task(i);
        },
        oneapi::tbb::simple_partitioner());
  });
  acquire(&order);
}

}  // namespace backplane::cpu
