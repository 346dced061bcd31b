// SPDX-License-Identifier: Apache-2.0
//
// Which devices there are, what they are called, and what is said when there are none.
#include <cuda.h>

#include <cstring>

#include "support.h"

namespace backplane::cuda_tests {
namespace {

plugin::DeviceProperties describe(plugin::Backend& backend, uint32_t index) {
  plugin::DeviceProperties properties{};
  properties.struct_size = sizeof properties;
  conformance::require_ok(backend.describe(index, &properties), "describe");
  return properties;
}

// The reason that create gave; empty when it made a backend.
std::string reason_for_failure(const std::map<std::string, std::string>& environment) {
  try {
    load(environment);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// Field report L2.
void expect_driver_order(const char* order) {
  auto& loaded = load({{"CUDA_DOUBLE_DEVICES", "3"},
                       {"CUDA_DOUBLE_PCI", "0000:81:00,0000:01:00,0000:41:00"},
                       {"CUDA_DOUBLE_CAPABILITY", "7.5,9.0,8.0"},
                       {"CUDA_DEVICE_ORDER", order}});
  ASSERT_EQ(loaded.backend().device_count(), 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    char address[16] = "";
    ASSERT_EQ(cuDeviceGetPCIBusId(address, sizeof address, static_cast<CUdevice>(i)), CUDA_SUCCESS);
    for (char& c : address) c = static_cast<char>(std::tolower(c));
    EXPECT_STREQ(describe(loaded.backend(), i).pci_address, address);
  }
}

TEST(CudaDevices, StandInTheDriversOrderByPciBus) { expect_driver_order("PCI_BUS_ID"); }
TEST(CudaDevices, StandInTheDriversOrderFastestFirst) { expect_driver_order("FASTEST_FIRST"); }

TEST(CudaDevices, AreDescribedWithoutAContext) {
  auto& loaded = load({{"CUDA_DOUBLE_MEMORY", "512M"}, {"CUDA_DOUBLE_CAPABILITY", "9.0"}});
  const auto properties = describe(loaded.backend(), 0);
  EXPECT_EQ(call_count("cuDevicePrimaryCtxRetain"), 0u);
  EXPECT_EQ(properties.memory_total, 512u << 20);
  EXPECT_STREQ(properties.architecture, "sm_90");
  EXPECT_STREQ(properties.api_version, "CUDA 13.0");
  EXPECT_NE(std::string(properties.name).find("test double"), std::string::npos);
  EXPECT_NE(properties.has & plugin::kHasUuid, 0u);
}

// Field report P3.
TEST(CudaDevices, LoseOnlyTheFieldWhoseQueryFails) {
  auto& loaded = load();
  fail_calls("cuDeviceGetUuid_v2:*:801,cuDeviceGetPCIBusId:*:801,cuDeviceTotalMem_v2:*:801");
  const auto properties = describe(loaded.backend(), 0);
  EXPECT_EQ(properties.has & (plugin::kHasUuid | plugin::kHasPciAddress | plugin::kHasMemoryTotal), 0u);
  EXPECT_NE(properties.has & plugin::kHasArchitecture, 0u);
}

TEST(CudaDevices, AreNoneAndANoteSaysWhyWhenVisibleDevicesIsEmpty) {
  auto& loaded = load({{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_EQ(loaded.backend().device_count(), 0u);
  ASSERT_EQ(loaded.backend().note_count(), 1u);
  plugin::Note note{};
  note.struct_size = sizeof note;
  ASSERT_TRUE(loaded.backend().note(0, &note).ok());
  EXPECT_NE(std::string(note.cause).find("CUDA_VISIBLE_DEVICES"), std::string::npos) << note.cause;
  EXPECT_STRNE(note.remedy, "");
}

TEST(CudaDevices, AreNoneWhereTheDriverFindsNone) {
  auto& loaded = load({{"CUDA_DOUBLE_DEVICES", "0"}});
  EXPECT_EQ(loaded.backend().device_count(), 0u);
  EXPECT_EQ(loaded.backend().note_count(), 1u);
}

TEST(CudaInitialisation, NamesBothVersionsWhenTheDriverIsTooOld) {
  const std::string reason = reason_for_failure({{"CUDA_DOUBLE_DRIVER_VERSION", "12040"}});
  EXPECT_NE(reason.find("12.4"), std::string::npos) << reason;
  EXPECT_NE(reason.find("13."), std::string::npos) << reason;
  EXPECT_NE(reason.find("newer driver"), std::string::npos) << reason;
}

TEST(CudaInitialisation, SaysThatPermissionIsMissing) {
  const std::string reason = reason_for_failure({{"CUDA_DOUBLE_INIT_ERROR", "800"}});
  EXPECT_NE(reason.find("permission"), std::string::npos) << reason;
  EXPECT_NE(reason.find("/dev/nvidia"), std::string::npos) << reason;
}

TEST(CudaInitialisation, SaysThatModuleAndLibraryDiffer) {
  const std::string reason = reason_for_failure({{"CUDA_DOUBLE_INIT_ERROR", "803"}});
  EXPECT_NE(reason.find("different versions"), std::string::npos) << reason;
}

TEST(CudaInitialisation, SaysThatTheStubIsNoDriver) {
  const std::string reason = reason_for_failure({{"CUDA_DOUBLE_INIT_ERROR", "34"}});
  EXPECT_NE(reason.find("stub"), std::string::npos) << reason;
}

// Field report L4: what nobody can say is unknown, not zero.
TEST(CudaTelemetry, KnowsMemoryFromTheDriverWhereNvmlIsNot) {
  auto& loaded = load({{"CUDA_DOUBLE_MEMORY", "1G"}}, {{"nvml", "0"}});
  Context context(loaded.backend(), 0);
  const auto buffer = context.allocate(64 << 20);
  plugin::Telemetry telemetry{};
  telemetry.struct_size = sizeof telemetry;
  ASSERT_TRUE(context.device().telemetry(&telemetry).ok());
  EXPECT_NE(telemetry.has & plugin::kHasMemoryUsed, 0u);
  EXPECT_GE(telemetry.memory_used, 64u << 20);
  EXPECT_EQ(telemetry.has & (plugin::kHasUtilization | plugin::kHasTemperature | plugin::kHasPower), 0u);
}

plugin::Telemetry telemetry_of(Context& context) {
  plugin::Telemetry telemetry{};
  telemetry.struct_size = sizeof telemetry;
  conformance::require_ok(context.device().telemetry(&telemetry), "telemetry");
  return telemetry;
}

// The numbers are those that the NVML double always gives: see docs/testing-without-a-gpu.md.
TEST(CudaTelemetry, ShowsWhatNvmlSays) {
  Context context(load().backend(), 0);
  const auto telemetry = telemetry_of(context);
  const uint64_t wanted = plugin::kHasUtilization | plugin::kHasTemperature | plugin::kHasFan |
                          plugin::kHasPower | plugin::kHasPowerLimit | plugin::kHasCurrentClock |
                          plugin::kHasPerformanceState | plugin::kHasMemoryUsed | plugin::kHasEccErrors;
  ASSERT_EQ(telemetry.has & wanted, wanted);
  EXPECT_DOUBLE_EQ(telemetry.utilization, 0.37);
  EXPECT_DOUBLE_EQ(telemetry.temperature_celsius, 41);
  EXPECT_DOUBLE_EQ(telemetry.fan, 0.30);
  EXPECT_DOUBLE_EQ(telemetry.power_watts, 65);
  EXPECT_DOUBLE_EQ(telemetry.power_limit_watts, 250);
  EXPECT_EQ(telemetry.clock_mhz, 1410u);
  EXPECT_EQ(telemetry.performance_state, 2);
  EXPECT_EQ(telemetry.ecc_errors, 0u);
}

TEST(CudaTelemetry, LosesOnlyTheFieldWhoseQueryFails) {
  Context context(
      load({{"NVML_DOUBLE_FAIL", "nvmlDeviceGetFanSpeed:3,nvmlDeviceGetUtilizationRates:3"}}).backend(), 0);
  const auto telemetry = telemetry_of(context);
  EXPECT_EQ(telemetry.has & (plugin::kHasFan | plugin::kHasUtilization), 0u);
  EXPECT_NE(telemetry.has & plugin::kHasTemperature, 0u);
}

TEST(CudaTelemetry, DoesNotBelieveMoreFreeMemoryThanThereIs) {
  Context context(load({{"NVML_DOUBLE_FREE_ABOVE_TOTAL", "1"}}).backend(), 0);
  const auto telemetry = telemetry_of(context);
  ASSERT_NE(telemetry.has & plugin::kHasMemoryFree, 0u);  // the driver itself knows better
  EXPECT_LE(telemetry.memory_free, telemetry.memory_capacity);
}

}  // namespace
}  // namespace backplane::cuda_tests
