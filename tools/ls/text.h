// SPDX-License-Identifier: Apache-2.0
//
// Text for people: quantities with units, "n/a" for what is not known, cut and padded by what a terminal
// shows.
#ifndef BACKPLANE_TOOLS_LS_TEXT_H_
#define BACKPLANE_TOOLS_LS_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "table.h"

namespace backplane::tools {

inline constexpr const char* kUnknown = "n/a";

std::string bytes_text(std::optional<uint64_t> bytes);                               // "3.1 GiB"
std::string part_text(std::optional<uint64_t> used, std::optional<uint64_t> total);  // "3.1 / 15.6 GiB"
std::string percent_text(std::optional<double> fraction);                            // "12 %"
std::string celsius_text(std::optional<double> celsius);                             // "45 C"
std::string power_text(std::optional<double> watts, std::optional<double> limit);    // "55 / 300 W"

std::string rate_text(double bytes_per_second);  // "12.3 GB/s"
std::string time_text(double seconds);           // "4.1 us"

// Columns that UTF-8 text takes, every character counted as one.
size_t width_of(std::string_view text);

// Control characters as spaces, runs of spaces as one.
std::string one_line(std::string_view text);

// At most `width` columns; what is cut off is marked by `mark`.
std::string cut(std::string_view text, size_t width, std::string_view mark);

// Lines of at most `width` columns, broken at spaces where there are any.
std::vector<std::string> wrap(std::string_view text, size_t width);

// The page's width of such lines, each indented.
std::string paragraph(const std::string& text, size_t indent, const Page& page);

}  // namespace backplane::tools

#endif  // BACKPLANE_TOOLS_LS_TEXT_H_
