// SPDX-License-Identifier: Apache-2.0
//
// Runs a job again and again, on a fresh faulty device each time, while the n-th call into the plugin fails,
// for n = 1, 2, ... until the job no longer makes so many calls.
#ifndef BACKPLANE_TESTS_FAULTS_SWEEP_H_
#define BACKPLANE_TESTS_FAULTS_SWEEP_H_

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "backplane/backplane.h"
#include "plan.h"

namespace faults {

// Loads the faulty plugin around a plugin of this project ("cpu", "null"), beside the others.
struct Setup {
  std::string wrapped = "cpu";
  bool discrete = false;
};
void load(const Setup& setup);

// Computes on the device, and gives the bytes of its results.
using Job = std::function<std::vector<char>(const backplane::Device&)>;

// With every code that a driver may answer. Each n must give a clear error or the right bytes; afterwards the
// same job must give the right bytes on the same device (but for a lost one), and nothing may be kept.
void sweep(const Job& job, backplane::ErrorCode code, bool lasting = false);

// At the end of a test: shuts the runtime down, after which nothing of the wrapped plugin may live.
void check_that_nothing_lives();

template <typename T>
void append(std::vector<char>& bytes, const std::vector<T>& values) {
  const auto* begin = reinterpret_cast<const char*>(values.data());
  bytes.insert(bytes.end(), begin, begin + values.size() * sizeof(T));
}

}  // namespace faults

#endif  // BACKPLANE_TESTS_FAULTS_SWEEP_H_
