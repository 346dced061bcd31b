// SPDX-License-Identifier: Apache-2.0
//
// backplane-bench-peers: the table of goals, ours and each peer in turns in one run, medians of the rounds'
// ratios. PyTorch runs in a Python process of its own; what the interpreter costs is measured, shown, and
// taken off its times.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <regex>
#include <thread>

#include "goals.h"
#include "ls/text.h"
#include "process.h"
#include "timing.h"

namespace {

using namespace backplane::bench;
using backplane::tools::time_text;

struct Arguments {
  std::string python = "python3";
  std::string filter = ".*";
  int rounds = 5;
  double seconds = 0.05;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Seconds of n calls.
using Clock = std::function<double(int64_t)>;

Clock clock_of(const Run& work) {
  return [work](int64_t calls) { return time_calls(calls, work, [] {}); };
}

// PyTorch's, where it is.
struct Torch {
  std::unique_ptr<PeerProcess> process;
  std::string version;
  double empty = 0;  // seconds that the interpreter needs for a call

  Clock clock(const std::string& work) const {
    return [this, work](int64_t calls) {
      return std::max(1e-10, process->time(work, calls) - empty * static_cast<double>(calls));
    };
  }
};

Torch start_torch(const Arguments& arguments) {
  Torch torch{std::make_unique<PeerProcess>(arguments.python, BACKPLANE_PEERS_FOLDER "/torch_peer.py"), "",
              0};
  torch.version = torch.process->hello();
  if (torch.version.empty()) return torch;
  constexpr int64_t kCalls = 100000;
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) times.push_back(torch.process->time("empty", kCalls) / kCalls);
  torch.empty = median(times);
  return torch;
}

void contend(const std::string& work, const Clock& ours, const Opponent& opponent, const Clock& theirs,
             const Arguments& arguments) {
  // Threads of the other side go on spinning for a moment after their work.
  const auto settle = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  const int64_t our_calls = calls_filling(arguments.seconds, ours);
  settle();
  const int64_t their_calls = calls_filling(arguments.seconds, theirs);
  std::vector<double> mine, others, ratios;
  for (int i = 0; i < arguments.rounds; ++i) {
    settle();
    mine.push_back(ours(our_calls) / static_cast<double>(our_calls));
    settle();
    others.push_back(theirs(their_calls) / static_cast<double>(their_calls));
    ratios.push_back(others.back() / mine.back());
  }
  const double ratio = median(ratios);
  fmt::print("| {} | {} | {} | {} | {:.2f} | {:.3g} | {} |\n", work, time_text(median(mine)), opponent.name,
             time_text(median(others)), ratio, opponent.goal, ratio >= opponent.goal ? "met" : "missed");
  std::fflush(stdout);
}

void run(const Arguments& arguments) {
  const Torch torch = start_torch(arguments);
  if (torch.version.empty())
    fmt::print("PyTorch is left out: {} does not import torch\n\n", arguments.python);
  else
    fmt::print("{}; the interpreter's own {} a call is taken off its times\n\n", torch.version,
               time_text(torch.empty));
  fmt::print(
      "| work | ours | against | its time | ratio | goal | |\n| --- | --- | --- | --- | --- | --- | --- |\n");
  const std::regex filter(arguments.filter);
  for (const GoalRow& row : goal_rows()) {
    if (!std::regex_search(row.work, filter)) continue;
    const Contest contest = row.prepare();
    contest.ours();
    for (const Opponent& opponent : contest.opponents) {
      if (!opponent.torch.empty() && torch.version.empty()) continue;
      contend(row.work, clock_of(contest.ours), opponent,
              opponent.torch.empty() ? clock_of(opponent.run) : torch.clock(opponent.torch), arguments);
    }
  }
}

}  // namespace

int main(int count, char** values) {
  CLI::App app("Our works and the peers' in turns: a table of ratios against goals, as Markdown.");
  Arguments arguments;
  app.add_option("--python", arguments.python, "A Python that can import torch");
  app.add_option("--filter", arguments.filter, "Regular expression over the works' names");
  app.add_option("--rounds", arguments.rounds, "Rounds, of which the medians count")
      ->check(CLI::Range(1, 1000));
  app.add_option("--seconds", arguments.seconds, "Least time of a side in a round")
      ->check(CLI::Range(0.001, 10.0));
  CLI11_PARSE(app, count, values);
  try {
    run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "backplane-bench-peers: {}\n", error.what());
    return 1;
  }
  return 0;
}
