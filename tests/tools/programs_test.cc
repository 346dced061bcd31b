// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "program.h"

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::MatchesRegex;

const fs::path kBin = BACKPLANE_BIN;
const fs::path kGolden = BACKPLANE_GOLDEN;

Output conform(const std::string& arguments, const std::string& environment = "") {
  return run(environment + " " + (kBin / "backplane-conform").string() + " " + arguments + " 2>&1");
}

// One case file: x + y = want (all float32 of two elements), under an operator's name.
void write_case(const fs::path& file, const std::string& op, float want) {
  const float data[] = {1, 2, 10, 20, want, 22};
  const std::string cases = R"([{\"name\":\"one\",\"op\":\")" + op +
                            R"(\",\"in\":[\"x\",\"y\"],\"attrs\":{},\"out\":[\"z\"],\"rtol\":0,\"atol\":0}])";
  const std::string header =
      R"({"__metadata__":{"cases":")" + cases +
      R"("},)"
      R"("x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"y":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
      R"("z":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}})";
  const uint64_t length = header.size();
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(&length), 8);
  stream << header;
  stream.write(reinterpret_cast<const char*>(data), sizeof data);
}

TEST(Conform, CaseFilesPassOnADevice) {
  const Output output = conform("--device cpu:0 --cases " + kGolden.string() + " --filter movement");
  EXPECT_EQ(output.code, 0) << output.text;
  EXPECT_THAT(output.last_line(), MatchesRegex("[0-9]+ passed, 0 failed, [0-9]+ skipped"));
}

TEST(Conform, SeveralDevicesRunEveryCase) {
  TemporaryFolder folder;
  write_case(folder.path() / "a.safetensors", "add", 11);
  const Output output =
      conform("--device cpu:0 --device cpu:1 --cases " + folder.path().string(), "BACKPLANE_CPU_DEVICES=2");
  EXPECT_EQ(output.code, 0);
  EXPECT_EQ(output.last_line(), "2 passed, 0 failed, 0 skipped");
}

TEST(Conform, AWrongResultFails) {
  TemporaryFolder folder;
  write_case(folder.path() / "a.safetensors", "add", 11.000001f);
  const Output output = conform("--device cpu:0 --cases " + folder.path().string());
  EXPECT_NE(output.code, 0);
  EXPECT_EQ(output.last_line(), "0 passed, 1 failed, 0 skipped");
  EXPECT_THAT(output.text, HasSubstr("a/one"));
}

TEST(Conform, AnUnknownOperatorIsNamedAsSkippedAndNothingPassedIsAFailure) {
  TemporaryFolder folder;
  write_case(folder.path() / "a.safetensors", "frobnicate", 11);
  const Output output = conform("--device cpu:0 --cases " + folder.path().string());
  EXPECT_NE(output.code, 0);
  EXPECT_EQ(output.last_line(), "0 passed, 0 failed, 1 skipped");
  EXPECT_THAT(output.text, HasSubstr("frobnicate"));
}

TEST(Conform, ABrokenCaseFileFails) {
  TemporaryFolder folder;
  std::ofstream(folder.path() / "a.safetensors") << "not one";
  const Output output = conform("--device cpu:0 --cases " + folder.path().string());
  EXPECT_NE(output.code, 0);
  EXPECT_EQ(output.last_line(), "0 passed, 1 failed, 0 skipped");
}

TEST(Conform, ADeviceThatIsNotThereFailsAndSaysWhatIs) {
  const Output output = conform("--device cpu:99");
  EXPECT_NE(output.code, 0);
  EXPECT_THAT(output.text, HasSubstr("cpu:0"));
  EXPECT_THAT(output.last_line(), MatchesRegex("[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped"));
}

TEST(Conform, BothLayersRun) {
  const Output output = conform("--device cpu:0 --verbose --filter copies");
  EXPECT_EQ(output.code, 0) << output.text;
  EXPECT_THAT(output.text, HasSubstr("rule/"));
  const Output lower = conform("--device cpu:0 --verbose --filter elementwise");
  EXPECT_EQ(lower.code, 0) << lower.text;
  EXPECT_THAT(lower.text, HasSubstr("abi/"));
}

TEST(Digits, TheNetworkReadsThemOnEveryDevice) {
  const Output output = run((kBin / "backplane-digits").string());
  EXPECT_EQ(output.code, 0) << output.text;
  EXPECT_THAT(output.text, HasSubstr("cpu:0"));
  for (const std::string& line : output.lines())
    if (line.rfind("Device", 0) != 0) {
      EXPECT_THAT(line, HasSubstr("355 of 360"));
    }
}

TEST(Digits, AFolderWithoutTheDataIsAnError) {
  TemporaryFolder folder;
  EXPECT_NE(run((kBin / "backplane-digits").string() + " " + folder.path().string()).code, 0);
}

TEST(Digits, HelpIsGivenAndAnOptionThatItDoesNotKnowIsNoFolder) {
  const Output help = run((kBin / "backplane-digits").string() + " --help");
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.text, HasSubstr("Usage: backplane-digits [DATA-FOLDER]"));
  const Output unknown = run((kBin / "backplane-digits").string() + " --frobnicate 2>&1");
  EXPECT_NE(unknown.code, 0);
  EXPECT_THAT(unknown.text, HasSubstr("Usage"));
}

}  // namespace
