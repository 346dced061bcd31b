// SPDX-License-Identifier: Apache-2.0
#include "pairs.h"
#include "ls/text.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <regex>
#include <vector>

namespace backplane::bench {
namespace {

using tools::time_text;

struct Pair {
  std::string name, peer_name;
  Goal kind;
  double goal;
  std::function<void()> ours, peer;
};

std::vector<Pair>& pairs() {
  static std::vector<Pair> all;
  return all;
}

// Keeps the time of each repetition by the benchmark's name.
class Times : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration && !run.error_occurred)
        seconds_[run.run_name.function_name].push_back(run.real_accumulated_time /
                                                       static_cast<double>(run.iterations));
  }
  double median(const std::string& name) {
    auto& times = seconds_[name];
    if (times.empty()) return 0;
    std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
    return times[times.size() / 2];
  }

 private:
  std::map<std::string, std::vector<double>> seconds_;
};

void register_one(const std::string& name, const std::function<void()>& work, int rounds) {
  work();
  benchmark::RegisterBenchmark(name.c_str(),
                               [&work](benchmark::State& state) {
                                 for (auto _ : state) work();
                               })
      ->UseRealTime()
      ->Repetitions(rounds)
      ->MinTime(0.05);
}

void print_row(const Pair& pair, Times& times) {
  const double ours = times.median(pair.name + "/ours"), peer = times.median(pair.name + "/peer");
  if (ours == 0 || peer == 0) return;
  const bool speed = pair.kind == Goal::SpeedAtLeast;
  const double ratio = speed ? peer / ours : ours / peer;
  const bool met = speed ? ratio >= pair.goal : ratio <= pair.goal;
  fmt::print("| {} | {} | {} | {} | {:.2f} | {} {:.2f} | {} |\n", pair.name, time_text(ours), pair.peer_name,
             time_text(peer), ratio, speed ? "≥" : "≤", pair.goal, met ? "met" : "missed");
}

}  // namespace

void add_pair(const std::string& name, Goal kind, double goal, std::function<void()> ours,
              const std::string& peer_name, std::function<void()> peer) {
  pairs().push_back({name, peer_name, kind, goal, std::move(ours), std::move(peer)});
}

int run_pairs(int argc, char** argv, const std::string& title) {
  CLI::App app(title);
  std::string filter = ".*";
  int rounds = 9;
  app.add_option("--filter", filter, "Regular expression over the pairs' names");
  app.add_option("--rounds", rounds, "Interleaved repetitions of each")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  std::vector<const Pair*> chosen;
  for (const Pair& pair : pairs())
    if (std::regex_search(pair.name, std::regex(filter))) chosen.push_back(&pair);
  std::string arguments[] = {argv[0], "--benchmark_enable_random_interleaving=true"};
  char* pointers[] = {arguments[0].data(), arguments[1].data()};
  int count = 2;
  benchmark::Initialize(&count, pointers);
  fmt::print(
      "{}\n\n| work | ours | peer | its time | ratio | goal | |\n| --- | --- | --- | --- | --- | --- | --- "
      "|\n",
      title);
  // One pair at a time: inputs of one would spoil the caches of the others.
  for (const Pair* pair : chosen) {
    benchmark::ClearRegisteredBenchmarks();
    register_one(pair->name + "/ours", pair->ours, rounds);
    register_one(pair->name + "/peer", pair->peer, rounds);
    Times times;
    benchmark::RunSpecifiedBenchmarks(&times);
    print_row(*pair, times);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace backplane::bench
