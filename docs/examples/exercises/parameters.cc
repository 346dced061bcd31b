// SPDX-License-Identifier: Apache-2.0
//
// Exercise 2: reading and writing a network's parameters where they live.
#include <fmt/format.h>

#include "exercise.h"

int main(int argc, char** argv) {
  using namespace backplane;
  const auto options = exercise::parse(argc, argv, "Reading and writing parameters on every device");
  const int64_t n = 1024 >> options.scale;
  exercise::Chart chart{
      fmt::format("A parameter of {0}x{0} float32", n), "ms", {"read", "write", "write in place"}, {}};
  for (const Device& device : devices()) {
    nn::Linear layer(n, n, true, {.seed = 1, .device = device});
    // Reading: fetch to the host. Writing: from the host, or computed on the device, where nothing crosses.
    std::vector<float> values = layer.weight.to_vector<float>();
    const double read = exercise::seconds(options.rounds, [&] { values = layer.weight.to_vector<float>(); });
    const double write = exercise::seconds(options.rounds, [&] {
      layer.weight.copy_from_host(values.data(), layer.weight.nbytes());
      device.synchronize();
    });
    const double in_place = exercise::seconds(options.rounds, [&] {
      layer.weight *= 0.5;
      device.synchronize();
    });
    layer.weight.fill(1);
    layer.bias.fill(0);
    const float sum_of_ones = layer(ones({1, n}, device)).select(1, 0).item<float>();
    if (sum_of_ones != static_cast<float>(n))
      throw Error(ErrorCode::Internal, "the parameters written are not those used");
    chart.rows.push_back({device.name(), {1e3 * read, 1e3 * write, 1e3 * in_place}});
  }
  return exercise::show(chart, options) ? 0 : 1;
}
