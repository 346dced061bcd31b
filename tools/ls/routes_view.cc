// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "text.h"
#include "views.h"

namespace backplane::tools {
namespace {

std::string way(const RouteEntry& route) { return route.kind ? to_string(*route.kind) : kUnknown; }

Table::Row cells(const std::string& source, const std::vector<const RouteEntry*>& routes) {
  Table::Row row = {{source}};
  for (const RouteEntry* route : routes) row[0].push_back(way(*route));
  if (std::none_of(routes.begin(), routes.end(), [](const RouteEntry* r) { return r->large || r->small; }))
    return row;
  Table::Line large = {""}, small = {""};
  for (const RouteEntry* route : routes) {
    large.push_back(route->large ? rate_text(route->large->bytes_per_second()) : kUnknown);
    small.push_back(route->small ? time_text(route->small->seconds) : kUnknown);
  }
  row.push_back(large);
  row.push_back(small);
  return row;
}

// Names in the order of their first mention.
std::vector<std::string> sources(const std::vector<RouteEntry>& routes) {
  std::vector<std::string> names;
  for (const RouteEntry& route : routes)
    if (names.empty() || names.back() != route.source) names.push_back(route.source);
  return names;
}

// The columns of destinations [begin, end).
std::string part_of_matrix(const std::vector<RouteEntry>& routes, const std::vector<std::string>& names,
                           size_t begin, size_t end, const Page& page) {
  Table table(std::vector<Table::Column>(end - begin + 1));
  Table::Line head = {"from \\ to"};
  head.insert(head.end(), names.begin() + static_cast<ptrdiff_t>(begin),
              names.begin() + static_cast<ptrdiff_t>(end));
  table.add({head});
  for (size_t i = 0; i < names.size(); ++i) {
    std::vector<const RouteEntry*> row;
    for (size_t k = begin; k < end; ++k) row.push_back(&routes[i * names.size() + k]);
    table.add(cells(names[i], row));
  }
  return table.text(page);
}

// Each reason once, with the pairs that it holds for.
std::string reasons_text(const std::vector<RouteEntry>& routes, const Page& page) {
  std::vector<std::pair<std::string, std::string>> reasons;  // and their pairs
  for (const RouteEntry& route : routes) {
    if (route.source == route.destination && route.kind) continue;
    const std::string reason = way(route) + ": " + one_line(route.reason);
    const std::string pair = route.source + " to " + route.destination;
    const auto known = std::find_if(reasons.begin(), reasons.end(),
                                    [&](const auto& entry) { return entry.first == reason; });
    if (known == reasons.end())
      reasons.emplace_back(reason, pair);
    else
      known->second += ", " + pair;
  }
  std::string text;
  for (const auto& [reason, pairs] : reasons) {
    text += paragraph(reason, 2, page);
    text += paragraph(pairs, 4, page);
  }
  return text.empty() ? "" : "\nWhy:\n" + text;
}

}  // namespace

std::string routes_text(const Snapshot& snapshot, const Page& page) {
  const std::vector<RouteEntry>& routes = snapshot.routes;
  const std::vector<std::string> names = sources(routes);
  if (names.empty()) return "No device, so there are no routes.\n";
  size_t widest = width_of("same device");
  for (const std::string& name : names) widest = std::max(widest, width_of(name));
  const size_t columns = std::max<size_t>(1, (page.width - 1) / (widest + 3) - 1);
  std::string text;
  for (size_t begin = 0; begin < names.size(); begin += columns)
    text += part_of_matrix(routes, names, begin, std::min(begin + columns, names.size()), page);
  const auto measured =
      std::find_if(routes.begin(), routes.end(), [](const RouteEntry& r) { return r.large; });
  if (measured != routes.end())
    text += fmt::format("Second line: copies of {}. Third line: one copy of {}, start to end.\n",
                        bytes_text(measured->large->bytes), bytes_text(measured->small->bytes));
  return text + reasons_text(routes, page);
}

}  // namespace backplane::tools
