// SPDX-License-Identifier: Apache-2.0
//
// What a host program sees of CUDA devices: selection, copies between them, faults and exit, through tensors.
#include <backplane/backplane.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace backplane::cuda_tests {
namespace {

using testing::HasSubstr;

std::vector<std::string>& warnings() {
  static auto* lines = new std::vector<std::string>;
  return *lines;
}

void start(const std::vector<std::pair<const char*, const char*>>& environment) {
  for (const auto& [name, value] : environment) setenv(name, value, 1);
  RuntimeOptions options;
  options.log = [](LogLevel level, std::string_view text) {
    if (level >= LogLevel::Warning) warnings().emplace_back(text);
  };
  Runtime::configure(options);
}

std::vector<float> values(const Tensor& tensor) {
  std::vector<float> host(static_cast<size_t>(tensor.size()));
  tensor.copy_to_host(host.data(), host.size() * sizeof(float));
  return host;
}

// Field report P11, with CUDA devices present.
TEST(CudaTensors, AnIndexThatIsNotThereIsNotFoundAndNamesThoseThatAre) {
  start({{"CUDA_DOUBLE_DEVICES", "2"}});
  EXPECT_EQ(device_count("cuda"), 2);
  try {
    Device("cuda:2");
    FAIL() << "cuda:2 was opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::NotFound);
    EXPECT_THAT(error.what(), HasSubstr("cuda:1"));
  }
}

// Field report C1.
TEST(CudaTensors, APeerCopyOfZerosIsFoundOutAndStagedWithOneWarning) {
  start({{"CUDA_DOUBLE_DEVICES", "2"}, {"CUDA_DOUBLE_PEER_ZEROS", "0-1,1-0"}});
  const Tensor source = full({1000}, 7.0, DType::Float32, Device("cuda:0"));
  const Tensor target = source.copy_to(Device("cuda:1"));
  EXPECT_EQ(values(target), std::vector<float>(1000, 7.0f));
  EXPECT_EQ(values(source.copy_to(Device("cuda:1"))), std::vector<float>(1000, 7.0f));
  EXPECT_EQ(warnings().size(), 1u);
}

TEST(CudaTensors, CopiesBetweenCardsThatReachEachOtherArePeerCopies) {
  start({{"CUDA_DOUBLE_DEVICES", "2"}});
  EXPECT_EQ(Runtime::get().route(Device("cuda:0"), Device("cuda:1")).kind, RouteKind::Peer);
  const Tensor source = full({1000}, 7.0, DType::Float32, Device("cuda:0"));
  EXPECT_EQ(values(source.copy_to(Device("cuda:1")) + 1), std::vector<float>(1000, 8.0f));
}

// Field report M7.
TEST(CudaTensors, AFaultOnOneDeviceLeavesTheOthers) {
  start({{"CUDA_DOUBLE_DEVICES", "2"}, {"CUDA_DOUBLE_STICKY", "0:1:700"}});
  const auto work = [](const char* device) {
    const Tensor ones = full({100}, 1.0, DType::Float32, Device(device));
    return values(ones + ones);
  };
  try {
    work("cuda:0");
    FAIL() << "the fault was not seen";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::DeviceLost) << error.what();
  }
  EXPECT_EQ(work("cuda:1"), std::vector<float>(100, 2.0f));
  EXPECT_EQ(work("cpu:0"), std::vector<float>(100, 2.0f));
  EXPECT_THROW(work("cuda:0"), Error);
}

// Field report P8.
TEST(CudaTensors, InAGlobalAtExitAreHarmless) {
  EXPECT_EXIT(
      {
        start({});
        static Tensor kept = full({1000}, 1.0, DType::Float32, Device("cuda:0"));
        kept = kept + kept;
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace backplane::cuda_tests
