// SPDX-License-Identifier: Apache-2.0
//
// What a person at a shell sees of CUDA devices, and of their absence. The numbers are those that the NVML
// double always gives: see docs/testing-without-a-gpu.md.
#include "tests/tools/program.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// On the driver for tests, which the test's own environment names; English words and a wide terminal.
Output tool(const std::string& environment, const std::string& arguments) {
  return run("LC_ALL=C COLUMNS=140 " + environment + " " + BACKPLANE_BIN + "/" + arguments + " 2>&1");
}

// As on a machine without an NVIDIA driver.
Output without_driver(const std::string& arguments) {
  return run(std::string("env -u LD_LIBRARY_PATH LC_ALL=C COLUMNS=140 ") + BACKPLANE_BIN + "/" + arguments +
             " 2>&1");
}

json cuda_plugin_in(const Output& output) {
  const json all = json::parse(output.text);
  for (const json& plugin : all.at("plugins")) {
    const std::string path = plugin.at("path");
    if (path.substr(path.rfind('/') + 1) == "cuda.so") return plugin;
  }
  return {};
}

json device_in(const Output& output, const std::string& name) {
  const json all = json::parse(output.text);
  for (const json& device : all.at("devices"))
    if (device.at("name") == name) return device;
  return {};
}

TEST(CudaLs, ShowsWhatTheVendorsToolShows) {
  const Output table = tool("CUDA_DOUBLE_PCI=0000:41:00", "backplane-ls");
  EXPECT_EQ(table.code, 0);
  for (const char* shown : {"cuda:0", "test double", "0000:41:00.0", "CUDA 13.0, driver 580.00.double",
                            "/ 4.0 GiB", "37 %", "41 C", "65 / 250 W", "P2", "30 %", "0 ECC", "1.4 GHz"})
    EXPECT_THAT(table.text, HasSubstr(shown)) << table.text;
}

TEST(CudaLs, ShowsTheProcessesOnTheCard) {
  const std::string pid = std::to_string(getpid()),
                    environment = "NVML_DOUBLE_PROCESSES=" + pid + ":104857600";
  const json device = device_in(tool(environment, "backplane-ls --json"), "cuda:0");
  ASSERT_TRUE(device.is_object());
  ASSERT_EQ(device.at("processes").size(), 1u) << device;
  const json& process = device.at("processes")[0];
  EXPECT_EQ(process.at("pid"), getpid());
  EXPECT_THAT(process.at("name").get<std::string>(), HasSubstr("cuda_programs_test"));
  EXPECT_EQ(process.at("memory_used"), 100u << 20);
  const Output table = tool(environment, "backplane-ls");
  for (const std::string& shown : {pid, std::string("cuda_programs_test"), std::string("100 MiB")})
    EXPECT_THAT(table.text, HasSubstr(shown));
}

TEST(CudaLs, LeavesUnsaidWhatNobodyKnows) {
  const json device =
      device_in(tool("BACKPLANE_CUDA_NVML=0 CUDA_DOUBLE_MEMORY=512M", "backplane-ls --json"), "cuda:0");
  ASSERT_TRUE(device.is_object());
  EXPECT_EQ(device.at("memory_total"), 512u << 20);
  for (const char* field : {"utilization", "temperature_celsius", "fan", "power_watts", "ecc_errors",
                            "performance_state", "driver_version"})
    EXPECT_TRUE(device.at(field).is_null()) << field;
}

TEST(CudaAbsence, SaysThatThereIsNoDriver) {
  const Output output = without_driver("backplane-ls --json");
  EXPECT_EQ(output.code, 0);
  const json plugin = cuda_plugin_in(output);
  if (plugin.at("outcome") == "loaded") GTEST_SKIP() << "this machine has an NVIDIA driver";
  EXPECT_THAT(plugin.at("cause").get<std::string>(),
              HasSubstr("libcuda.so.1 not found: no NVIDIA driver on this machine"));
  EXPECT_THAT(plugin.at("remedy").get<std::string>(), HasSubstr("driver"));
  EXPECT_TRUE(device_in(output, "cpu:0").is_object());
}

// Field report P11.
TEST(CudaAbsence, IsNotFoundForWhoAsksAndNeverTheCpu) {
  if (cuda_plugin_in(without_driver("backplane-ls --json")).at("outcome") == "loaded")
    GTEST_SKIP() << "this machine has an NVIDIA driver";
  const Output output = without_driver("backplane-conform --device cuda:0 --filter copies");
  EXPECT_NE(output.code, 0);
  EXPECT_THAT(output.text, HasSubstr("no device 'cuda:0'"));
  EXPECT_THAT(output.text, HasSubstr("the devices are: cpu:0"));
  EXPECT_EQ(output.last_line(), "0 passed, 1 failed, 0 skipped") << output.text;
}

