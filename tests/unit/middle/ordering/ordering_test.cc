// SPDX-License-Identifier: Apache-2.0
//
// The order that the runtime keeps between streams, devices, copies and frees. ORDERING_PROGRAMS says how
// many programs are tried, ORDERING_SEED which one is the first.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "program.h"

namespace backplane::ordering {
namespace {

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

const std::vector<std::string>& device_names() {
  static const auto* names = [] {
    auto* all = new std::vector<std::string>;
    for (const Device& device : devices()) all->push_back(device.name());
    return all;
  }();
  return *names;
}

// What is wrong with one run; empty if nothing is.
std::string difference(const Program& program) {
  try {
    const Record expected = run_in_sequence(program), got = run(program);
    size_t first = 0;
    while (first < std::min(got.size(), expected.size()) && got[first] == expected[first]) ++first;
    if (got == expected) return "";
    return "record " + std::to_string(first) + " of " + std::to_string(expected.size()) + " differs";
  } catch (const std::exception& error) {
    return error.what();
  }
}

// A fault of timing does not show every time.
bool fails(const Program& program) {
  for (int i = 0; i < 20; ++i)
    if (!difference(program).empty()) return true;
  return false;
}

// Without the steps that the failure does not need: a step whose tensors are missing does nothing.
Program shrink(Program program) {
  if (!fails(program)) return program;
  for (size_t i = program.steps.size(); i-- > 0;) {
    Program shorter = program;
    shorter.steps.erase(shorter.steps.begin() + static_cast<ptrdiff_t>(i));
    if (fails(shorter)) program = shorter;
  }
  return program;
}

void expect_in_order(uint64_t seed) {
  const Program program = make_program(seed, device_names());
  const std::string wrong = difference(program);
  if (wrong.empty()) return;
  ADD_FAILURE() << wrong << ":\n" << to_string(program) << "shrunk:\n" << to_string(shrink(program));
}

TEST(Ordering, RandomProgramsGiveTheBitsOfTheSameProgramInSequence) {
  const uint64_t first = setting("ORDERING_SEED", 1), count = setting("ORDERING_PROGRAMS", 200);
  for (uint64_t seed = first; seed < first + count && !::testing::Test::HasFailure(); ++seed)
    expect_in_order(seed);
  for (const Device& device : devices()) EXPECT_EQ(device.memory_stats().failures, 0u) << device.name();
}

TEST(Ordering, ProgramsOfSeveralThreadsDoNotDisturbEachOther) {
  const uint64_t first = setting("ORDERING_SEED", 1) + 1000000, count = setting("ORDERING_PROGRAMS", 200);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t seed = first + t; seed < first + count && !::testing::Test::HasFailure(); seed += 3)
        expect_in_order(seed);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace backplane::ordering
