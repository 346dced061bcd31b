// SPDX-License-Identifier: Apache-2.0
//
// Exercise 1: a large product and a tiny one on every device. The tiny one shows what a call costs, the large
// one what the device can do.
#include "exercise.h"

int main(int argc, char** argv) {
  using namespace backplane;
  const auto options = exercise::parse(argc, argv, "A large product and a tiny one on every device");
  const int64_t large = 1024 >> options.scale, small = 4;
  exercise::Chart chart{"Time of one matrix product",
                        "ms",
                        {std::to_string(large) + "x" + std::to_string(large),
                         std::to_string(small) + "x" + std::to_string(small)},
                        {}};
  for (const Device& device : devices()) {
    std::vector<double> times;
    for (const int64_t n : {large, small}) {
      const Tensor a = uniform({n, n}, 1, -1, 1, float32, device),
                   b = uniform({n, n}, 2, -1, 1, float32, device);
      times.push_back(1e3 * exercise::seconds(options.rounds, [&] {
                        const Tensor c = matmul(a, b);
                        device.synchronize();
                      }));
    }
    chart.rows.push_back({device.name(), times});
  }
  return exercise::show(chart, options) ? 0 : 1;
}
