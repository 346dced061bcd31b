// SPDX-License-Identifier: Apache-2.0
#include "exercise.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>

namespace exercise {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

void print_table(const Chart& chart) {
  size_t width = 8;
  for (const auto& row : chart.rows) width = std::max(width, row.name.size());
  fmt::print("{}\n\n{:<{}}", chart.title, "", width);
  for (const auto& name : chart.series) fmt::print("  {:>16}", name);
  fmt::print("\n");
  for (const auto& row : chart.rows) {
    fmt::print("{:<{}}", row.name, width);
    for (double value : row.values) fmt::print("  {:>13.4g} {}", value, chart.unit);
    fmt::print("\n");
  }
}

std::string script(const Chart& chart, const std::string& file) {
  const bool svg = file.size() >= 4 && file.compare(file.size() - 4, 4, ".svg") == 0;
  std::string text = fmt::format(
      "set terminal {}\nset output {}\nset title {}\nset ylabel {}\nset logscale y\nset grid ytics\nset key "
      "outside\n"
      "set style data histograms\nset style histogram clustered\nset style fill solid 0.8\nset boxwidth "
      "0.9\n$data << END\n",
      svg ? "svg size 800,500 background '#ffffff'" : "pngcairo size 800,500", quoted(file),
      quoted(chart.title), quoted(chart.unit));
  for (const auto& row : chart.rows) {
    text += quoted(row.name);
    for (double value : row.values) text += fmt::format(" {}", value);
    text += "\n";
  }
  text += "END\nplot ";
  for (size_t i = 0; i < chart.series.size(); ++i)
    text +=
        fmt::format("{}$data using {}:xtic(1) title {}", i == 0 ? "" : ", ", i + 2, quoted(chart.series[i]));
  return text + "\n";
}

}  // namespace

Options parse(int argc, char** argv, const std::string& description) {
  Options options;
  CLI::App app(description);
  app.add_option("--picture", options.picture, "Draw the table into this .svg or .png file, with gnuplot");
  app.add_option("--rounds", options.rounds, "Measurements, of which the median counts")
      ->check(CLI::Range(1, 1000));
  app.add_option("--scale", options.scale, "Halve the sizes this often")->check(CLI::Range(0, 6));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

double seconds(int rounds, const std::function<void()>& work) {
  work();
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<size_t>(rounds / 2)];
}

bool show(const Chart& chart, const Options& options) {
  print_table(chart);
  if (options.picture.empty()) return true;
  std::FILE* gnuplot = popen("gnuplot", "w");
  if (gnuplot == nullptr) return false;
  const std::string text = script(chart, options.picture);
  std::fwrite(text.data(), 1, text.size(), gnuplot);
  if (pclose(gnuplot) != 0) {
    fmt::print(stderr, "no picture: gnuplot failed or is not installed (Debian: gnuplot-nox)\n");
    return false;
  }
  fmt::print("\ndrawn: {}\n", options.picture);
  return true;
}

}  // namespace exercise
