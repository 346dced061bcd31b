// SPDX-License-Identifier: Apache-2.0
//
// Benchmarks in pairs: ours and what it is measured against, run by Google Benchmark in one process, their
// repetitions interleaved at random, so that a noisy machine is equally unkind to both. What counts is the
// ratio of the medians.
#ifndef BACKPLANE_TOOLS_BENCH_PAIRS_H_
#define BACKPLANE_TOOLS_BENCH_PAIRS_H_

#include <functional>
#include <string>

namespace backplane::bench {

// How a ratio is read.
enum class Goal {
  SpeedAtLeast,  // peer's time / our time >= goal
  TimeAtMost,    // our time / peer's time <= goal
};

// Registers a pair. The functions run the work once; both have been run once before they are timed.
void add_pair(const std::string& name, Goal kind, double goal, std::function<void()> ours,
              const std::string& peer_name, std::function<void()> peer);

// Runs the pairs that --filter=REGEX names (all, without it), --rounds=N times each, and prints a table of
// ratios as Markdown. Returns main's exit code: 0 whether or not goals are met, as machines are noisy; 1 for
// bad arguments.
int run_pairs(int argc, char** argv, const std::string& title);

}  // namespace backplane::bench

#endif  // BACKPLANE_TOOLS_BENCH_PAIRS_H_
