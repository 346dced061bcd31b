// SPDX-License-Identifier: Apache-2.0
//
// What the exercises share: timing, a table, and a picture of it by gnuplot.
#ifndef BACKPLANE_DOCS_EXAMPLES_EXERCISES_EXERCISE_H_
#define BACKPLANE_DOCS_EXAMPLES_EXERCISES_EXERCISE_H_

#include <functional>
#include <string>
#include <vector>

#include "backplane/backplane.h"

namespace exercise {

struct Options {
  std::string picture;  // file to draw into (.svg or .png); empty draws nothing
  int rounds = 5;       // measurements, of which the median counts
  int scale = 0;        // 0: the textbook's size; n halves it n times, for a quick look
};

// Reads the command line; exits for --help and for what it does not know.
Options parse(int argc, char** argv, const std::string& description);

// Median of `rounds` runs in seconds, after one that is not counted. The work ends with what it waits for.
double seconds(int rounds, const std::function<void()>& work);

// One bar a row in each of the series.
struct Chart {
  std::string title;
  std::string unit;                 // of the values
  std::vector<std::string> series;  // column heads
  struct Row {
    std::string name;
    std::vector<double> values;
  };
  std::vector<Row> rows;
};

// Prints the chart as a table and draws it if the options say so. False, with the reason on stderr, when the
// picture could not be drawn.
bool show(const Chart& chart, const Options& options);

}  // namespace exercise

#endif  // BACKPLANE_DOCS_EXAMPLES_EXERCISES_EXERCISE_H_
