// SPDX-License-Identifier: Apache-2.0
//
// backplane-bench: how fast the devices are, against the limits of the machine measured in the same run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>

#include "machine_limits.h"
#include "sweep.h"
#include "works.h"

namespace {

using namespace backplane;
using namespace backplane::bench;

constexpr DType kTypes[] = {boolean, int8,   int16,   int32,    int64,   uint8,  uint16,
                            uint32,  uint64, float16, bfloat16, float32, float64};

struct Arguments {
  std::vector<std::string> devices, families, types;
  std::vector<int64_t> sizes;
  bool quick = false;
  int rounds = 0;
  std::string from, json, picture, earlier;
};

void declare(CLI::App& app, Arguments& a) {
  std::vector<std::string> types;
  for (const DType type : kTypes) types.emplace_back(to_string(type));
  app.add_option("--device", a.devices, "A device, such as cpu:0; may be repeated (default: all)");
  app.add_flag("--quick", a.quick, "Few sizes, float32 alone unless --type says otherwise, short rounds");
  app.add_option("--family", a.families, "A family of operators; may be repeated (default: all)")
      ->check(CLI::IsMember(families()));
  app.add_option("--type", a.types, "An element type; may be repeated (default: all)")
      ->check(CLI::IsMember(types));
  app.add_option("--sizes", a.sizes, "Numbers of elements, with commas between them (default: 1 to 2^26)")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 32));
  app.add_option("--rounds", a.rounds, "Rounds, of which the median counts")->check(CLI::Range(1, 1000));
  app.add_option("--json", a.json, "Write the results into this file");
  app.add_option("--plot", a.picture,
                 "Draw bandwidth and roofline into this .svg or .png file, with gnuplot");
  app.add_option("--compare", a.earlier,
                 "Show what has changed since the run in this file, beyond the noise");
  app.add_option("--from", a.from, "Show the run in this file instead of measuring");
  app.footer("All rates are of one run. Times are medians; compare ratios, as machines are noisy.");
}

bool is_test_driver(const Device& device) {
  return std::strstr(device.properties().name, "test double") != nullptr;
}

// Throws for a device that is not there, and for the driver that the CUDA plugin is tested on.
std::vector<Device> chosen_devices(const Arguments& a, Results& results) {
  std::vector<Device> chosen;
  for (const std::string& name : a.devices) {
    const Device device(name);
    if (is_test_driver(device))
      throw std::runtime_error(fmt::format("{} is the driver for tests ({}): no benchmark runs on it", name,
                                           device.properties().name));
    chosen.push_back(device);
  }
  if (!chosen.empty()) return chosen;
  for (const Device& device : devices()) {
    if (is_test_driver(device))
      results.skipped.push_back(device.name() + ": the driver for tests; no benchmark runs on it");
    else
      chosen.push_back(device);
  }
  return chosen;
}

std::vector<int64_t> default_sizes(bool quick) {
  if (quick) return {16, 4096, int64_t{1} << 20};
  std::vector<int64_t> sizes;
  for (int log = 0; log <= 26; log += 2) sizes.push_back(int64_t{1} << log);
  return sizes;
}

Sweep sweep_of(const Arguments& a, Results& results) {
  Sweep sweep{chosen_devices(a, results), a.families, {}, a.sizes, {}};
  for (const DType type : kTypes)
    if (a.types.empty() ? !a.quick || type == float32
                        : std::find(a.types.begin(), a.types.end(), to_string(type)) != a.types.end())
      sweep.types.push_back(type);
  if (sweep.sizes.empty()) sweep.sizes = default_sizes(a.quick);
  std::sort(sweep.sizes.begin(), sweep.sizes.end());
  sweep.effort = a.quick ? Effort{3, 0.002} : Effort{9, 0.02};
  if (a.rounds != 0) sweep.effort.rounds = a.rounds;
  return sweep;
}

Results measure_all(const Arguments& a) {
  Results results;
  const Sweep sweep = sweep_of(a, results);
  results.limits = host_limits(int64_t{1} << (a.quick ? 22 : 24), sweep.effort);
  const bool opencl = std::any_of(sweep.devices.begin(), sweep.devices.end(),
                                  [](const Device& device) { return device.backend() == "opencl"; });
  if (opencl)
    for (Limit& limit : opencl_limits(sweep.effort)) results.limits.push_back(std::move(limit));
  run(sweep, results);
  return results;
}

void work(const Arguments& a) {
  // Read first, so that a wrong name does not cost a run.
  Results earlier;
  if (!a.earlier.empty()) earlier = read_json(a.earlier);
  const Results results = a.from.empty() ? measure_all(a) : read_json(a.from);
  fmt::print("{}", table_text(results));
  if (!a.earlier.empty()) fmt::print("{}", comparison_text(earlier, results));
  if (!a.json.empty()) write_json(results, a.json);
  if (!a.picture.empty()) draw(results, a.picture);
}

}  // namespace

int main(int count, char** values) {
  CLI::App app("Measures the operators of Backplane's devices against the limits of the machine.");
  Arguments arguments;
  declare(app, arguments);
  CLI11_PARSE(app, count, values);
  try {
    work(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "backplane-bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
