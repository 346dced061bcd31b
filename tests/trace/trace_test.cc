// SPDX-License-Identifier: Apache-2.0
//
// Traces of a known program, as a reader of the format sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "../tools/program.h"

namespace {

using nlohmann::json;
using testing::HasSubstr;
using Row = std::pair<int, int>;

constexpr uint64_t kBytes = 64 * 64 * sizeof(float);

class Traced : public testing::Test {
 protected:
  // Runs the program; the trace, or a failed test.
  json trace(const std::string& arguments, const std::string& environment = "") {
    output_ = run(environment + " BACKPLANE_TRACE=" + file_.string() +
                  " BACKPLANE_CPU_DEVICES=2 " TRACE_PROGRAM + " " + arguments);
    EXPECT_EQ(output_.code, 0);
    return read(file_);
  }

  static json read(const std::filesystem::path& file) {
    std::ifstream stream(file);
    const json all = json::parse(stream, nullptr, false);
    EXPECT_FALSE(all.is_discarded()) << "not valid JSON";
    return all.is_object() ? all.at("traceEvents") : json::array();
  }

  static std::vector<json> with(const json& events, const std::string& key, const json& value) {
    std::vector<json> found;
    for (const json& event : events)
      if (event.contains(key) && event.at(key) == value) found.push_back(event);
    return found;
  }

  // The process that stands for a device; 0 if there is none.
  static int process_of(const json& events, const std::string& device) {
    for (const json& event : with(events, "name", "process_name"))
      if (event.at("args").at("name").get<std::string>().rfind(device + " ", 0) == 0) return event.at("pid");
    return 0;
  }

  void check_program(const std::string& device, const json& events) const;

  TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "trace.json";
  Output output_;
};

// What the format requires of every event, and that every row is named.
void check_form(const json& events) {
  std::set<int> processes;
  std::set<Row> rows;
  for (const json& event : events) {
    EXPECT_THAT(event.at("ph").get<std::string>(), testing::AnyOf("M", "C", "X")) << event;
    EXPECT_TRUE(event.at("pid").is_number_unsigned()) << event;
    if (event.at("ph") != "M") continue;
    EXPECT_THAT(event.at("name").get<std::string>(), testing::AnyOf("process_name", "thread_name"));
    EXPECT_FALSE(event.at("args").at("name").get<std::string>().empty());
    if (event.at("name") == "process_name") processes.insert(event.at("pid").get<int>());
    if (event.at("name") == "thread_name")
      rows.insert({event.at("pid").get<int>(), event.at("tid").get<int>()});
  }
  for (const json& event : events) {
    if (event.at("ph") == "M") continue;
    EXPECT_TRUE(processes.count(event.at("pid").get<int>()) == 1) << event;
    EXPECT_TRUE(event.at("ts").is_number() && event.at("ts").get<double>() >= 0) << event;
    EXPECT_TRUE(event.at("name").is_string() && event.at("args").is_object()) << event;
    if (event.at("ph") == "C") {
      EXPECT_FALSE(event.at("args").empty()) << event;
      for (const json& value : event.at("args")) EXPECT_TRUE(value.is_number()) << event;
    }
    if (event.at("ph") != "X") continue;
    EXPECT_TRUE(event.at("cat").is_string() && event.at("tid").is_number_unsigned()) << event;
    EXPECT_GE(event.at("dur").get<double>(), 0) << event;
    EXPECT_TRUE(rows.count({event.at("pid").get<int>(), event.at("tid").get<int>()}) == 1) << event;
  }
}

// A viewer draws slices of one row inside or after each other.
void check_rows(const json& events) {
  std::map<Row, std::vector<std::pair<double, double>>> rows;
  for (const json& event : events)
    if (event.at("ph") == "X")
      rows[{event.at("pid").get<int>(), event.at("tid").get<int>()}].emplace_back(
          event.at("ts").get<double>(), event.at("ts").get<double>() + event.at("dur").get<double>());
  for (auto& [row, slices] : rows)
    for (const auto& a : slices)
      for (const auto& b : slices) {
        const bool crossing =
            a.first < b.first - 0.0005 && b.first < a.second - 0.0005 && a.second < b.second - 0.0005;
        EXPECT_FALSE(crossing) << "row " << row.first << "/" << row.second << ": " << a.first << " to "
                               << a.second << " and " << b.first << " to " << b.second;
      }
}

void Traced::check_program(const std::string& device, const json& events) const {
  check_form(events);
  check_rows(events);
  const int process = process_of(events, device);
  ASSERT_NE(process, 0) << device << " has no name in the trace";

  const std::vector<json> adds = with(events, "name", "add");
  std::vector<json> kernels;
  for (const json& event : adds)
    if (event.at("cat") == "kernel") kernels.push_back(event);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].at("pid"), process);
  EXPECT_EQ(kernels[0].at("args").at("operator"), "add");
  EXPECT_EQ(kernels[0].at("args").at("shape"), json::array({64 * 64}));
  EXPECT_EQ(kernels[0].at("args").at("operands"), 3);
  EXPECT_EQ(kernels[0].at("args").at("bytes"), 2 * kBytes) << "the sum, and one tensor used twice";

  std::vector<json> copies;
  for (const json& event : with(events, "cat", "copy"))
    if (event.at("args").at("from") == device && event.at("args").at("to") == "cpu:1" &&
        event.at("args").at("bytes") == kBytes)
      copies.push_back(event);
  ASSERT_FALSE(copies.empty()) << "no copy to cpu:1";
  EXPECT_EQ(copies.back().at("args").at("route"), output_.last_line());

  bool allocated = false, used = false;
  for (const json& event : with(events, "name", "allocate"))
    allocated = allocated || (event.at("pid") == process && event.at("args").at("bytes") == kBytes);
  for (const json& event : with(events, "ph", "C"))
    used = used || (event.at("pid") == process && event.at("args").at("in use").get<uint64_t>() >= kBytes);
  EXPECT_TRUE(allocated && used);
}

