// SPDX-License-Identifier: Apache-2.0
//
// Why a file did not become a plugin: what the load report says of it.
#ifndef BACKPLANE_SRC_LOADER_PROBLEM_H_
#define BACKPLANE_SRC_LOADER_PROBLEM_H_

#include <optional>
#include <string>

#include "backplane/runtime.h"

namespace backplane::internal {

struct Problem {
  LoadOutcome outcome = LoadOutcome::Failed;
  std::string cause;
  std::string remedy;
};

// Nothing: no problem.
using MaybeProblem = std::optional<Problem>;

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_LOADER_PROBLEM_H_
