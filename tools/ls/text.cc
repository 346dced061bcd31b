// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <fmt/format.h>

#include <algorithm>

namespace backplane::tools {
namespace {

struct Unit {
  double size;
  const char* name;
};
constexpr Unit kUnits[] = {{1024.0 * 1024 * 1024 * 1024, "TiB"},
                           {1024.0 * 1024 * 1024, "GiB"},
                           {1024.0 * 1024, "MiB"},
                           {1024.0, "KiB"},
                           {1.0, "B"}};

const Unit& unit_for(uint64_t bytes) {
  for (const Unit& unit : kUnits)
    if (static_cast<double>(bytes) >= unit.size) return unit;
  return kUnits[4];
}

std::string in_unit(uint64_t bytes, const Unit& unit) {
  const double value = static_cast<double>(bytes) / unit.size;
  return value >= 100 || unit.size == 1 ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

// In the first unit that is not larger, else the last.
std::string scaled(double value, std::initializer_list<Unit> units) {
  const Unit* unit = units.begin();
  while (unit + 1 != units.end() && value < unit->size) ++unit;
  const double number = value / unit->size;
  return fmt::format("{:.{}f} {}", number, number >= 100 ? 0 : 1, unit->name);
}

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

std::string bytes_text(std::optional<uint64_t> bytes) {
  if (!bytes) return kUnknown;
  const Unit& unit = unit_for(*bytes);
  return in_unit(*bytes, unit) + " " + unit.name;
}

std::string part_text(std::optional<uint64_t> used, std::optional<uint64_t> total) {
  if (!used && !total) return kUnknown;
  if (!total) return bytes_text(used);
  const Unit& unit = unit_for(*total);
  return fmt::format("{} / {} {}", used ? in_unit(*used, unit) : kUnknown, in_unit(*total, unit), unit.name);
}

std::string percent_text(std::optional<double> fraction) {
  return fraction ? fmt::format("{:.0f} %", *fraction * 100) : kUnknown;
}

std::string celsius_text(std::optional<double> celsius) {
  return celsius ? fmt::format("{:.0f} C", *celsius) : kUnknown;
}

std::string power_text(std::optional<double> watts, std::optional<double> limit) {
  if (!watts && !limit) return kUnknown;
  const std::string used = watts ? fmt::format("{:.0f}", *watts) : kUnknown;
  return limit ? fmt::format("{} / {:.0f} W", used, *limit) : used + " W";
}

std::string rate_text(double bytes_per_second) {
  return scaled(bytes_per_second, {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}});
}

std::string time_text(double seconds) {
  return scaled(seconds, {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}});
}

size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string one_line(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const char shown = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    if (shown != ' ' || (!result.empty() && result.back() != ' ')) result += shown;
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

std::string cut(std::string_view text, size_t width, std::string_view mark) {
  if (width_of(text) <= width) return std::string(text);
  const size_t kept = width - std::min(width, width_of(mark));
  size_t end = 0, shown = 0;
  while (end < text.size() && (shown < kept || !starts_character(text[end]))) {
    if (starts_character(text[end])) ++shown;
    ++end;
  }
  return std::string(text.substr(0, end)) + std::string(mark);
}

std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  const std::string flat = one_line(text);
  for (size_t begin = 0; begin < flat.size();) {
    const size_t end = std::min(flat.find(' ', begin), flat.size());
    std::string word = flat.substr(begin, end - begin);
    begin = end + 1;
    if (!line.empty() && width_of(line) + 1 + width_of(word) > width) {
      lines.push_back(line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string paragraph(const std::string& text, size_t indent, const Page& page) {
  std::string result;
  for (const std::string& line : wrap(text, page.width - indent))
    result += std::string(indent, ' ') + line + "\n";
  return result;
}

}  // namespace backplane::tools