TEST_F(Traced, AProgramOnTheCpuShowsItsKernelsCopiesAndAllocations) {
  check_program("cpu:0", trace("cpu:0 shutdown"));
}

TEST_F(Traced, ReturningFromMainCompletesTheFile) { check_program("cpu:0", trace("cpu:0 return")); }

TEST_F(Traced, ExitCompletesTheFile) { check_program("cpu:0", trace("cpu:0 exit")); }

TEST_F(Traced, AProgramOnOpenClShowsItsKernelsCopiesAndAllocations) {
  for (const char* ending : {"shutdown", "exit"}) {
    const Output devices = run("BACKPLANE_CPU_DEVICES=2 " TRACE_PROGRAM " opencl:0 2>/dev/null");
    if (devices.code != 0) GTEST_SKIP() << "there is no OpenCL device here";
    check_program("opencl:0", trace(std::string("opencl:0 ") + ending));
  }
}

#ifdef TRACE_CUDA_DRIVER
TEST_F(Traced, AProgramOnTheCudaDriverForTestsShowsItsKernelsCopiesAndAllocations) {
  const std::string environment = "LD_LIBRARY_PATH=" TRACE_CUDA_DRIVER
                                  ":$LD_LIBRARY_PATH BACKPLANE_CUDA_CUBLAS=0 BACKPLANE_CUDA_NVRTC=0 "
                                  "CUDA_DOUBLE_DELAY_US=200";
  for (const char* ending : {"shutdown", "exit"})
    check_program("cuda:0", trace(std::string("cuda:0 ") + ending, environment));
}
#endif

TEST_F(Traced, SeveralThreadsHaveRowsOfTheirOwn) {
  const json events = trace("cpu:0 threads");
  check_form(events);
  check_rows(events);
  std::map<int, int> adds;
  for (const json& event : with(events, "name", "add"))
    if (event.at("cat") == "kernel") ++adds[event.at("tid").get<int>()];
  EXPECT_EQ(adds.size(), 5u) << "main's and four more";
  EXPECT_EQ(std::count_if(adds.begin(), adds.end(), [](const auto& row) { return row.second == 10; }), 4);
}

TEST_F(Traced, TheChildOfAForkWritesNothing) {
  const json events = trace("cpu:0 fork");
  check_program("cpu:0", events);
}

TEST_F(Traced, AnOptionBeatsTheEnvironmentAndTheProcessIdMayBePartOfTheName) {
  const std::filesystem::path pattern = folder_.path() / "by_option_%p.json";
  run("BACKPLANE_TRACE=" + file_.string() + " BACKPLANE_CPU_DEVICES=2 " TRACE_PROGRAM " cpu:0 return " +
      pattern.string());
  EXPECT_FALSE(std::filesystem::exists(file_));
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    names.push_back(entry.path().filename());
  ASSERT_EQ(names.size(), 1u);
  EXPECT_THAT(names[0], testing::MatchesRegex("by_option_[0-9]+.json"));
  EXPECT_FALSE(read(folder_.path() / names[0]).empty());
}

TEST_F(Traced, APathThatCannotBeWrittenIsAWarningAndTheProgramGoesOn) {
  for (const std::string path :
       {folder_.path() / "none" / "trace.json", folder_.path(), std::filesystem::path("/dev/null")}) {
    const Output output =
        run("BACKPLANE_TRACE=" + path + " BACKPLANE_CPU_DEVICES=2 " TRACE_PROGRAM " cpu:0 2>&1");
    EXPECT_EQ(output.code, 0);
    EXPECT_THAT(output.text, HasSubstr("no trace is written: " + path));
  }
}

TEST_F(Traced, AFullDiskEndsTheTraceWithAWarningAndLeavesItWhole) {
  const Output output =
      run("BACKPLANE_TRACE=" + file_.string() + " BACKPLANE_CPU_DEVICES=2 " TRACE_PROGRAM " cpu:0 full 2>&1");
  EXPECT_EQ(output.code, 0);
  EXPECT_THAT(output.text, HasSubstr("trace could not be written"));
  EXPECT_LE(std::filesystem::file_size(file_), 64u << 10);
  check_form(read(file_));
}

TEST_F(Traced, WithoutAFileNothingIsWritten) {
  const Output output = run("BACKPLANE_TRACE= BACKPLANE_CPU_DEVICES=2 " TRACE_PROGRAM " cpu:0");
  EXPECT_EQ(output.code, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
