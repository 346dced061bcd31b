// SPDX-License-Identifier: Apache-2.0
// The sort family: stable, either way, NaN last; values and positions; binary search.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "cases.h"
#include "launch.h"

namespace backplane::conformance {
namespace {

using plugin::SortOp;

struct Layout {
  const char* what;
  int64_t rows;
  int64_t length;
  bool strided;  // along a row, which then lies across
};

constexpr Layout kLayouts[] = {
    {"one value", 1, 1, false},          {"a short row", 1, 17, false},    {"rows", 40, 100, false},
    {"longer rows", 3, 3000, false},     {"a long row", 1, 100003, false}, {"columns", 21, 300, true},
    {"two long columns", 2, 70001, true}};

// Many equal values; floating ones with both zeros, infinities and NaN of both signs.
Values inputs_for(DType type, int64_t count) {
  Numbers numbers(static_cast<uint64_t>(count) + static_cast<uint64_t>(type));
  Values values(type, count);
  for (int64_t i = 0; i < count; ++i) {
    if (!is_floating(type)) {
      // Half of them from the whole range.
      values.set_integer(i, type == DType::Bool          ? numbers.integer(0, 1)
                            : numbers.integer(0, 1) == 0 ? numbers.integer(0, 50)
                                                         : static_cast<int64_t>(numbers.bits()));
      continue;
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    const double special[] = {0.0, -0.0, infinity, -infinity, nan, -nan};
    const int64_t which = numbers.integer(0, 30);
    values.set(i, which < 6 ? special[which] : numbers.uniform(-100, 100));
  }
  return values;
}

// Whether element i must come before element j, which differs from it.
bool before(const Values& values, int64_t i, int64_t j, bool descending) {
  if (!is_floating(values.type())) {
    const int64_t a = values.get_integer(i);
    const int64_t b = values.get_integer(j);
    if (values.type() == DType::UInt64) {
      return descending ? static_cast<uint64_t>(a) > static_cast<uint64_t>(b)
                        : static_cast<uint64_t>(a) < static_cast<uint64_t>(b);
    }
    return descending ? a > b : a < b;
  }
  const double a = values.get(i);
  const double b = values.get(j);
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
  return descending ? a > b : a < b;
}

bool same_rank(const Values& values, int64_t i, int64_t j) {
  if (!is_floating(values.type())) return values.get_integer(i) == values.get_integer(j);
  const double a = values.get(i);
  const double b = values.get(j);
  return a == b || (std::isnan(a) && std::isnan(b));
}

void sort(Context& context, DType type, const Layout& layout, uint8_t flags) {
  const int64_t count = layout.rows * layout.length;
  const Values input = inputs_for(type, count);
  const int64_t row_stride = layout.strided ? 1 : layout.length;
  const int64_t along = layout.strided ? layout.rows : 1;
  Values sorted(type, count);
  Values positions(DType::Int64, count);
  const bool descending = (flags & plugin::kSortDescending) != 0;
  std::vector<int64_t> order(static_cast<size_t>(layout.length));
  for (int64_t row = 0; row < layout.rows; ++row) {
    const int64_t base = row * row_stride;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      return !same_rank(input, base + i * along, base + j * along) &&
             before(input, base + i * along, base + j * along, descending);
    });
    for (int64_t i = 0; i < layout.length; ++i) {
      const int64_t from = order[static_cast<size_t>(i)];
      const size_t size = plugin::size_of(type);
      std::memcpy(sorted.bytes().data() + static_cast<size_t>(base + i * along) * size,
                  input.bytes().data() + static_cast<size_t>(base + from * along) * size, size);
      positions.set_integer(base + i * along, from);
    }
  }
  plugin::KernelDesc desc = make_desc(plugin::Family::Sort, static_cast<uint8_t>(SortOp::Sort));
  desc.types[0] = type;
  desc.flags = flags;
  const auto kernel = context.create_kernel(desc);
  const auto in = context.upload(input);
  const auto out_values = context.allocate(sorted.byte_size());
  const auto out_positions = context.allocate(positions.byte_size());
  Launch launch({layout.rows, layout.length});
  const Dims strides = {row_stride, along};
  if ((flags & plugin::kSortValues) != 0) launch.operand(*out_values, type, strides);
  if ((flags & plugin::kSortIndices) != 0) launch.operand(*out_positions, DType::Int64, strides);
  launch.operand(*in, type, strides);
  launch.run(context, *kernel);
  if ((flags & plugin::kSortIndices) != 0) {
    require_same(context.download(*out_positions, DType::Int64, count), positions, "positions");
  }
  if ((flags & plugin::kSortValues) == 0) return;
  const Values result = context.download(*out_values, type, count);
  for (int64_t i = 0; i < count; ++i) {
    // Which NaN it is does not matter; which zero does.
    const bool nan = is_floating(type) && std::isnan(sorted.get(i));
    const bool same = nan ? std::isnan(result.get(i)) : result.get_integer(i) == sorted.get_integer(i);
    if (!same) fail("value %lld is %g, expected %g", static_cast<long long>(i), result.get(i), sorted.get(i));
  }
}

void search(Context& context, DType type, int64_t size, bool right) {
  Values haystack = inputs_for(type, size);
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return !same_rank(haystack, i, j) && before(haystack, i, j, false);
  });
  const int64_t count = 500;
  const Values needles = inputs_for(type, count);
  // Haystack, then needles, in one array, so that they compare alike.
  const size_t width = plugin::size_of(type);
  Values all(type, size + count);
  for (int64_t i = 0; i < size; ++i) {
    std::memcpy(all.bytes().data() + static_cast<size_t>(i) * width,
                haystack.bytes().data() + static_cast<size_t>(order[static_cast<size_t>(i)]) * width, width);
  }
  std::copy(needles.bytes().begin(), needles.bytes().end(),
            all.bytes().begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(size) * width));
  std::copy_n(all.bytes().begin(), haystack.bytes().size(), haystack.bytes().begin());
  Values expected(DType::Int64, count);
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = 0;
    while (position < size) {
      const bool equal = same_rank(all, position, size + i);
      if (equal ? !right : !before(all, position, size + i, false)) break;
      ++position;
    }
    expected.set_integer(i, position);
  }
  plugin::KernelDesc desc = make_desc(plugin::Family::Sort, static_cast<uint8_t>(SortOp::Search));
  desc.types[0] = DType::Int64;
  desc.types[1] = desc.types[2] = type;
  desc.flags = right ? plugin::kSearchRight : 0;
  const auto kernel = context.create_kernel(desc);
  const auto in_needles = context.upload(needles);
  const auto in_haystack = context.upload(haystack);
  const auto out = context.allocate(expected.byte_size());
  Launch launch({count});
  launch.operand(*out, DType::Int64, {1}).operand(*in_needles, type, {1}).operand(*in_haystack, type, {0});
  launch.axis(size, 1);
  launch.run(context, *kernel);
  require_same(context.download(*out, DType::Int64, count), expected, "positions");
}

}  // namespace

