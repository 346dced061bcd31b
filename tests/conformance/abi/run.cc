// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <utility>

#include "cases.h"
#include "context.h"

namespace backplane::conformance {
namespace {

bool matches_one(const char* pattern, const char* name) {
  if (*pattern == '\0') return *name == '\0';
  if (*pattern != '*') return *pattern == *name && matches_one(pattern + 1, name + 1);
  do {
    if (matches_one(pattern + 1, name)) return true;
  } while (*name++ != '\0');
  return false;
}

const Lack* find_lack(const Options& options, const std::string& name) {
  for (const Lack& lack : options.lacks) {
    if (matches_one(lack.pattern.c_str(), name.c_str())) return &lack;
  }
  return nullptr;
}

Result run_case(const Case& each, Context& context, const std::string& device) {
  Result result{device, each.name, Outcome::Passed, ""};
  try {
    each.body(context);
  } catch (const Skip& reason) {
    result.outcome = Outcome::Skipped;
    result.message = reason.what();
  } catch (const std::exception& error) {
    result.outcome = Outcome::Failed;
    result.message = error.what();
  }
  return result;
}

// What the list of things lacking makes of a result.
void apply_lack(const Options& options, Result& result) {
  const Lack* const lack = find_lack(options, result.name);
  if (lack != nullptr) {
    if (result.outcome == Outcome::Passed && options.strict) {
      result.outcome = Outcome::Failed;
      result.message = "passes, though it is listed as lacking: " + lack->reason;
    } else if (result.outcome != Outcome::Passed) {
      result.outcome = Outcome::Skipped;
      result.message = lack->reason;
    }
  } else if (result.outcome == Outcome::Skipped && options.strict) {
    result.outcome = Outcome::Failed;
    result.message = "skipped, and not listed as lacking: " + result.message;
  }
}

}  // namespace

bool matches(const std::string& patterns, const std::string& name) {
  size_t begin = 0;
  while (begin <= patterns.size()) {
    const size_t end = std::min(patterns.find(':', begin), patterns.size());
    if (matches_one(patterns.substr(begin, end - begin).c_str(), name.c_str())) return true;
    begin = end + 1;
  }
  return false;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto add : kCaseFiles) add(cases);
  return cases;
}

struct Suite::Loaded {
  explicit Loaded(Options given) : options(std::move(given)), plugin(options) {}

  Options options;
  LoadedPlugin plugin;
  std::vector<std::string> names;
  std::vector<std::unique_ptr<Context>> contexts;
};

Suite::Suite(Options options) : loaded_(std::make_unique<Loaded>(std::move(options))) {
  LoadedPlugin& plugin = loaded_->plugin;
  std::vector<uint32_t> devices = loaded_->options.devices;
  for (uint32_t i = 0; loaded_->options.devices.empty() && i < plugin.backend().device_count(); ++i) {
    devices.push_back(i);
  }
  if (devices.empty()) throw std::runtime_error("the plugin has no device");
  for (const uint32_t index : devices) {
    loaded_->names.push_back(std::string(plugin.description().name) + ":" + std::to_string(index));
    loaded_->contexts.push_back(std::make_unique<Context>(plugin.backend(), index));
  }
}

Suite::~Suite() = default;

const std::vector<std::string>& Suite::devices() const { return loaded_->names; }

Result Suite::run(size_t which, const Case& each) {
  Result result = run_case(each, *loaded_->contexts[which], loaded_->names[which]);
  apply_lack(loaded_->options, result);
  if (loaded_->options.report) loaded_->options.report(result);
  return result;
}

Totals run(const Options& options) {
  Suite suite(options);
  Totals totals;
  int* const counts[] = {&totals.passed, &totals.failed, &totals.skipped};
  for (size_t device = 0; device < suite.devices().size(); ++device) {
    for (const Case& each : all_cases()) {
      if (!matches(options.filter, each.name) || each.work > options.most_work) continue;
      ++*counts[static_cast<size_t>(suite.run(device, each).outcome)];
    }
  }
  return totals;
}

}  // namespace backplane::conformance
