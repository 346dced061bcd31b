// SPDX-License-Identifier: Apache-2.0
//
// The table of goals: each work of ours, what it is measured against, and the ratio it should reach.
#ifndef BACKPLANE_TOOLS_BENCH_PEERS_GOALS_H_
#define BACKPLANE_TOOLS_BENCH_PEERS_GOALS_H_

#include <functional>
#include <string>
#include <vector>

namespace backplane::bench {

using Run = std::function<void()>;

// What a work is measured against: a work of the PyTorch process by its name, or a function in this process.
struct Opponent {
  std::string name;   // "streaming triad"; "PyTorch" for the process
  double goal;        // its time / our time
  std::string torch;  // the work's name there; empty for `run`
  Run run;
};

struct Contest {
  Run ours;
  std::vector<Opponent> opponents;
};

// Operands are made when their turn comes and dropped after it.
struct GoalRow {
  std::string work;
  std::function<Contest()> prepare;
};

std::vector<GoalRow> goal_rows();

}  // namespace backplane::bench

#endif  // BACKPLANE_TOOLS_BENCH_PEERS_GOALS_H_
