// SPDX-License-Identifier: Apache-2.0
//
// backplane-ls: what is here, and why something is not.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "progress.h"
#include "routes.h"
#include "views.h"

namespace {

using namespace backplane;
using namespace backplane::tools;

struct Arguments {
  bool plugins = false;
  bool routes = false;
  bool bandwidth = false;
  bool json = false;
  bool verbose = false;
  double interval = 0;  // seconds; 0 shows once
  int count = 0;        // of times with --watch; 0 goes on
};

std::string text_of(const Snapshot& snapshot, const Arguments& arguments, const Page& page) {
  if (arguments.json) return json_text(snapshot);
  if (arguments.plugins) return plugins_text(snapshot, page);
  return arguments.routes ? routes_text(snapshot, page) : devices_text(snapshot, page);
}

void show_once(const Arguments& arguments, const Page& page) {
  Snapshot snapshot = take_snapshot();
  if (arguments.routes || arguments.json) snapshot.routes = find_routes();
  if (arguments.bandwidth) measure(snapshot.routes, draw_progress);
  const std::string text = text_of(snapshot, arguments, page);
  // Cleared only now, so that the screen does not flicker while devices are asked.
  if (arguments.interval > 0 && !arguments.json && ::isatty(STDOUT_FILENO) != 0) fmt::print("\x1b[H\x1b[2J");
  fmt::print("{}", text);
  std::fflush(stdout);
}

void show(const Arguments& arguments) {
  const Page page = standard_page();
  for (int shown = 1;; ++shown) {
    show_once(arguments, page);
    if (arguments.interval <= 0 || shown == arguments.count || std::ferror(stdout) != 0) return;
    std::this_thread::sleep_for(std::chrono::duration<double>(arguments.interval));
  }
}

void declare(CLI::App& app, Arguments& arguments) {
  app.add_flag("--plugins", arguments.plugins, "Every file looked at, loaded or not, and why");
  app.add_flag("--routes", arguments.routes, "How copies get from each device to each, and why that way");
  app.add_flag("--bandwidth", arguments.bandwidth, "Measure every route too, large copies and small ones");
  app.add_flag("--json", arguments.json, "The same as data; what is not known is null");
  app.add_flag("--verbose", arguments.verbose, "Let the runtime's messages through, to standard error");
  app.add_option("--watch", arguments.interval, "Show again every so many seconds (2 if no number follows)")
      ->type_name("[SECONDS]")
      ->expected(0, 1)
      ->default_str("2")
      ->check(CLI::Range(0.05, 86400.0));
  app.add_option("--count", arguments.count, "With --watch: stop after so many times")->type_name("N");
  app.footer("\"n/a\" is what the driver does not say.");
}

void configure(const Arguments& arguments) {
  RuntimeOptions options;
  // What the messages say stands in the report too.
  if (!arguments.verbose) options.log = [](LogLevel, std::string_view) {};
  Runtime::configure(std::move(options));
}

}  // namespace

int main(int count, char** values) {
  CLI::App app("Lists the devices that Backplane can use here, what they are doing, and what does not work.");
  Arguments arguments;
  declare(app, arguments);
  CLI11_PARSE(app, count, values);
  arguments.routes = arguments.routes || arguments.bandwidth;
  try {
    configure(arguments);
    show(arguments);
  } catch (const std::exception& error) {
    // A broken machine is an answer, not a failure of this program.
    if (arguments.json)
      fmt::print(
          "{{\"devices\": [], \"plugins\": [], \"routes\": [], \"problem\": \"the runtime did not "
          "start\"}}\n");
    fmt::print(stderr, "backplane-ls: {}\n", error.what());
  }
  return 0;
}
