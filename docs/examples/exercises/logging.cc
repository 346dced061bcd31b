// SPDX-License-Identifier: Apache-2.0
//
// Exercise 3: 1000 products of 100x100, each one's Frobenius norm logged to the host one by one, against
// logged on the device and fetched once.
#include <cmath>

#include <fmt/format.h>

#include "exercise.h"

namespace {

using namespace backplane;

std::vector<float> one_by_one(const Tensor& a, const Tensor& b) {
  std::vector<float> log;
  for (int64_t i = 0; i < a.size(0); ++i) log.push_back(norm(matmul(a[i], b[i])).item<float>());
  return log;
}

std::vector<float> fetched_once(const Tensor& a, const Tensor& b) {
  const Tensor log = empty({a.size(0)}, a.device());
  for (int64_t i = 0; i < a.size(0); ++i) norm_out(log[i], matmul(a[i], b[i]));
  return log.to_vector<float>();
}

std::vector<float> all_at_once(const Tensor& a, const Tensor& b) {
  return norm(matmul(a, b), {1, 2}).to_vector<float>();
}

void check(const std::vector<float>& x, const std::vector<float>& y) {
  for (size_t i = 0; i < x.size(); ++i)
    if (!(std::abs(x[i] - y[i]) <= 1e-5f * std::abs(x[i])))
      throw Error(ErrorCode::Internal, "the logs differ");
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = exercise::parse(argc, argv, "Logging 1000 norms one by one, or fetching them once");
  const int64_t count = 1000 >> options.scale, n = 100;
  exercise::Chart chart{fmt::format("{} products of 100x100 and their norms", count),
                        "ms",
                        {"one by one", "fetched once", "one batch"},
                        {}};
  for (const Device& device : devices()) {
    const Tensor a = uniform({count, n, n}, 1, -1, 1, float32, device),
                 b = uniform({count, n, n}, 2, -1, 1, float32, device);
    const auto log = one_by_one(a, b);
    check(log, fetched_once(a, b));
    check(log, all_at_once(a, b));
    const auto time = [&](auto work) { return 1e3 * exercise::seconds(options.rounds, [&] { work(a, b); }); };
    chart.rows.push_back({device.name(), {time(one_by_one), time(fetched_once), time(all_at_once)}});
  }
  return exercise::show(chart, options) ? 0 : 1;
}
