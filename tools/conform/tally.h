// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_TOOLS_CONFORM_TALLY_H_
#define BACKPLANE_TOOLS_CONFORM_TALLY_H_

#include <string>

namespace backplane::tools {

enum class Outcome { Passed, Failed, Skipped };

// Prints results as they come and counts them.
class Tally {
 public:
  explicit Tally(bool verbose) : verbose_(verbose) {}

  void add(const std::string& device, const std::string& name, Outcome outcome, const std::string& message);

  // "N passed, M failed, K skipped".
  std::string summary() const;

  // 0 when something passed and nothing failed.
  int exit_code() const { return failed_ == 0 && passed_ > 0 ? 0 : 1; }

 private:
  bool verbose_;  // whether passes are printed too
  int passed_ = 0;
  int failed_ = 0;
  int skipped_ = 0;
};

}  // namespace backplane::tools

#endif  // BACKPLANE_TOOLS_CONFORM_TALLY_H_
