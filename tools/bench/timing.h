// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_TOOLS_BENCH_TIMING_H_
#define BACKPLANE_TOOLS_BENCH_TIMING_H_

#include <cstdint>
#include <functional>

namespace backplane::bench {

struct Timing {
  double seconds = 0;  // median of the rounds, for one call
  double noise = 0;    // half the distance between the quartiles, as a share of the median
};

struct Effort {
  int rounds = 9;
  double seconds = 0.02;  // least time of a round; work is repeated to fill it
};

// Seconds for `calls` calls of `work` and one of `finish`.
double time_calls(int64_t calls, const std::function<void()>& work, const std::function<void()>& finish);

// How many calls take about `seconds`, where time(n) runs n of them and gives their seconds.
int64_t calls_filling(double seconds, const std::function<double(int64_t)>& time);

// Runs `work` once to warm up, then in rounds of as many calls as fill one; `finish` ends each round (it
// waits for a device that works on its own).
Timing measure(const std::function<void()>& work, const std::function<void()>& finish, const Effort& effort);

}  // namespace backplane::bench

#endif  // BACKPLANE_TOOLS_BENCH_TIMING_H_