void add_sort_cases(std::vector<Case>& cases) {
  for (const DType type : kAllTypes) {
    for (const Layout& layout : kLayouts) {
      for (const uint8_t wanted :
           {plugin::kSortValues | plugin::kSortIndices, +plugin::kSortValues, +plugin::kSortIndices}) {
        // Long rows once are enough.
        if (layout.length > 10000 && wanted != (plugin::kSortValues | plugin::kSortIndices)) continue;
        for (const bool descending : {false, true}) {
          const auto flags = static_cast<uint8_t>(wanted | (descending ? plugin::kSortDescending : 0));
          const std::string what = wanted == plugin::kSortValues    ? "values"
                                   : wanted == plugin::kSortIndices ? "positions"
                                                                    : "values and positions";
          cases.push_back({"sort/" + what + " of " + name_of(type) + " along " + layout.what +
                               (descending ? ", greatest first" : ""),
                           [=](Context& context) { sort(context, type, layout, flags); },
                           layout.rows * layout.length});
        }
      }
    }
    for (const int64_t size : {0, 1, 100}) {
      for (const bool right : {false, true}) {
        cases.push_back({"sort/search for " + name_of(type) + " among " + std::to_string(size) +
                             (right ? ", right" : ", left"),
                         [=](Context& context) { search(context, type, size, right); }});
      }
    }
  }
}

}  // namespace backplane::conformance
