// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite's lower layer: loads a plugin straight, without the runtime, and checks what it does
// at the boundary against expected values computed here, in double precision, by the plainest loops that can
// be written. Needs no test framework, so that tools can run it too.
#ifndef BACKPLANE_TESTS_CONFORMANCE_ABI_ABI_H_
#define BACKPLANE_TESTS_CONFORMANCE_ABI_ABI_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace backplane::conformance {

class Context;

// One behaviour that every device must show. `name` reads "reduce/sum of float32".
struct Case {
  std::string name;
  std::function<void(Context&)> body;  // returns, or throws Failure or Skip
  int64_t work = 0;                    // roughly how many elements or products it computes
};

enum class Outcome { Passed, Failed, Skipped };

struct Result {
  std::string device;  // "cpu:0"
  std::string name;
  Outcome outcome;
  std::string message;  // why it failed or was skipped
};

// What a backend is known to lack. `pattern` is a case's name in which '*' stands for anything.
struct Lack {
  std::string pattern;
  std::string reason;
};

struct Options {
  std::string plugin_path;
  std::vector<uint32_t> devices;                // indices; all if empty
  std::map<std::string, std::string> settings;  // what HostInfo::option answers
  uint32_t thread_count = 0;
  std::string filter = "*";       // patterns separated by ':', as in Lack
  int64_t most_work = INT64_MAX;  // leaves larger cases out: for devices that are interpreted or checked
  // With `strict`, a case that skips itself without standing in `lacks` has failed, and so has one that
  // stands there and passes.
  bool strict = false;
  std::vector<Lack> lacks;
  std::function<void(const Result&)> report;  // called after each case
};

struct Totals {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
};

// Every case, in a fixed order.
std::vector<Case> all_cases();

// Whether `name` fits one of the ':'-separated patterns.
bool matches(const std::string& patterns, const std::string& name);

// A loaded plugin and its opened devices. Not thread-safe. A process makes one of them for a plugin: a
// backend is created once.
class Suite {
 public:
  // Throws std::runtime_error if the plugin cannot be loaded or has no such device.
  explicit Suite(Options options);
  ~Suite();
  Suite(const Suite&) = delete;
  Suite& operator=(const Suite&) = delete;

  // "cpu:0", those of Options::devices.
  const std::vector<std::string>& devices() const;
  // Runs one case on device `which` of devices(), and reports it.
  Result run(size_t which, const Case& each);

 private:
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
};

// Runs the cases that Options::filter lets through on the devices. Throws as Suite does.
Totals run(const Options& options);

}  // namespace backplane::conformance

#endif  // BACKPLANE_TESTS_CONFORMANCE_ABI_ABI_H_
