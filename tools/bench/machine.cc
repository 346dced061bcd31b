// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <sched.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace backplane::bench {
namespace {

// Every processor of the architecture has such registers, and memory is slower than they are.
using Vector __attribute__((vector_size(16), aligned(16))) = float;
constexpr size_t kLanes = 4;

size_t core_count() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<size_t>(CPU_COUNT(&set)) : 1;
}

// Threads that wait, spinning a little first, for the next piece of work.
class Team {
 public:
  Team() : parts_(core_count()) {
    for (size_t i = 1; i < parts_; ++i) std::thread([this, i] { serve(i); }).detach();
  }
  void run(const std::function<void(size_t, size_t)>& work) {
    {
      const std::lock_guard lock(mutex_);
      work_ = &work;
      left_ = parts_ - 1;
      ++round_;
    }
    wake_.notify_all();
    work(0, parts_);
    while (left_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  }

 private:
  void serve(size_t part) {
    for (uint64_t seen = 0;;) {
      for (int spin = 0; spin < 20000 && round_.load(std::memory_order_acquire) == seen; ++spin)
        std::atomic_signal_fence(std::memory_order_seq_cst);
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return round_.load() != seen; });
        seen = round_;
      }
      (*work_)(part, parts_);
      left_.fetch_sub(1, std::memory_order_release);
    }
  }

  const size_t parts_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<uint64_t> round_{0};
  std::atomic<size_t> left_{0};
  const std::function<void(size_t, size_t)>* work_ = nullptr;
};

Team& team() {
  static auto* instance = new Team;  // its threads outlive main
  return *instance;
}

struct Part {
  size_t begin, end;
};
Part part_of(size_t n, size_t part, size_t parts) {
  return {n / 16 * part / parts * 16, n / 16 * (part + 1) / parts * 16};
}

inline void store_past_cache(Vector* to, Vector value) {
#if defined(__x86_64__)
  _mm_stream_ps(reinterpret_cast<float*>(to), value);
#else
  *to = value;
#endif
}

inline void finish_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace

void on_all_cores(const std::function<void(size_t, size_t)>& work) { team().run(work); }

void streaming_triad(float* c, const float* a, const float* b, size_t n) {
  on_all_cores([&](size_t part, size_t parts) {
    const Part p = part_of(n, part, parts);
    for (size_t i = p.begin; i < p.end; i += kLanes)
      store_past_cache(reinterpret_cast<Vector*>(c + i),
                       *reinterpret_cast<const Vector*>(a + i) + *reinterpret_cast<const Vector*>(b + i));
    finish_stores();
  });
}

void streaming_copy(void* to, const void* from, size_t bytes) {
  const auto* src = static_cast<const float*>(from);
  auto* dst = static_cast<float*>(to);
  on_all_cores([&](size_t part, size_t parts) {
    const Part p = part_of(bytes / 4, part, parts);
    for (size_t i = p.begin; i < p.end; i += kLanes)
      store_past_cache(reinterpret_cast<Vector*>(dst + i), *reinterpret_cast<const Vector*>(src + i));
    finish_stores();
  });
}

double plain_read(const float* a, size_t n) {
  std::atomic<double> total{0};
  on_all_cores([&](size_t part, size_t parts) {
    const Part p = part_of(n, part, parts);
    Vector sums[8] = {};
    for (size_t i = p.begin; i + 8 * kLanes <= p.end; i += 8 * kLanes)
      for (size_t j = 0; j < 8; ++j) sums[j] += *reinterpret_cast<const Vector*>(a + i + kLanes * j);
    double sum = 0;
    for (const Vector& lanes : sums)
      for (size_t j = 0; j < kLanes; ++j) sum += static_cast<double>(lanes[j]);
    double before = total.load();
    while (!total.compare_exchange_weak(before, before + sum)) continue;
  });
  return total;
}

}  // namespace backplane::bench
