// SPDX-License-Identifier: Apache-2.0
#include "loader/environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "device/memory_limit.h"

namespace backplane::internal {
namespace {

class Environment : public testing::Test {
 protected:
  void TearDown() override {
    ignore_environment(false);
    ::unsetenv(kName);
    ::unsetenv("BACKPLANE_MEMORY_LIMIT");
  }
  static constexpr const char* kName = "BACKPLANE_TEST_FLAG";
};

// Field report C2.
TEST_F(Environment, AFlagThatSaysNoIsOff) {
  EXPECT_FALSE(environment_flag(kName)) << "unset";
  for (const char* value : {"", "0", "false", "FALSE", "False", "off", "Off", "no", "NO"}) {
    ::setenv(kName, value, 1);
    EXPECT_FALSE(environment_flag(kName)) << value;
  }
  for (const char* value : {"1", "true", "on", "yes", "2", "00", " "}) {
    ::setenv(kName, value, 1);
    EXPECT_TRUE(environment_flag(kName)) << value;
  }
}

TEST_F(Environment, IsNotSeenWhenIgnored) {
  ::setenv(kName, "1", 1);
  EXPECT_EQ(environment(kName), "1");
  ignore_environment(true);
  EXPECT_EQ(environment(kName), "");
  EXPECT_FALSE(environment_flag(kName));
}

TEST_F(Environment, NamesAPluginsOption) {
  EXPECT_EQ(environment_name("cpu", "devices"), "BACKPLANE_CPU_DEVICES");
  EXPECT_EQ(environment_name("my_gpu2", "cache.dir-name"), "BACKPLANE_MY_GPU2_CACHE_DIR_NAME");
}

TEST(Bytes, AreANumberWithAUnitOrWithout) {
  struct Row {
    const char* text;
    uint64_t bytes;
  };
  for (const Row& row : {Row{"0", 0}, Row{"1000000", 1000000}, Row{"512MiB", 536870912},
                         Row{"2GiB", 2147483648}, Row{"2gb", 2000000000}, Row{"1.5 KiB", 1536},
                         Row{"1K", 1024}, Row{"1T", 1099511627776}, Row{"64B", 64}, Row{"0.5kb", 500}})
    EXPECT_EQ(parse_bytes(row.text), std::optional(row.bytes)) << row.text;
  for (const char* text : {"", "MiB", "-1", "1 parsec", "1e3", "nan", "inf", "12MiBs", "0x10", "1,5G", " 1",
                           "99999999999999999999", "18446744073709551616", "20000000TiB"})
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
}

TEST_F(Environment, LimitsMemoryWhereTheOptionsDoNot) {
  RuntimeOptions options;
  EXPECT_EQ(memory_limit(options, "cuda:1", "cuda"), 0U);
  ::setenv("BACKPLANE_MEMORY_LIMIT", "1MiB", 1);
  EXPECT_EQ(memory_limit(options, "cuda:1", "cuda"), 1048576U);
  options.memory_limits = {{"*", 1}, {"cuda", 2}, {"cuda:1", 3}};
  EXPECT_EQ(memory_limit(options, "cuda:1", "cuda"), 3U);
  EXPECT_EQ(memory_limit(options, "cuda:0", "cuda"), 2U);
  EXPECT_EQ(memory_limit(options, "cpu:0", "cpu"), 1U);
}

}  // namespace
}  // namespace backplane::internal
