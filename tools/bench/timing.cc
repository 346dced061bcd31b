// SPDX-License-Identifier: Apache-2.0
#include "timing.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace backplane::bench {
double time_calls(int64_t calls, const std::function<void()>& work, const std::function<void()>& finish) {
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < calls; ++i) work();
  finish();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// By steps, as one call of nanoseconds is too short to be measured.
int64_t calls_filling(double seconds, const std::function<double(int64_t)>& time) {
  constexpr int64_t kMost = int64_t{1} << 30;
  int64_t calls = 1;
  double taken = time(calls);
  while (taken < seconds / 4 && calls < kMost) {
    calls *= 4;
    taken = time(calls);
  }
  return std::clamp<int64_t>(static_cast<int64_t>(static_cast<double>(calls) * seconds / taken), 1, kMost);
}

Timing measure(const std::function<void()>& work, const std::function<void()>& finish, const Effort& effort) {
  time_calls(1, work, finish);
  const int64_t calls = calls_filling(effort.seconds, [&](int64_t n) { return time_calls(n, work, finish); });
  std::vector<double> times;
  for (int i = 0; i < effort.rounds; ++i)
    times.push_back(time_calls(calls, work, finish) / static_cast<double>(calls));
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  return {median, (times[times.size() * 3 / 4] - times[times.size() / 4]) / 2 / median};
}

}  // namespace backplane::bench
