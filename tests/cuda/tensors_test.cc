// SPDX-License-Identifier: Apache-2.0
//
// What a host program sees of CUDA devices: selection, copies between them, faults and exit, through tensors.
#include <backplane/backplane.h>
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace backplane::cuda_tests {
namespace {

using testing::HasSubstr;

std::vector<std::string>& warnings() {
  static auto* lines = new std::vector<std::string>;
  return *lines;
}

// Before the first use: the environment that the driver is to see, and the runtime's options.
void start(const std::vector<std::pair<const char*, const char*>>& environment, RuntimeOptions options = {}) {
  for (const auto& [name, value] : environment) setenv(name, value, 1);
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

// Field report L1.
TEST(CudaTensors, ACardThatASecondPluginAlsoSeesIsOneGpu) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "backplane-cuda-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  fs::copy(SECOND_PLUGIN, folder);
  RuntimeOptions options;
  options.plugin_folders = {folder};
  options.plugin_options = {{"better.kind", "gpu"}, {"better.pci", "0000:41:00.0"}};
  start({{"CUDA_DOUBLE_DEVICES", "2"}, {"CUDA_DOUBLE_PCI", "0000:01:00,0000:41:00"}}, options);
  const std::vector<Device> routes = routes_to("cuda:1");
  fs::remove_all(folder);
  EXPECT_EQ(device_count("gpu"), 2);
  ASSERT_EQ(routes.size(), 2u);
  EXPECT_THAT((std::vector<std::string>{routes[0].name(), routes[1].name()}),
              testing::UnorderedElementsAre("cuda:1", "better:0"));
  EXPECT_EQ(routes_to("cuda:0").size(), 1u);
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

// By the driver's own count; see tests/cuda_driver/driver/control.h.
uint64_t bytes_in_use(int device) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void* function = library == nullptr ? nullptr : dlsym(library, "cudaDoubleBytesInUse");
  if (function == nullptr) throw std::runtime_error("this is not the driver for tests");
  return reinterpret_cast<uint64_t (*)(int)>(function)(device);
}

// Field report M1.
TEST(CudaTensors, OnOneCardUseNoMemoryOfAnother) {
  start({{"CUDA_DOUBLE_DEVICES", "2"}});
  const Device first("cuda:0"), second("cuda:1");
  const MemoryStats before = first.memory_stats();
  const uint64_t used_before = bytes_in_use(0);
  const Tensor x = full({100000}, 2.0, DType::Float32, second);
  EXPECT_EQ(sum(x + x).item<float>(), 400000);
  EXPECT_EQ(first.memory_stats().in_use, before.in_use);
  EXPECT_EQ(first.memory_stats().allocations, before.allocations);
  EXPECT_EQ(bytes_in_use(0), used_before);
  EXPECT_GE(bytes_in_use(1), 400000u);
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
