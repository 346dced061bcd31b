// SPDX-License-Identifier: Apache-2.0
//
// The limits of the machine, as loops of our own over the cores that the process may use: what results are
// measured against.
#ifndef BACKPLANE_TOOLS_BENCH_MACHINE_H_
#define BACKPLANE_TOOLS_BENCH_MACHINE_H_

#include <cstddef>
#include <functional>

namespace backplane::bench {

// c[i] = a[i] + b[i] with stores past the cache, n floats (a multiple of 16), split over threads that are
// kept between calls.
void streaming_triad(float* c, const float* a, const float* b, size_t n);

// A copy with stores past the cache, likewise; bytes a multiple of 64, pointers aligned to 64.
void streaming_copy(void* to, const void* from, size_t bytes);

// Reads every byte and returns something that depends on them all.
double plain_read(const float* a, size_t n);

// Calls work(part, parts) for every part at once.
void on_all_cores(const std::function<void(size_t part, size_t parts)>& work);

}  // namespace backplane::bench

#endif  // BACKPLANE_TOOLS_BENCH_MACHINE_H_
