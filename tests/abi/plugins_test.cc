// SPDX-License-Identifier: Apache-2.0
//
// Plugins built otherwise than this program: against older and newer headers, and by another compiler with
// another standard library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backplane/backplane.h"

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

bool configure_once() {
  RuntimeOptions options;
  options.plugin_folders = {ABI_PLUGINS};
  options.default_folder = false;
  options.ignore_environment = true;
  Runtime::configure(options);
  return true;
}

class ForeignPlugin : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    [[maybe_unused]] static const bool configured = configure_once();
    if (std::string(GetParam()) == "foreign" && ABI_HAS_FOREIGN == 0)
      GTEST_SKIP() << "there is no clang++ with libc++ here";
  }
};

TEST_P(ForeignPlugin, IsLoadedAndDescribesItsDevice) {
  const Device device(GetParam());
  EXPECT_STREQ(device.properties().name, "Example device in the calling thread");
  EXPECT_TRUE(device.supports(float32));
  EXPECT_EQ(device.telemetry().has, 0U);
  EXPECT_THAT(device.processes(), IsEmpty());
  if (device.backend() != "foreign") return;
  for (const FileReport& row : Runtime::get().report()) {
    if (row.name == "foreign") {
      EXPECT_THAT(row.compiler, testing::StartsWith("clang "));
    }
  }
}

TEST_P(ForeignPlugin, Computes) {
  const Device device(GetParam());
  const Tensor a = tensor(std::vector<float>{1, 2, 3, 4}, {2, 2}, device);
  const Tensor b = tensor(std::vector<float>{10, 20}, {2}, device);
  EXPECT_THAT((a * b + 0.5f).to_vector<float>(), ElementsAre(10.5f, 40.5f, 30.5f, 80.5f));
  EXPECT_THAT(a.transpose().clone().to_vector<float>(), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT((a > 2).to_vector<bool>(), ElementsAre(false, false, true, true));
}

TEST_P(ForeignPlugin, SaysWhatItCannotDo) {
  const Tensor a = tensor(std::vector<double>{1, 2}, {2}, Device(GetParam()));
  try {
    (a + a).to_vector<double>();
    FAIL() << "no error was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unimplemented) << error.what();
  }
}

TEST_P(ForeignPlugin, MovesDataToAndFromTheOthers) {
  const Tensor a = tensor(std::vector<int>{7, -8, 9}, {3}, Device(GetParam()));
  for (const Device& other : devices()) EXPECT_THAT(a.copy_to(other).to_vector<int>(), ElementsAre(7, -8, 9));
}

INSTANTIATE_TEST_SUITE_P(Of, ForeignPlugin, testing::Values("oldest", "newer", "foreign"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace backplane
