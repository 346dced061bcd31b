// SPDX-License-Identifier: Apache-2.0
// What is configured by environment variable: each case runs in a child process that has not used the driver
// before.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include <cuda.h>
#include <dlfcn.h>

#include "tests/harness.h"

namespace cuda_double_test {
namespace {

using Variables = std::map<std::string, std::string>;

// 0 where every EXPECT in `body` held.
int in_child(const Variables& environment, const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    body();
    std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string name_of(CUdevice device) {
  char name[128] = "";
  EXPECT_EQ(cuDeviceGetName(name, sizeof name, device), CUDA_SUCCESS);
  return name;
}

std::string pci_of(CUdevice device) {
  char text[32] = "";
  EXPECT_EQ(cuDeviceGetPCIBusId(text, sizeof text, device), CUDA_SUCCESS);
  return text;
}

int count() {
  int devices = -1;
  EXPECT_EQ(cuDeviceGetCount(&devices), CUDA_SUCCESS);
  return devices;
}

TEST(Configuration, DevicesAreAsConfiguredAndSayThatTheyAreDoubles) {
  EXPECT_EQ(0, in_child({{"CUDA_DOUBLE_DEVICES", "2"},
                         {"CUDA_DOUBLE_NAMES", "Card A;Card B"},
                         {"CUDA_DOUBLE_MEMORY", "512M,8G"},
                         {"CUDA_DOUBLE_CAPABILITY", "7.5,9.0"},
                         {"CUDA_DOUBLE_PCI", "0000:41:00,0001:02:03"},
                         {"CUDA_DOUBLE_UUID", "GPU-00112233-4455-6677-8899-aabbccddeeff"}},
                        [] {
                          ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
                          EXPECT_EQ(count(), 2);
                          EXPECT_EQ(name_of(0), "Card A (test double)");
                          EXPECT_EQ(name_of(1), "Card B (test double)");
                          EXPECT_EQ(pci_of(0), "0000:41:00.0");
                          EXPECT_EQ(pci_of(1), "0001:02:03.0");
                          size_t bytes = 0;
                          ASSERT_EQ(cuDeviceTotalMem(&bytes, 0), CUDA_SUCCESS);
                          EXPECT_EQ(bytes, 512u << 20);
                          int major = 0;
                          ASSERT_EQ(
                              cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1),
                              CUDA_SUCCESS);
                          EXPECT_EQ(major, 9);
                          CUuuid uuid;
                          ASSERT_EQ(cuDeviceGetUuid(&uuid, 0), CUDA_SUCCESS);
                          EXPECT_EQ(static_cast<unsigned char>(uuid.bytes[15]), 0xff);
                        }));
}

TEST(Configuration, OrderAndVisibilityFollowTheCudaVariables) {
  const Variables base{{"CUDA_DOUBLE_DEVICES", "3"}, {"CUDA_DOUBLE_PCI", "0000:41:00,0000:01:00,0000:21:00"}};
  const auto with = [&](Variables more) {
    more.insert(base.begin(), base.end());
    return more;
  };
  EXPECT_EQ(0, in_child(with({{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}), [] {
              ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
              EXPECT_EQ(pci_of(0), "0000:01:00.0");
              EXPECT_EQ(pci_of(2), "0000:41:00.0");
            }));
  EXPECT_EQ(0, in_child(with({{"CUDA_VISIBLE_DEVICES", "2,0,7,1"}}), [] {
              ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
              EXPECT_EQ(count(), 2);  // what follows an invalid entry is not visible
              EXPECT_EQ(pci_of(0), "0000:21:00.0");
            }));
  EXPECT_EQ(
      0, in_child(with({{"CUDA_VISIBLE_DEVICES", ""}}), [] { EXPECT_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE); }));
}

TEST(Configuration, InitialisationFailsAsAsked) {
  EXPECT_EQ(0, in_child({{"CUDA_DOUBLE_DEVICES", "0"}}, [] { EXPECT_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE); }));
  EXPECT_EQ(0, in_child({{"CUDA_DOUBLE_INIT_ERROR", "803"}},
                        [] { EXPECT_EQ(cuInit(0), CUDA_ERROR_SYSTEM_DRIVER_MISMATCH); }));
  EXPECT_EQ(0, in_child({{"CUDA_DOUBLE_DRIVER_VERSION", "11040"}}, [] {
              int version = 0;
              ASSERT_EQ(cuDriverGetVersion(&version), CUDA_SUCCESS);
              EXPECT_EQ(version, 11040);
            }));
  EXPECT_EQ(0, in_child({}, [] {
              int devices = 0;
              EXPECT_EQ(cuDeviceGetCount(&devices), CUDA_ERROR_NOT_INITIALIZED);
            }));
}

TEST(Configuration, MalformedVariablesEndTheProcess) {
  EXPECT_EQ(97, in_child({{"CUDA_DOUBLE_DEVICES", "two"}}, [] { cuInit(0); }));
  EXPECT_EQ(97, in_child({{"CUDA_DOUBLE_FAIL", "cuMemAlloc"}}, [] { cuInit(0); }));
}

TEST(Configuration, AChildOfForkHasNoDriver) {
  EXPECT_EQ(0, in_child({}, [] {
              ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
              EXPECT_EQ(0, in_child({}, [] {
                          int devices = 0;
                          EXPECT_EQ(cuDeviceGetCount(&devices), CUDA_ERROR_NOT_INITIALIZED);
                        }));
            }));
}

TEST(Configuration, AStickyFaultStrikesAtTheLaunchAskedFor) {
  EXPECT_EQ(
      0, in_child({{"CUDA_DOUBLE_STICKY", "0:2:719"}}, [] {
        CUcontext context = nullptr;
        CUmodule module = nullptr;
        CUfunction function = nullptr;
        ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
        ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
        ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
        ASSERT_EQ(
            cuModuleLoadData(&module, (std::string(kHeader) + ".visible .entry f()\n{\nret;\n}\n").c_str()),
            CUDA_SUCCESS);
        ASSERT_EQ(cuModuleGetFunction(&function, module, "f"), CUDA_SUCCESS);
        ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
        ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
      }));
}

TEST(Configuration, ReportsGoToTheFileAskedFor) {
  const std::string path = ::testing::TempDir() + "cuda_double_report_" + std::to_string(getpid());
  EXPECT_EQ(0, in_child({{"CUDA_DOUBLE_REPORT", path}}, [] {
              CUcontext context = nullptr;
              ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
              ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
              ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
              EXPECT_EQ(cuMemFree(12345), CUDA_ERROR_INVALID_VALUE);
            }));
  std::FILE* file = std::fopen(path.c_str(), "r");
  ASSERT_NE(file, nullptr);
  char line[256] = "";
  EXPECT_NE(std::fgets(line, sizeof line, file), nullptr);
  std::fclose(file);
  unlink(path.c_str());
  EXPECT_STREQ(line, "cuMemFree of an address near the null address\n");
}

TEST(Configuration, DereferencingADeviceAddressOnTheHostCrashes) {
  EXPECT_EQ(128 + SIGSEGV, in_child({{"ASAN_OPTIONS", "handle_segv=0"}}, [] {
              std::signal(SIGSEGV, SIG_DFL);
              CUcontext context = nullptr;
              CUdeviceptr memory = 0;
              ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
              ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
              ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
              ASSERT_EQ(cuMemAlloc(&memory, 4), CUDA_SUCCESS);
              *reinterpret_cast<volatile int*>(memory) = 1;
            }));
}

}  // namespace
}  // namespace cuda_double_test
