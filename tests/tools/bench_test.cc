// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "program.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

Output bench(const std::string& arguments) {
  return run((fs::path(BACKPLANE_BIN) / "backplane-bench").string() + " " + arguments + " 2>&1");
}

// One short run that the tests share.
class Bench : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    test_folder = new TemporaryFolder;
    test_output =
        new Output(bench("--device cpu:0 --quick --family reduce --family scan --type float32 --type int8 "
                         "--sizes 16,1000 --json " +
                         file()));
  }
  static void TearDownTestSuite() {
    delete test_output;
    delete test_folder;
  }
  static std::string file() { return (test_folder->path() / "run.json").string(); }
  static json data() { return json::parse(std::ifstream(file())); }

  static inline TemporaryFolder* test_folder = nullptr;
  static inline Output* test_output = nullptr;
};

TEST_F(Bench, TheTableNamesTheLimitsAndEveryWork) {
  ASSERT_EQ(test_output->code, 0) << test_output->text;
  for (const char* text : {"streaming triad", "multiply-add peak", "cpu:0, float32", "cpu:0, int8",
                           "reduce: sum", "scan: cumulative_sum"})
    EXPECT_THAT(test_output->text, HasSubstr(text));
}

TEST_F(Bench, TheDataHasARowForEveryWorkTypeAndSize) {
  std::set<std::string> types, families;
  std::set<int64_t> sizes;
  const json all = data();
  for (const json& row : all.at("rows")) {
    EXPECT_GT(row.at("seconds").get<double>(), 0);
    EXPECT_GE(row.at("noise").get<double>(), 0);
    types.insert(row.at("type"));
    families.insert(row.at("family"));
    sizes.insert(row.at("size").get<int64_t>());
  }
  EXPECT_EQ(types, (std::set<std::string>{"float32", "int8"}));
  EXPECT_EQ(families, (std::set<std::string>{"reduce", "scan"}));
  EXPECT_EQ(sizes, (std::set<int64_t>{16, 1000}));
  EXPECT_GE(all.at("limits").size(), 5u);
}

TEST_F(Bench, ARunComparedWithItselfShowsNothing) {
  const Output output = bench("--from " + file() + " --compare " + file());
  EXPECT_EQ(output.code, 0);
  EXPECT_THAT(output.text, HasSubstr("nothing beyond the noise"));
}

TEST_F(Bench, AWorkThatTookTwiceAsLongIsFoundAndNothingElse) {
  json slower = data();
  slower.at("rows").at(0).at("seconds") = 2 * slower.at("rows").at(0).at("seconds").get<double>();
  slower.at("rows").at(0).at("noise") = 0.01;
  json before = data();
  before.at("rows").at(0).at("noise") = 0.01;
  const std::string old_file = (test_folder->path() / "before.json").string();
  const std::string new_file = (test_folder->path() / "slower.json").string();
  std::ofstream(old_file) << before;
  std::ofstream(new_file) << slower;
  const Output output = bench("--from " + new_file + " --compare " + old_file);
  EXPECT_THAT(output.text, HasSubstr("2.00 times slower"));
  EXPECT_THAT(output.text, testing::Not(HasSubstr("times faster")));
  // The least noise that is believed is 3 %: log(2) is 23.1 times that.
  EXPECT_THAT(output.text, HasSubstr("23.1 times the noise"));
}

TEST_F(Bench, ThePictureIsAnSvgOrItsLackIsExplained) {
  const std::string picture = (test_folder->path() / "run.svg").string();
  const Output output = bench("--from " + file() + " --plot " + picture);
  if (std::system("command -v gnuplot >/dev/null 2>&1") != 0) {
    EXPECT_NE(output.code, 0);
    EXPECT_THAT(output.text, HasSubstr("gnuplot is not installed"));
    return;
  }
  EXPECT_EQ(output.code, 0) << output.text;
  std::ifstream stream(picture);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_THAT(text, HasSubstr("<svg"));
  EXPECT_THAT(text, HasSubstr("roofline"));
  EXPECT_THAT(text, HasSubstr("cpu:0 float32 sum"));
}

TEST(BenchDevices, TheDriverForTestsIsRefused) {
  const std::string folder = BACKPLANE_DOUBLE_FOLDER;
  if (folder.empty()) GTEST_SKIP() << "built without the CUDA plugin's driver for tests";
  const Output output =
      run("LD_LIBRARY_PATH=" + folder + " " + (fs::path(BACKPLANE_BIN) / "backplane-bench").string() +
          " --quick --device cuda:0 2>&1");
  EXPECT_NE(output.code, 0);
  EXPECT_THAT(output.text, HasSubstr("no benchmark runs on it"));
}

struct Wrong {
  const char* arguments;
  const char* complaint;
};

class WrongArguments : public testing::TestWithParam<Wrong> {};

TEST_P(WrongArguments, AreRefusedWithTheReason) {
  const Output output = bench(GetParam().arguments);
  EXPECT_NE(output.code, 0);
  EXPECT_THAT(output.text, HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(Bench, WrongArguments,
                         testing::Values(Wrong{"--device toaster:0", "toaster"},
                                         Wrong{"--family toast", "toast"}, Wrong{"--type float12", "float12"},
                                         Wrong{"--sizes 0", "sizes"}, Wrong{"--sizes 1,x", "sizes"},
                                         Wrong{"--from /nowhere/run.json", "cannot read /nowhere/run.json"},
                                         Wrong{"--quick --compare /nowhere/run.json",
                                               "cannot read /nowhere/run.json"},
                                         Wrong{"--bogus", "bogus"}));

TEST(BenchFiles, AFileOfSomethingElseIsRefused) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "other.json").string();
  std::ofstream(file) << "{\"rows\": 1}";
  const Output output = bench("--from " + file);
  EXPECT_NE(output.code, 0);
  EXPECT_THAT(output.text, HasSubstr("not a result of backplane-bench"));
}

}  // namespace
