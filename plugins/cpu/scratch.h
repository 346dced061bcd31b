// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_CPU_SCRATCH_H_
#define BACKPLANE_CPU_SCRATCH_H_

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace backplane::cpu {

// What a thread may need at the same time.
enum class Scratch { Panels, Sums, Parameters };

// `bytes` of memory of the calling thread's own, at a multiple of 64, with any contents: valid until the
// thread's next call for the same use. Kept for the next call; each thread holds the most it ever needed, so
// ask for blocks that fit the caches. Throws std::bad_alloc.
template <Scratch kUse>
char* thread_scratch(int64_t bytes) {
  struct Free {
    void operator()(char* pointer) const noexcept { std::free(pointer); }
  };
  thread_local std::unique_ptr<char, Free> memory;
  thread_local int64_t capacity = 0;
  if (bytes > capacity) {
    const int64_t rounded = (bytes + 4095) / 4096 * 4096;
    memory.reset();
    capacity = 0;
    memory.reset(static_cast<char*>(std::aligned_alloc(64, static_cast<size_t>(rounded))));
    if (memory == nullptr) throw std::bad_alloc();
    capacity = rounded;
  }
  return memory.get();
}

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_SCRATCH_H_
