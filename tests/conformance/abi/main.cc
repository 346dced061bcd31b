// SPDX-License-Identifier: Apache-2.0
// backplane_conformance_abi_test --plugin FILE [--name NAME] [--device INDEX]... [--set KEY=VALUE]...
// [--threads N]
//                                [--lenient] [--most-work N] [--gtest_filter=...]
// `--name` chooses the list of what the backend lacks; the file's own name without ".so" if not given. With
// --lenient a case that skips itself need not be on that list.
#include <gtest/gtest.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "lacks.h"

namespace {

using namespace backplane::conformance;

Options parse(int count, char** values) {
  Options options;
  options.strict = true;
  std::string name;
  for (int i = 1; i < count; ++i) {
    const std::string key = values[i];
    if (key == "--lenient") {
      options.strict = false;
      continue;
    }
    if (i + 1 == count) throw std::runtime_error(key + ": unknown, or its value is missing");
    const std::string value = values[++i];
    if (key == "--plugin") {
      options.plugin_path = value;
    } else if (key == "--name") {
      name = value;
    } else if (key == "--device") {
      options.devices.push_back(static_cast<uint32_t>(std::stoul(value)));
    } else if (key == "--set") {
      const size_t equals = value.find('=');
      options.settings[value.substr(0, equals)] = equals == std::string::npos ? "" : value.substr(equals + 1);
    } else if (key == "--most-work") {
      options.most_work = std::stoll(value);
    } else if (key == "--threads") {
      options.thread_count = static_cast<uint32_t>(std::stoul(value));
    } else {
      throw std::runtime_error(key + ": unknown");
    }
  }
  if (name.empty()) name = std::filesystem::path(options.plugin_path).stem().string();
  options.lacks = known_lacks(name);
  return options;
}

class OneCase : public testing::Test {
 public:
  OneCase(Suite& suite, size_t device, const Case& each) : suite_(suite), device_(device), case_(each) {}

  void TestBody() override {
    const Result result = suite_.run(device_, case_);
    if (result.outcome == Outcome::Failed) FAIL() << result.message;
    if (result.outcome == Outcome::Skipped) GTEST_SKIP() << result.message;
  }

 private:
  Suite& suite_;
  const size_t device_;
  const Case case_;
};

}  // namespace

int main(int count, char** values) {
  testing::InitGoogleTest(&count, values);
  try {
    const Options options = parse(count, values);
    const int64_t most_work = options.most_work;
    Suite suite(options);
    for (size_t device = 0; device < suite.devices().size(); ++device) {
      for (const Case& each : all_cases()) {
        if (each.work > most_work) continue;
        testing::RegisterTest(
            suite.devices()[device].c_str(), each.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
            [&suite, device, each]() -> OneCase* { return new OneCase(suite, device, each); });
      }
    }
    return RUN_ALL_TESTS();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
