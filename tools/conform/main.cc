// SPDX-License-Identifier: Apache-2.0
//
// backplane-conform: does this device do what every device must do?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "abi_layer.h"
#include "backplane/backplane.h"
#include "tally.h"
#include "tensor/suite.h"

namespace {

using namespace backplane;
using tools::AbiJob;
using tools::Outcome;
using tools::Tally;

struct Arguments {
  std::vector<std::string> devices;
  std::string cases;
  std::string filter;
  bool verbose = false;
  AbiJob child;  // of this program's own child processes
};

std::vector<Device> chosen_devices(const Arguments& arguments) {
  if (arguments.devices.empty()) return devices();
  std::vector<Device> chosen;
  for (const std::string& name : arguments.devices) chosen.emplace_back(name);
  return chosen;
}

void introduce(const Device& device) {
  const bool denormals = (device.properties().flags & plugin::kDenormals) != 0;
  fmt::print("{}: {}, plugin {} {}, float32 denormals {}\n", device.name(), device.properties().name,
             device.backend(), device.plugin_version(), denormals ? "kept" : "flushed to zero");
}

void add(Tally& tally, const conformance::tensors::Result& result) {
  tally.add(result.device, result.name, static_cast<Outcome>(result.outcome), result.message);
}

void run_case_files(const Arguments& arguments, const std::vector<Device>& devices, Tally& tally) {
  for (const Device& device : devices)
    for (const auto& file : conformance::tensors::case_files(arguments.cases))
      conformance::tensors::run_cases(file, device, [&](const conformance::tensors::Result& result) {
        if (result.name.find(arguments.filter) != std::string::npos) add(tally, result);
      });
}

void run_upper_layer(const Arguments& arguments, const std::vector<Device>& devices, Tally& tally) {
  for (const Device& device : devices)
    for (const conformance::tensors::Rule& rule : conformance::tensors::all_rules())
      if (std::string(rule.name).find(arguments.filter) != std::string::npos)
        add(tally, conformance::tensors::run(rule, device));
}

void run_lower_layer(const Arguments& arguments, const std::vector<Device>& devices, Tally& tally) {
  for (const FileReport& file : Runtime::get().report()) {
    if (file.outcome != LoadOutcome::Loaded) continue;
    AbiJob job{file.path.string(), file.name, {}, arguments.filter};
    for (const Device& device : devices)
      if (device.backend() == file.name) job.devices.push_back(std::to_string(device.index()));
    if (!job.devices.empty()) tools::run_abi_layer(job, tally);
  }
}

int run(const Arguments& arguments) {
  if (!arguments.child.plugin.empty()) {
    AbiJob job = arguments.child;
    job.filter = arguments.filter;
    return tools::run_abi_child(job);
  }
  const std::vector<Device> devices = chosen_devices(arguments);
  for (const Device& device : devices) introduce(device);
  std::fflush(stdout);
  Tally tally(arguments.verbose);
  if (arguments.cases.empty()) {
    run_lower_layer(arguments, devices, tally);
    run_upper_layer(arguments, devices, tally);
  } else {
    run_case_files(arguments, devices, tally);
  }
  fmt::print("{}\n", tally.summary());
  return tally.exit_code();
}

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--device", arguments.devices,
                 "A device to test, as in cpu:0; repeatable; all if none is named")
      ->type_name("NAME");
  app.add_option("--cases", arguments.cases,
                 "Run the case files (safetensors with \"cases\" in their metadata) of this folder, in place "
                 "of the suite")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  app.add_option("--filter", arguments.filter, "Only rules and cases with this in their name")
      ->type_name("TEXT");
  app.add_flag("--verbose", arguments.verbose, "Name what passes too");
  app.add_option("--abi-plugin", arguments.child.plugin)->group("");
  app.add_option("--abi-name", arguments.child.name)->group("");
  app.add_option("--abi-device", arguments.child.devices)->group("");
  app.footer(
      "The last line is \"N passed, M failed, K skipped\"; the exit code is 0 when something passed and "
      "nothing failed.");
}

}  // namespace

int main(int count, char** values) {
  CLI::App app("Runs Backplane's conformance suite: at the plugin boundary, and through tensors.");
  Arguments arguments;
  declare(app, arguments);
  CLI11_PARSE(app, count, values);
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "backplane-conform: {}\n", error.what());
    fmt::print("0 passed, 1 failed, 0 skipped\n");
    return 1;
  }
}