struct Failure {
  const char* name;
  const char* environment;
  const char* words;  // of the cause or the remedy
};

// googletest names a case by this, which has to have this name.
// NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const Failure& failure, std::ostream* stream) { *stream << failure.name; }

constexpr Failure kFailures[] = {
    {"DriverTooOld", "CUDA_DOUBLE_DRIVER_VERSION=12040", "it supports CUDA 12.4"},
    {"Stub", "CUDA_DOUBLE_INIT_ERROR=34", "stub"},
    {"OutOfMemory", "CUDA_DOUBLE_INIT_ERROR=2", "CUDA_ERROR_OUT_OF_MEMORY"},
    {"DeviceFiles", "CUDA_DOUBLE_INIT_ERROR=304", "/dev/nvidia* exist"},
    {"NotPermitted", "CUDA_DOUBLE_INIT_ERROR=800", "insufficient permission"},
    {"NotReady", "CUDA_DOUBLE_INIT_ERROR=802", "nvidia-fabricmanager"},
    {"Mismatch", "CUDA_DOUBLE_INIT_ERROR=803", "different versions"},
    {"ForwardCompatibility", "CUDA_DOUBLE_INIT_ERROR=804", "forward-compatibility"},
    {"Unknown", "CUDA_DOUBLE_INIT_ERROR=999", "kernel modules"},
};

class CudaInitialisation : public testing::TestWithParam<Failure> {};

TEST_P(CudaInitialisation, SaysWhyItFailedAndTheOthersLoad) {
  const Output output = tool(GetParam().environment, "backplane-ls --json");
  EXPECT_EQ(output.code, 0);
  const json plugin = cuda_plugin_in(output);
  EXPECT_EQ(plugin.at("outcome"), "failed");
  EXPECT_THAT(plugin.dump(), HasSubstr(GetParam().words));
  EXPECT_TRUE(device_in(output, "cpu:0").is_object());
}

INSTANTIATE_TEST_SUITE_P(Reasons, CudaInitialisation, testing::ValuesIn(kFailures),
                         [](const auto& info) { return std::string(info.param.name); });

// No card is no failure: the plugin loads and a note says why it has none.
TEST(CudaLs, SaysWhyThereIsNoCard) {
  const std::pair<const char*, const char*> reasons[] = {
      {"CUDA_DOUBLE_DEVICES=0", "found no card"},
      {"CUDA_DOUBLE_INIT_ERROR=100", "found no card"},
      {"CUDA_VISIBLE_DEVICES=", "is set and empty"},
      {"CUDA_VISIBLE_DEVICES=7", "CUDA_VISIBLE_DEVICES=7 names no card"},
  };
  for (const auto& [environment, reason] : reasons) {
    const Output output = tool(environment, "backplane-ls --json");
    EXPECT_EQ(cuda_plugin_in(output).at("outcome"), "loaded") << environment;
    const json all = json::parse(output.text);
    std::vector<std::string> causes;  // of this plugin: others may have something to say too
    for (const json& note : all.at("notes"))
      if (note.at("plugin") == "cuda") causes.push_back(note.at("cause"));
    EXPECT_THAT(causes, testing::ElementsAre(HasSubstr(reason))) << environment;
  }
  EXPECT_THAT(tool("CUDA_VISIBLE_DEVICES=", "backplane-ls").text, HasSubstr("hides every card"));
}

TEST(CudaConform, RunsBothLayersOnACard) {
  const Output upper = tool("", "backplane-conform --device cuda:0 --verbose --filter copies");
  EXPECT_EQ(upper.code, 0) << upper.text;
  EXPECT_THAT(upper.text, HasSubstr("rule/"));
  const Output lower = tool("", "backplane-conform --device cuda:0 --verbose --filter memory/");
  EXPECT_EQ(lower.code, 0) << lower.text;
  EXPECT_THAT(lower.text, HasSubstr("abi/"));
}

void expect_digits_read_on(int cards) {
  const Output output = tool("CUDA_DOUBLE_DEVICES=" + std::to_string(cards), "backplane-digits");
  EXPECT_EQ(output.code, 0) << output.text;
  int read = 0;
  for (const std::string& line : output.lines())
    if (line.rfind("cuda:" + std::to_string(read), 0) == 0) {
      EXPECT_THAT(line, HasSubstr("355 of 360"));
      EXPECT_THAT(line, Not(HasSubstr("WRONG")));
      ++read;
    }
  EXPECT_EQ(read, cards) << output.text;
}

TEST(CudaDigits, AreReadOnOneCard) { expect_digits_read_on(1); }
#ifdef CUDA_LONG_TESTS
TEST(CudaDigits, AreReadOnEachOfTwoCards) { expect_digits_read_on(2); }
TEST(CudaDigits, AreReadOnEachOfFourCards) { expect_digits_read_on(4); }
#endif

}  // namespace
