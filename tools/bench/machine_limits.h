// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_TOOLS_BENCH_MACHINE_LIMITS_H_
#define BACKPLANE_TOOLS_BENCH_MACHINE_LIMITS_H_

#include <vector>

#include "results.h"

namespace backplane::bench {

inline constexpr char kTriad[] = "streaming triad";
inline constexpr char kRead[] = "plain read";
inline constexpr char kPeak[] = "float32 multiply-add peak";

// What this machine's cores and memory do at best, by loops of our own; `floats` elements an array, which
// should be past the caches.
std::vector<Limit> host_limits(int64_t floats, const Effort& effort);

// What bare calls to the first device of the OpenCL loader cost; empty where there is none, or where OpenCL's
// headers were missing when this was built.
std::vector<Limit> opencl_limits(const Effort& effort);

// 1e9 float32 operations a second, a multiply-add counting as two, on all cores.
double multiply_add_peak(const Effort& effort);

// At least so many of them, on all cores.
void run_multiply_adds(double operations);

}  // namespace backplane::bench

#endif  // BACKPLANE_TOOLS_BENCH_MACHINE_LIMITS_H_
