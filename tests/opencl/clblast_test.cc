// SPDX-License-Identifier: Apache-2.0
//
// Who multiplies: CLBlast is tried where it is installed and the device is a GPU, and whatever it does, the
// product is right.
#include <gmock/gmock.h>

#include "probe.h"

namespace backplane::opencl_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kInstalled[] = "LD_LIBRARY_PATH=" OPENCL_CLBLAST_FOLDER " ";
// Literals: g++ 12 finds faults in std::string's own code where such constants are added.
#define INSTALLED_ON_A_GPU \
  "LD_LIBRARY_PATH=" OPENCL_CLBLAST_FOLDER " OPENCL_LAYERS=" OPENCL_LAYER " BACKPLANE_TEST_LAYER=gpu "

TEST(OpenClBlas, IsTriedOnAGpuAndTheProductIsRightWhoeverIsFaster) {
  SKIP_WITHOUT_DEVICE();
  const std::string text = probe(INSTALLED_ON_A_GPU, "--multiply cache=off");
  EXPECT_THAT(text, HasSubstr("clblast: called"));
  EXPECT_THAT(text, HasSubstr("device 0 multiplies: ok"));
}

TEST(OpenClBlas, IsNotMissedWhenItFails) {
  SKIP_WITHOUT_DEVICE();
  const std::string text = probe(INSTALLED_ON_A_GPU "BACKPLANE_TEST_CLBLAST=fails", "--multiply cache=off");
  EXPECT_THAT(text, HasSubstr("clblast: called"));
  EXPECT_THAT(text, HasSubstr("device 0 multiplies: ok"));
}

TEST(OpenClBlas, IsNotAskedOnACpu) {
  SKIP_WITHOUT_DEVICE();
  if (probe("").find("device 0 kind: 0") == std::string::npos) GTEST_SKIP() << "device 0 is no CPU";
  const std::string text = probe(kInstalled, "--multiply cache=off");
  EXPECT_THAT(text, Not(HasSubstr("clblast: called")));
  EXPECT_THAT(text, HasSubstr("device 0 multiplies: ok"));
}

}  // namespace
}  // namespace backplane::opencl_tests
