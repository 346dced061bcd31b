// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_CPU_MOVE_BYTES_H_
#define BACKPLANE_CPU_MOVE_BYTES_H_

#include <cstdint>

#include "cpu/parallel.h"

namespace backplane::cpu {

// From here on a result is larger than what caches keep of it, and stores go past them: loses 2 to 20 times
// below, gains 1.3 to 1.7 times above.
int64_t streaming_threshold_bytes() noexcept;

// Copies; the ranges do not overlap.
void move_bytes(Threads& threads, void* dst, const void* src, uint64_t bytes);

// A pattern of 1, 2, 4 or 8 bytes, repeated to 8.
uint64_t repeat_pattern(const void* pattern, uint32_t size) noexcept;

// Repeats `pattern` over [dst, dst + bytes), starting with its first byte; the last one may be cut.
void fill_bytes(Threads& threads, void* dst, uint64_t bytes, uint64_t pattern);

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_MOVE_BYTES_H_
