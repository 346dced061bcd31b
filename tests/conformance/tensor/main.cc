// SPDX-License-Identifier: Apache-2.0
// backplane_conformance_tensor_test --cases DIR [--device NAME]... [--gtest_filter=...]
// One GoogleTest case a rule and a case file, on each device; exit code 77 where a named device is not there.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tensor/lacks.h"
#include "tensor/suite.h"

namespace {

using namespace backplane;
using namespace backplane::conformance::tensors;

bool is_known_lack(const Device& device, const Result& result) {
  for (const Lack& lack : known_lacks())
    if (lack.plugin == device.backend() && result.message.find(lack.in_message) != std::string::npos)
      return true;
  return false;
}

// Fails the running test for a result that is no pass, nor a skip with a good reason.
void judge(const Device& device, const Result& result) {
  if (result.outcome == Outcome::Failed) ADD_FAILURE() << result.name << ": " << result.message;
  if (result.unimplemented && !is_known_lack(device, result))
    ADD_FAILURE() << result.name << ": unimplemented, and not listed as lacking: " << result.message;
}

class RuleTest : public testing::Test {
 public:
  RuleTest(const Rule& rule, const Device& device) : rule_(rule), device_(device) {}
  void TestBody() override {
    const Result result = run(rule_, device_);
    judge(device_, result);
    if (result.outcome == Outcome::Skipped && !HasFailure()) GTEST_SKIP() << result.message;
  }

 private:
  Rule rule_;
  Device device_;
};

class CaseFileTest : public testing::Test {
 public:
  CaseFileTest(const std::filesystem::path& file, const Device& device) : file_(file), device_(device) {}
  void TestBody() override {
    int passed = 0, skipped = 0;
    run_cases(file_, device_, [&](const Result& result) {
      judge(device_, result);
      passed += result.outcome == Outcome::Passed ? 1 : 0;
      skipped += result.outcome == Outcome::Skipped ? 1 : 0;
    });
    if (passed == 0 && skipped > 0 && !HasFailure()) GTEST_SKIP() << "every case was skipped";
    EXPECT_GT(passed, 0) << "nothing passed";
    std::printf("%d passed, %d skipped\n", passed, skipped);
  }

 private:
  std::filesystem::path file_;
  Device device_;
};

template <typename Test, typename What>
void register_test(const std::string& suite, const std::string& name, const What& what,
                   const Device& device) {
  testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [what, device]() -> testing::Test* { return new Test(what, device); });
}

void register_device(const Device& device, const std::filesystem::path& cases) {
  for (const Rule& rule : all_rules()) register_test<RuleTest>(device.name(), rule.name, rule, device);
  for (const auto& file : case_files(cases))
    register_test<CaseFileTest>(device.name(), "golden/" + file.stem().string(), file, device);
}

}  // namespace

int main(int count, char** values) {
  testing::InitGoogleTest(&count, values);
  std::filesystem::path cases;
  std::vector<std::string> names;
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::string(values[i]) == "--cases") cases = values[i + 1];
    if (std::string(values[i]) == "--device") names.emplace_back(values[i + 1]);
  }
  try {
    if (names.empty())
      for (const Device& device : devices()) names.push_back(device.name());
    for (const std::string& name : names) register_device(Device(name), cases);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.code() == ErrorCode::NotFound ? 77 : 2;
  }
  return RUN_ALL_TESTS();
}
