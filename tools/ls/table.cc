// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <string_view>

#include "text.h"

namespace backplane::tools {
namespace {

constexpr size_t kNarrowest = 80, kWidest = 120, kUnasked = 100;
constexpr size_t kLeastElastic = 12;

struct Corners {
  const char *left, *middle, *right, *across, *down;
};
struct Box {
  Corners top, between, bottom;
};
constexpr Box kUnicodeBox = {{"┌", "┬", "┐", "─", "│"}, {"├", "┼", "┤", "─", "│"}, {"└", "┴", "┘", "─", "│"}};
constexpr Box kAsciiBox = {{"+", "+", "+", "-", "|"}, {"+", "+", "+", "-", "|"}, {"+", "+", "+", "-", "|"}};

const Box& box_of(const Page& page) { return page.unicode ? kUnicodeBox : kAsciiBox; }

std::string rule_text(const Corners& corners, const std::vector<size_t>& widths) {
  std::string text = corners.left;
  for (size_t i = 0; i < widths.size(); ++i) {
    for (size_t c = 0; c < widths[i] + 2; ++c) text += corners.across;
    text += i + 1 < widths.size() ? corners.middle : corners.right;
  }
  return text + "\n";
}

size_t terminal_width() {
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr)
    if (const long width = std::strtol(columns, nullptr, 10); width > 0) return static_cast<size_t>(width);
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kUnasked;
}

}  // namespace

Page standard_page() {
  std::setlocale(LC_CTYPE, "");
  const bool unicode = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
  return {std::clamp(terminal_width(), kNarrowest, kWidest), unicode};
}

std::vector<size_t> Table::widths(const Page& page) const {
  std::vector<size_t> widths(columns_.size());
  for (const Row& row : rows_)
    for (const Line& line : row)
      for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
  size_t total = 1, elastic = columns_.size();
  for (size_t i = 0; i < widths.size(); ++i) {
    total += widths[i] + 3;
    if (columns_[i].elastic) elastic = i;
  }
  if (elastic < widths.size() && total > page.width) {
    const size_t excess = total - page.width;
    widths[elastic] = std::max(kLeastElastic, widths[elastic] - std::min(widths[elastic], excess));
  }
  return widths;
}

std::string Table::line_text(const Line& line, const std::vector<size_t>& widths, const Page& page) const {
  const char* bar = box_of(page).top.down;
  std::string text = bar;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::string cell = cut(i < line.size() ? line[i] : "", widths[i], page.mark());
    const std::string space(widths[i] - width_of(cell), ' ');
    text += columns_[i].right_aligned ? " " + space + cell : " " + cell + space;
    text.append(" ").append(bar);
  }
  return text + "\n";
}

std::string Table::text(const Page& page) const {
  const std::vector<size_t> column_widths = widths(page);
  const Box& box = box_of(page);
  std::string text;
  for (size_t i = 0; i < rows_.size(); ++i) {
    text += rule_text(i == 0 ? box.top : box.between, column_widths);
    for (const Line& line : rows_[i]) text += line_text(line, column_widths, page);
  }
  return text + rule_text(box.bottom, column_widths);
}

}  // namespace backplane::tools
