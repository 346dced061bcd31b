// SPDX-License-Identifier: Apache-2.0
//
// What a run of backplane-bench has measured, and the forms it is shown in.
#ifndef BACKPLANE_TOOLS_BENCH_RESULTS_H_
#define BACKPLANE_TOOLS_BENCH_RESULTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "timing.h"

namespace backplane::bench {

// A limit of the machine: "streaming triad", 57, "GB/s".
struct Limit {
  std::string name;
  double value = 0;
  std::string unit;
};

// One operator on one device, type and size.
struct Row {
  std::string device, family, name, type;
  int64_t size = 0;  // elements of the operand, or of the result where there is none
  double bytes = 0;  // that the work must at least move
  double operations = 0;
  Timing time;

  double bandwidth() const { return bytes / time.seconds / 1e9; }   // GB/s
  double speed() const { return operations / time.seconds / 1e9; }  // 1e9 operations a second
  bool by_operations() const { return operations > 8 * bytes; }     // which of the two is of interest
};

struct Results {
  std::vector<Limit> limits;
  std::vector<Row> rows;
  std::vector<std::string> skipped;  // what was asked for and could not be run, with the reason

  const Limit* limit(const std::string& name) const;
};

// "2^20", "1000".
std::string readable_size(int64_t size);

// Limits, then a table for each device and type: the time for each work and size, and the best rate.
std::string table_text(const Results& results);

// Both throw std::runtime_error, naming the file.
void write_json(const Results& results, const std::string& path);
Results read_json(const std::string& path);

// What has changed by more than the two runs' noise, and by how many times it; "nothing beyond the noise".
std::string comparison_text(const Results& before, const Results& now);

// Bandwidth over sizes, and the roofline, into a .svg or .png file, drawn by gnuplot. Throws
// std::runtime_error where that is missing or fails.
void draw(const Results& results, const std::string& path);

}  // namespace backplane::bench

#endif  // BACKPLANE_TOOLS_BENCH_RESULTS_H_
