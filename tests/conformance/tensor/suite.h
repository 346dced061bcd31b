// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite's upper layer: what every device must do when it is reached through tensors. Needs no
// test framework, so that tools can run it too. Uses backplane's public headers only.
#ifndef BACKPLANE_TESTS_CONFORMANCE_TENSOR_SUITE_H_
#define BACKPLANE_TESTS_CONFORMANCE_TENSOR_SUITE_H_

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backplane/backplane.h"

namespace backplane::conformance::tensors {

enum class Outcome { Passed, Failed, Skipped };

struct Result {
  std::string device;  // "cpu:0"
  std::string name;    // "rule/..." or "golden/FILE/CASE"
  Outcome outcome = Outcome::Passed;
  std::string message;         // why it failed or was skipped
  bool unimplemented = false;  // skipped because the device lacks an operator or a type of it
};

using Sink = std::function<void(const Result&)>;

// One behaviour that every device must show. The function throws Failure or Skip (check.h), or whatever the
// runtime throws, which is a failure unless it is Unimplemented: then the device lacks the operator.
struct Rule {
  const char* name;
  void (*run)(const Device& device);
};

// Every rule, in a fixed order.
std::vector<Rule> all_rules();

// Runs one rule; never throws.
Result run(const Rule& rule, const Device& device);

// Runs every case of one file in the format of tests/data/golden/README.md. A case of an operator, attribute
// or type that is not known is skipped, and named. A file that cannot be read is one failed case. Never
// throws.
void run_cases(const std::filesystem::path& file, const Device& device, const Sink& sink);

// The case files of a folder, by name.
std::vector<std::filesystem::path> case_files(const std::filesystem::path& folder);

}  // namespace backplane::conformance::tensors

#endif  // BACKPLANE_TESTS_CONFORMANCE_TENSOR_SUITE_H_
