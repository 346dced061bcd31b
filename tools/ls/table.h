// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_TOOLS_LS_TABLE_H_
#define BACKPLANE_TOOLS_LS_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace backplane::tools {

// What the output is written on.
struct Page {
  size_t width = 100;    // columns
  bool unicode = false;  // whether box-drawing characters show
  // What stands for text that was cut off.
  const char* mark() const { return unicode ? "\xE2\x80\xA6" : "..."; }
};

// The page that standard output is: the terminal's width, within 80 and 120; UTF-8 where the locale says so.
Page standard_page();

// A table whose rows may have several lines. One column takes the width that the others leave, and its text
// is cut where it does not fit.
class Table {
 public:
  struct Column {
    bool right_aligned = false;
    bool elastic = false;
  };
  using Line = std::vector<std::string>;
  using Row = std::vector<Line>;

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(Row row) { rows_.push_back(std::move(row)); }  // the first is the head
  std::string text(const Page& page) const;

 private:
  std::vector<size_t> widths(const Page& page) const;
  std::string line_text(const Line& line, const std::vector<size_t>& widths, const Page& page) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace backplane::tools

#endif  // BACKPLANE_TOOLS_LS_TABLE_H_
