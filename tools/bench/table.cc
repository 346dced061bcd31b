// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "ls/table.h"
#include "ls/text.h"
#include "machine_limits.h"
#include "results.h"

namespace backplane::bench {
namespace {

using tools::Table;

constexpr size_t kMostColumns = 6;

// As many of the sizes as a screen has room for, evenly chosen, first and last among them.
std::vector<int64_t> columns_of(const std::vector<const Row*>& rows) {
  std::set<int64_t> sizes;
  for (const Row* row : rows) sizes.insert(row->size);
  const std::vector<int64_t> all(sizes.begin(), sizes.end());
  if (all.size() <= kMostColumns) return all;
  std::vector<int64_t> chosen;
  for (size_t i = 0; i < kMostColumns; ++i) chosen.push_back(all[i * (all.size() - 1) / (kMostColumns - 1)]);
  return chosen;
}

// The best of a work's sizes, with its share of what the machine can do where that is known.
std::string best_rate(const Results& results, const std::vector<const Row*>& rows) {
  const bool operations = rows.front()->by_operations();
  double best = 0;
  for (const Row* row : rows) best = std::max(best, operations ? row->speed() : row->bandwidth());
  std::string text = fmt::format("{:.3g} {}", best, operations ? "Gop/s" : "GB/s");
  const Limit* limit = results.limit(operations ? kPeak : kTriad);
  const Row& any = *rows.front();
  const bool comparable = any.device.starts_with("cpu:") && (!operations || any.type == "float32");
  if (limit != nullptr && comparable) text += fmt::format(", {:.0f} %", 100 * best / limit->value);
  return text;
}

// The rows of one work, which stand together.
std::vector<const Row*> work_from(const std::vector<const Row*>& rows, size_t first) {
  size_t end = first;
  while (end < rows.size() && rows[end]->name == rows[first]->name) ++end;
  return {rows.begin() + static_cast<long>(first), rows.begin() + static_cast<long>(end)};
}

std::string section(const Results& results, const std::vector<const Row*>& rows) {
  const std::vector<int64_t> sizes = columns_of(rows);
  Table::Line head{rows.front()->device + ", " + rows.front()->type};
  std::vector<Table::Column> columns{{.elastic = true}};
  for (const int64_t size : sizes) {
    head.push_back(readable_size(size));
    columns.push_back({.right_aligned = true});
  }
  head.emplace_back("best, of the limit");
  columns.emplace_back();
  Table::Row body;
  for (size_t i = 0; i < rows.size();) {
    const std::vector<const Row*> work = work_from(rows, i);
    i += work.size();
    Table::Line line{fmt::format("{}: {}", work.front()->family, work.front()->name)};
    for (const int64_t size : sizes) {
      const auto at =
          std::find_if(work.begin(), work.end(), [&](const Row* row) { return row->size == size; });
      line.push_back(at == work.end() ? "" : tools::time_text((*at)->time.seconds));
    }
    line.push_back(best_rate(results, work));
    body.push_back(std::move(line));
  }
  Table table(std::move(columns));
  table.add({std::move(head)});
  table.add(std::move(body));
  return fmt::format("\n{}", table.text(tools::standard_page()));
}

}  // namespace

const Limit* Results::limit(const std::string& name) const {
  const auto found =
      std::find_if(limits.begin(), limits.end(), [&](const Limit& l) { return l.name == name; });
  return found == limits.end() ? nullptr : &*found;
}

std::string readable_size(int64_t size) {
  if (size < 1024 || !std::has_single_bit(static_cast<uint64_t>(size))) return std::to_string(size);
  return fmt::format("2^{}", std::bit_width(static_cast<uint64_t>(size)) - 1);
}

std::string table_text(const Results& results) {
  std::string text;
  for (const Limit& limit : results.limits)
    text += fmt::format("{:<30}{:>11.4g} {}\n", limit.name, limit.value, limit.unit);
  std::vector<const Row*> rows;
  for (size_t i = 0; i < results.rows.size(); ++i) {
    const Row& row = results.rows[i];
    if (!rows.empty() && (row.device != rows.front()->device || row.type != rows.front()->type)) {
      text += section(results, rows);
      rows.clear();
    }
    rows.push_back(&row);
  }
  if (!rows.empty()) text += section(results, rows);
  if (!results.skipped.empty()) text += "\nnot run:\n";
  for (const std::string& reason : results.skipped) text += fmt::format("  {}\n", reason);
  return text;
}

}  // namespace backplane::bench
