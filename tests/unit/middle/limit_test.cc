// SPDX-License-Identifier: Apache-2.0
//
// Where a device's memory limit comes from. Each case has a process of its own, as the runtime starts once.
#include <gtest/gtest.h>

#include <cstdlib>

#include "backplane/backplane.h"

namespace backplane {
namespace {

constexpr uint64_t kMiB = 1 << 20;

void start(const char* variable, const std::map<std::string, uint64_t>& limits, bool ignore = false) {
  if (variable != nullptr) setenv("BACKPLANE_MEMORY_LIMIT", variable, 1);
  RuntimeOptions options;
  options.memory_limits = limits;
  options.ignore_environment = ignore;
  options.plugin_folders = {MIDDLE_PLUGINS};
  Runtime::configure(options);
}

uint64_t limit(const char* device) { return Device(device).memory_stats().limit; }

// Runs in a process of its own; EXPECTs do not reach the parent, so the exit status says it.
template <typename Check>
void in_a_process(const Check& check) {
  EXPECT_EXIT(
      {
        check();
        _exit(::testing::Test::HasFailure() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(MemoryLimit, ComesFromTheEnvironmentForEveryDevice) {
  in_a_process([] {
    start("48MiB", {});
    EXPECT_EQ(limit("cpu:0"), 48 * kMiB);
    EXPECT_EQ(limit("far:0"), 48 * kMiB);
    EXPECT_THROW(empty({49 << 20}, uint8, "far:0"), Error);
    EXPECT_NO_THROW(empty({40 << 20}, uint8, "far:0"));
  });
}

TEST(MemoryLimit, OfTheOptionsBeatsTheEnvironmentAndTheNearestNameWins) {
  in_a_process([] {
    start("48MiB", {{"far:1", 16 * kMiB}, {"far", 32 * kMiB}});
    EXPECT_EQ(limit("cpu:0"), 48 * kMiB);
    EXPECT_EQ(limit("far:0"), 32 * kMiB);
    EXPECT_EQ(limit("far:1"), 16 * kMiB);
  });
  in_a_process([] {
    start("48MiB", {{"*", 24 * kMiB}});
    EXPECT_EQ(limit("cpu:0"), 24 * kMiB);
    EXPECT_EQ(limit("far:1"), 24 * kMiB);
  });
}

TEST(MemoryLimit, OfAnIgnoredEnvironmentIsNone) {
  in_a_process([] {
    start("48MiB", {}, true);
    EXPECT_EQ(limit("far:0"), UINT64_MAX);
    EXPECT_GT(limit("cpu:0"), 48 * kMiB);  // the share of what is available
    EXPECT_LT(limit("cpu:0"), UINT64_MAX);
  });
}

TEST(MemoryLimit, CanBeSetAndTakenAwayLater) {
  in_a_process([] {
    start(nullptr, {{"far:0", 8 * kMiB}});
    EXPECT_THROW(empty({9 << 20}, uint8, "far:0"), Error);
    Device("far:0").set_memory_limit(0);
    EXPECT_EQ(limit("far:0"), UINT64_MAX);
    EXPECT_NO_THROW(empty({9 << 20}, uint8, "far:0"));
  });
}

}  // namespace
}  // namespace backplane
