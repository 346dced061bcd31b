// SPDX-License-Identifier: Apache-2.0
//
// Exercise 4: two products on two devices at once, against one after the other on one of them. Devices of one
// kind scale nearly linearly; without two GPUs, BACKPLANE_CPU_DEVICES=2 splits the CPU's cores.
#include <fmt/format.h>

#include <cstdlib>
#include <thread>

#include "exercise.h"

namespace {

using namespace backplane;

struct Work {
  Device device;
  Tensor a, b;
  void run() const {
    const Tensor c = matmul(a, b);
    device.synchronize();
  }
};

Work work_on(const Device& device, int64_t n) {
  return {device, uniform({n, n}, 1, -1, 1, float32, device), uniform({n, n}, 2, -1, 1, float32, device)};
}

// The first two devices of one backend.
std::vector<Device> pair_of_devices() {
  for (const Device& first : devices())
    for (const Device& second : devices())
      if (first.backend() == second.backend() && first.index() == 0 && second.index() == 1)
        return {first, second};
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = exercise::parse(argc, argv, "Two products on two devices at once");
  // Before the first use of any device, so without knowing yet whether two GPUs are here.
  if (std::getenv("BACKPLANE_CPU_DEVICES") == nullptr) {
    RuntimeOptions two;
    two.plugin_options = {{"cpu.devices", "2"}};
    Runtime::configure(two);
  }
  const auto pair = pair_of_devices();
  if (pair.empty()) {
    fmt::print(stderr, "there are no two devices of one kind here\n");
    return 1;
  }
  const int64_t n = 2048 >> options.scale;
  const Work first = work_on(pair[0], n), second = work_on(pair[1], n), again = work_on(pair[0], n);
  const double in_turn = exercise::seconds(options.rounds, [&] {
    first.run();
    again.run();
  });
  const double at_once = exercise::seconds(options.rounds, [&] {
    std::thread other([&] { second.run(); });
    first.run();
    other.join();
  });
  const exercise::Chart chart{
      fmt::format("Two products of {0}x{0}", n),
      "ms",
      {"time"},
      {{fmt::format("both on {}", pair[0].name()), {1e3 * in_turn}},
       {fmt::format("on {} and {}", pair[0].name(), pair[1].name()), {1e3 * at_once}}}};
  const bool drawn = exercise::show(chart, options);
  fmt::print("\n{:.2f} times as fast on two\n", in_turn / at_once);
  return drawn ? 0 : 1;
}
