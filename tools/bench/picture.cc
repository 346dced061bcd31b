// SPDX-License-Identifier: Apache-2.0
//
// The picture: left, GB/s over sizes for each work that moves data; right, the roofline of the machine with
// each work's best point.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "machine_limits.h"
#include "results.h"

namespace backplane::bench {
namespace {

// Curves are by device, type and work.
using Curves = std::map<std::string, std::vector<const Row*>>;

Curves curves_of(const Results& results) {
  Curves curves;
  for (const Row& row : results.rows)
    curves[fmt::format("{} {} {}", row.device, row.type, row.name)].push_back(&row);
  return curves;
}

double value_of(const Results& results, const char* name) {
  const Limit* limit = results.limit(name);
  return limit == nullptr ? 0 : limit->value;
}

std::string points(const std::vector<const Row*>& rows) {
  std::string text;
  for (const Row* row : rows) text += fmt::format("{} {}\n", row->size, row->bandwidth());
  return text + "e\n";
}

std::string bandwidth_panel(const Results& results, const Curves& curves) {
  std::string plots, data;
  for (const auto& [name, rows] : curves) {
    if (rows.front()->by_operations()) continue;
    plots += fmt::format("'-' using 1:2 with linespoints title \"{}\", ", name);
    data += points(rows);
  }
  return fmt::format(
      "set title 'bandwidth'\nset xlabel 'elements'\nset ylabel 'GB/s'\nset logscale x 2\nset logscale y\n"
      "set format x '2^{{%L}}'\nset key outside below noenhanced\nplot {}{} with lines dashtype 2 title "
      "'{}'\n{}",
      plots, std::max(value_of(results, kTriad), 1e-3), kTriad, data);
}

std::string roofline_panel(const Results& results, const Curves& curves) {
  const double peak = std::max(value_of(results, kPeak), 1e-3),
               triad = std::max(value_of(results, kTriad), 1e-3);
  std::string plots, data;
  for (const auto& [name, rows] : curves) {
    const auto slower = [](const Row* a, const Row* b) { return a->speed() < b->speed(); };
    const Row& best = **std::max_element(rows.begin(), rows.end(), slower);
    if (best.operations == 0) continue;
    plots += fmt::format(", '-' using 1:2 with points pointtype 7 title \"{}\"", name);
    data += fmt::format("{} {}\ne\n", best.operations / best.bytes, best.speed());
  }
  return fmt::format(
      "set title 'roofline'\nset xlabel 'operations a byte'\nset ylabel '1e9 operations a second'\n"
      "unset logscale\nset logscale xy\nset format x '%g'\nset xrange [0.01:1000]\n"
      "plot ({1} * x < {0} ? {1} * x : {0}) with lines dashtype 2 title 'limit'{2}\n{3}",
      peak, triad, plots, data);
}

std::string terminal_for(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension();
  if (extension == ".svg") return "svg size 1600,1000 dynamic background 'white'";
  if (extension == ".png") return "png size 1600,1000";
  throw std::runtime_error(fmt::format("{}: a picture's name ends in .svg or .png", path));
}

}  // namespace

void draw(const Results& results, const std::string& path) {
  const std::string terminal = terminal_for(path);
  if (results.rows.empty()) throw std::runtime_error(fmt::format("{}: there is nothing to draw", path));
  if (std::system("command -v gnuplot >/dev/null 2>&1") != 0)
    throw std::runtime_error("no picture: gnuplot is not installed (Debian: gnuplot-nox)");
  const Curves curves = curves_of(results);
  const std::string script = fmt::format(
      "set terminal {}\nset output \"{}\"\nset grid\nset multiplot layout 1,2\n{}{}unset multiplot\n",
      terminal, path, bandwidth_panel(results, curves), roofline_panel(results, curves));
  std::FILE* gnuplot = popen("gnuplot", "w");
  if (gnuplot == nullptr) throw std::runtime_error("no picture: gnuplot did not start");
  std::fwrite(script.data(), 1, script.size(), gnuplot);
  if (pclose(gnuplot) != 0)
    throw std::runtime_error(fmt::format("no picture: gnuplot could not draw {}", path));
}

}  // namespace backplane::bench
