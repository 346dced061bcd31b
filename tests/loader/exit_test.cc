// SPDX-License-Identifier: Apache-2.0
//
// Programs end well, whatever they leave behind.
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>

#include "support.h"

namespace loader_test {
namespace {

// What the program prints, and "status N" if it does not end with 0.
std::string run(const char* command) {
  std::FILE* pipe = ::popen(command, "r");
  if (pipe == nullptr) return "popen failed";
  std::string output;
  for (int c; (c = std::fgetc(pipe)) != EOF;) output.push_back(static_cast<char>(c));
  const int status = ::pclose(pipe);
  if (status != 0)
    output += "status " + std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  return output;
}

class Exit : public testing::Test {
 protected:
  void SetUp() override {
    folder_.add("fake.so");
    ASSERT_EQ(::setenv("BACKPLANE_PLUGIN_PATH", folder_.path().c_str(), 1), 0);
    ASSERT_EQ(::setenv("BACKPLANE_CPU_DEVICES", "2", 1), 0);
  }
  void TearDown() override {
    ::unsetenv("BACKPLANE_PLUGIN_PATH");
    ::unsetenv("BACKPLANE_CPU_DEVICES");
  }
  Folder folder_;
};

// Field report P8.
TEST_F(Exit, WithTensorsOfEveryDeviceInGlobalsIsCleanAHundredTimes) {
  const std::string first = run(LOADER_EXIT " 2>&1");
  ASSERT_GE(std::atoi(first.c_str()), 1) << first;
  for (int i = 1; i < 100; ++i) ASSERT_EQ(run(LOADER_EXIT " 2>&1"), first) << "run " << i;
}

TEST_F(Exit, AfterShutdownWithLiveTensorsIsClean) {
  const std::string first = run(LOADER_EXIT " 2>&1");
  for (int i = 0; i < 10; ++i) ASSERT_EQ(run(LOADER_EXIT " shutdown 2>&1"), first) << "run " << i;
}

}  // namespace
}  // namespace loader_test
