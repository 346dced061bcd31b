// SPDX-License-Identifier: Apache-2.0
// The NVML double. It is declared here from NVML's reference manual, as a user of it would.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tests/harness.h"

extern "C" {
int nvmlInit_v2();
int nvmlShutdown();
int nvmlDeviceGetCount_v2(unsigned*);
int nvmlDeviceGetHandleByIndex_v2(unsigned, void**);
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void**);
int nvmlDeviceGetName(void*, char*, unsigned);
int nvmlDeviceGetMemoryInfo(void*, unsigned long long*);
int nvmlDeviceGetFanSpeed(void*, unsigned*);
int nvmlDeviceGetTemperature(void*, unsigned, unsigned*);
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned*, void*);
const char* nvmlErrorString(int);
}

namespace cuda_double_test {
namespace {

const Environment kEnvironment{{"CUDA_DOUBLE_DEVICES", "2"},
                               {"CUDA_DOUBLE_PCI", "0000:41:00,0000:01:00"},
                               {"CUDA_DOUBLE_NAMES", "First;Second"}};

class Nvml : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(nvmlInit_v2(), 0);
    ASSERT_EQ(nvmlDeviceGetHandleByIndex_v2(0, &card_), 0);
  }
  void TearDown() override {
    unsetenv("NVML_DOUBLE_FAIL");
    unsetenv("NVML_DOUBLE_FREE_ABOVE_TOTAL");
    nvmlShutdown();
    DriverTest::TearDown();
  }
  void* card_ = nullptr;
};

TEST_F(Nvml, CardsComeInTheOrderOfTheirAddresses) {
  unsigned count = 0;
  char name[96] = "", bus[] = "0000:01:00.0";
  void* by_address = nullptr;
  ASSERT_EQ(nvmlDeviceGetCount_v2(&count), 0);
  EXPECT_EQ(count, 2u);
  ASSERT_EQ(nvmlDeviceGetHandleByPciBusId_v2(bus, &by_address), 0);
  EXPECT_EQ(by_address, card_);
  ASSERT_EQ(nvmlDeviceGetName(card_, name, sizeof name), 0);
  EXPECT_STREQ(name, "Second (test double)");  // the first as configured has the higher address
  EXPECT_EQ(nvmlDeviceGetName(card_, name, 3), 7);
}

TEST_F(Nvml, MemoryInUseIsWhatTheDriverHandedOut) {
  unsigned long long memory[3] = {};  // total, free, used
  void* first = nullptr;
  const CUdeviceptr held = allocate(1 << 20);
  ASSERT_EQ(nvmlDeviceGetHandleByIndex_v2(1, &first), 0);
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(first, memory), 0);
  EXPECT_EQ(memory[2], 1u << 20);
  EXPECT_EQ(memory[0], memory[1] + memory[2]);
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(card_, memory), 0);
  EXPECT_EQ(memory[2], 0u);
  struct {
    unsigned pid;
    unsigned long long used;
    unsigned a, b;
  } process[2];
  unsigned count = 2;
  ASSERT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(first, &count, process), 0);
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(process[0].pid, static_cast<unsigned>(getpid()));
  EXPECT_EQ(process[0].used, 1u << 20);
  count = 0;
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(first, &count, nullptr),
            7);  // insufficient size, and how many
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(cuMemFree(held), CUDA_SUCCESS);
}

TEST_F(Nvml, OtherProcessesAreListedOnRequest) {
  setenv("NVML_DOUBLE_PROCESSES", "17:1048576,18:5", 1);
  struct {
    unsigned pid;
    unsigned long long used;
    unsigned a, b;
  } process[2];
  unsigned count = 2;
  ASSERT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(card_, &count, process), 0);
  unsetenv("NVML_DOUBLE_PROCESSES");
  ASSERT_EQ(count, 2u);
  EXPECT_EQ(process[0].pid, 17u);
  EXPECT_EQ(process[0].used, 1u << 20);
  EXPECT_EQ(process[1].pid, 18u);
  EXPECT_EQ(process[1].used, 5u);
}

TEST_F(Nvml, FreeMemoryAboveTheTotalIsToldOnRequest) {
  setenv("NVML_DOUBLE_FREE_ABOVE_TOTAL", "1", 1);
  unsigned long long memory[3] = {};
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(card_, memory), 0);
  EXPECT_GT(memory[1], memory[0]);
}

TEST_F(Nvml, AnyQueryFailsOnRequestAndLeavesTheOthersAlone) {
  unsigned value = 0;
  ASSERT_EQ(nvmlDeviceGetFanSpeed(card_, &value), 0);
  EXPECT_EQ(value, 30u);
  setenv("NVML_DOUBLE_FAIL", "nvmlDeviceGetName:999,nvmlDeviceGetFanSpeed:3", 1);
  EXPECT_EQ(nvmlDeviceGetFanSpeed(card_, &value), 3);
  EXPECT_STREQ(nvmlErrorString(3), "Not Supported");
  EXPECT_EQ(nvmlDeviceGetTemperature(card_, 0, &value), 0);
  EXPECT_EQ(value, 41u);
}

TEST_F(Nvml, NothingWorksBeforeInitialisation) {
  ASSERT_EQ(nvmlShutdown(), 0);
  unsigned value = 0;
  EXPECT_EQ(nvmlDeviceGetFanSpeed(card_, &value), 1);
  EXPECT_EQ(nvmlShutdown(), 1);
  ASSERT_EQ(nvmlInit_v2(), 0);
}

}  // namespace
}  // namespace cuda_double_test
