// SPDX-License-Identifier: Apache-2.0
#include "machine_limits.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "machine.h"

namespace backplane::bench {
namespace {

struct Free {
  void operator()(float* memory) const noexcept { std::free(memory); }
};
using Floats = std::unique_ptr<float, Free>;

Floats make_floats(int64_t count) {
  Floats memory(static_cast<float*>(std::aligned_alloc(64, static_cast<size_t>(count) * sizeof(float))));
  if (memory == nullptr) throw std::bad_alloc();
  std::fill_n(memory.get(), count, 1.0f);
  return memory;
}

}  // namespace

std::vector<Limit> host_limits(int64_t floats, const Effort& effort) {
  const Floats a = make_floats(floats), b = make_floats(floats), c = make_floats(floats);
  const auto bytes = static_cast<size_t>(floats) * sizeof(float);
  const auto rate = [&](double moved, const std::function<void()>& work) {
    return moved * static_cast<double>(bytes) /
           measure(
               work, [] {}, effort)
               .seconds /
           1e9;
  };
  const auto n = static_cast<size_t>(floats);
  volatile double kept = 0;  // so that the reads are not dropped
  return {
      {"memcpy, one thread", rate(2, [&] { std::memcpy(c.get(), a.get(), bytes); }), "GB/s"},
      {"streaming copy", rate(2, [&] { streaming_copy(c.get(), a.get(), bytes); }), "GB/s"},
      {kTriad, rate(3, [&] { streaming_triad(c.get(), a.get(), b.get(), n); }), "GB/s"},
      {kRead, rate(1, [&] { kept = plain_read(a.get(), n); }), "GB/s"},
      {kPeak, multiply_add_peak(effort), "GFLOP/s"},
  };
}

}  // namespace backplane::bench
