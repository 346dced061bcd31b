// SPDX-License-Identifier: Apache-2.0
//
// What backplane-bench measures: a table of works, at least one for every family of kernels.
#ifndef BACKPLANE_TOOLS_BENCH_WORKS_H_
#define BACKPLANE_TOOLS_BENCH_WORKS_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backplane/backplane.h"

namespace backplane::bench {

// A work with its operands made.
struct Prepared {
  std::function<void()> run;
  double bytes = 0;       // that it must at least move
  double operations = 0;  // arithmetic on elements
};

struct Work {
  const char* family;
  const char* name;
  bool (*takes)(DType);
  // Operands of about `size` elements. Throws what the device says it cannot do.
  Prepared (*prepare)(const Device& device, DType type, int64_t size);
};

std::span<const Work> works();
std::vector<std::string> families();  // each once, in the table's order

}  // namespace backplane::bench

#endif  // BACKPLANE_TOOLS_BENCH_WORKS_H_
