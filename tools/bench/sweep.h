// SPDX-License-Identifier: Apache-2.0
//
// Every work, over sizes and types, on each device.
#ifndef BACKPLANE_TOOLS_BENCH_SWEEP_H_
#define BACKPLANE_TOOLS_BENCH_SWEEP_H_

#include <string>
#include <vector>

#include "backplane/backplane.h"
#include "results.h"

namespace backplane::bench {

struct Sweep {
  std::vector<Device> devices;
  std::vector<std::string> families;  // all, if empty
  std::vector<DType> types;
  std::vector<int64_t> sizes;
  Effort effort;
};

// Adds to `results`: a row for each, or the reason why there is none. Shows a progress bar on standard error
// where that is a terminal.
void run(const Sweep& sweep, Results& results);

}  // namespace backplane::bench

#endif  // BACKPLANE_TOOLS_BENCH_SWEEP_H_
