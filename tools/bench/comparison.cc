// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ls/text.h"
#include "results.h"

namespace backplane::bench {
namespace {

using tools::time_text;

// Medians of a few rounds are no steadier than this, however close the rounds were.
constexpr double kLeastNoise = 0.03;

// A change counts when it is more than this many times the noise.
constexpr double kTimesNoise = 3;

struct Change {
  const Row* before;
  const Row* now;
  double ratio;  // now / before
  double times;  // the noise
};

bool same_work(const Row& a, const Row& b) {
  return a.device == b.device && a.name == b.name && a.type == b.type && a.size == b.size;
}

Change change_of(const Row& before, const Row& now) {
  const double noise = std::max(kLeastNoise, std::hypot(before.time.noise, now.time.noise));
  const double ratio = now.time.seconds / before.time.seconds;
  return {&before, &now, ratio, std::abs(std::log(ratio)) / noise};
}

std::string line(const Change& change) {
  const Row& row = *change.now;
  return fmt::format(
      "{:<8} {:<20} {:<9} {:>8}  {:>10} -> {:>10}  {:>6.2f} times {}, {:.1f} times the noise\n", row.device,
      row.name, row.type, readable_size(row.size), time_text(change.before->time.seconds),
      time_text(row.time.seconds), change.ratio < 1 ? 1 / change.ratio : change.ratio,
      change.ratio < 1 ? "faster" : "slower", change.times);
}

}  // namespace

std::string comparison_text(const Results& before, const Results& now) {
  std::vector<Change> changes;
  size_t compared = 0;
  for (const Row& row : now.rows) {
    const auto old =
        std::find_if(before.rows.begin(), before.rows.end(), [&](const Row& r) { return same_work(r, row); });
    if (old == before.rows.end()) continue;
    ++compared;
    const Change change = change_of(*old, row);
    if (change.times > kTimesNoise) changes.push_back(change);
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.times > b.times; });
  std::string text =
      fmt::format("\ncompared with the earlier run, {} of {} works in both:\n", compared, now.rows.size());
  if (compared == 0) return text + "nothing to compare\n";
  if (changes.empty()) return text + "nothing beyond the noise\n";
  for (const Change& change : changes) text += line(change);
  return text;
}

}  // namespace backplane::bench
