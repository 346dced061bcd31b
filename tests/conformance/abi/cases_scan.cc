// SPDX-License-Identifier: Apache-2.0
// The scan family: running sums, products and extremes, either way, inclusive and exclusive.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cases.h"
#include "launch.h"

namespace backplane::conformance {
namespace {

using plugin::ScanOp;

constexpr const char* kNames[] = {"sum", "prod", "max", "min"};

struct Layout {
  const char* what;
  Dims shape;
  Dims output_strides;
  Dims input_strides;
};

std::vector<Layout> layouts() {
  return {
      {"one value", {1}, {1}, {1}},
      {"one row", {700}, {1}, {1}},
      {"a long row", {70003}, {1}, {1}},
      {"two long rows, strided", {2, 40000}, {1, 2}, {1, 2}},
      {"rows", {33, 65}, {65, 1}, {65, 1}},
      {"columns", {130, 40}, {1, 130}, {1, 130}},
      {"columns to rows", {40, 50}, {50, 1}, {1, 40}},
      {"the middle of three", {4, 19, 23}, {437, 1, 19}, {437, 1, 19}},
  };
}

int64_t extent(const Dims& shape, const Dims& strides) {
  int64_t count = 1;
  for (size_t d = 0; d < shape.size(); ++d) count += strides[d] * (shape[d] - 1);
  return count;
}

int64_t offset_of(const Dims& shape, const Dims& strides, int64_t index) {
  int64_t offset = 0;
  for (size_t d = shape.size(); d-- > 0;) {
    offset += index % shape[d] * strides[d];
    index /= shape[d];
  }
  return offset;
}

// Sums and products of these are exact in every type, wrapped or not.
Values inputs_for(ScanOp op, DType type, int64_t count) {
  Numbers numbers(5);
  Values values(type, count);
  for (int64_t i = 0; i < count; ++i) {
    const bool sign = is_floating(type) || is_signed(type);
    double value = static_cast<double>(numbers.integer(sign ? -1 : 0, 1));
    if (op == ScanOp::Prod) value = numbers.integer(0, 9) == 0 && sign ? -1 : 1;
    if (op == ScanOp::Max || op == ScanOp::Min) value = static_cast<double>(numbers.integer(0, 100));
    values.set(i, value);
  }
  return values;
}

double identity(ScanOp op, DType type) {
  if (op == ScanOp::Sum) return 0;
  if (op == ScanOp::Prod) return 1;
  const double infinity = std::numeric_limits<double>::infinity();
  if (is_floating(type)) return op == ScanOp::Max ? -infinity : infinity;
  const int bits = static_cast<int>(plugin::size_of(type)) * 8 - (is_signed(type) ? 1 : 0);
  if (op == ScanOp::Max) return is_signed(type) ? -std::ldexp(1.0, bits) : 0;
  return std::ldexp(1.0, bits) - 1;
}

double combine(ScanOp op, double a, double b) {
  switch (op) {
    case ScanOp::Sum:
      return a + b;
    case ScanOp::Prod:
      return a * b;
    case ScanOp::Max:
      return std::max(a, b);
    default:
      return std::min(a, b);
  }
}

plugin::KernelDesc scan_desc(ScanOp op, DType input, DType compute, DType result, uint8_t flags) {
  plugin::KernelDesc desc = make_desc(plugin::Family::Scan, static_cast<uint8_t>(op));
  desc.types[0] = result;
  desc.types[1] = input;
  desc.compute_type = compute;
  desc.flags = flags;
  return desc;
}

void scan_layout(Context& context, ScanOp op, DType type, const Layout& layout, uint8_t flags) {
  const bool half = type == DType::Float16 || type == DType::BFloat16;
  const Values input = inputs_for(op, type, extent(layout.shape, layout.input_strides));
  Values expected = some_values(type, extent(layout.shape, layout.output_strides), 6);
  const auto in = context.upload(input);
  const auto out = context.upload(expected);
  const int64_t length = layout.shape.back();
  for (int64_t row = 0; row < product(layout.shape); row += length) {
    double sum = identity(op, type);
    for (int64_t i = 0; i < length; ++i) {
      const int64_t point = row + ((flags & plugin::kScanReverse) != 0 ? length - 1 - i : i);
      const double next = combine(op, sum, input.get(offset_of(layout.shape, layout.input_strides, point)));
      const int64_t at = offset_of(layout.shape, layout.output_strides, point);
      const double value = (flags & plugin::kScanExclusive) != 0 ? sum : next;
      if (is_floating(type)) {
        expected.set(at, value);
      } else if (value == 0x1p63 || value == 0x1p64 - 1) {
        // What double makes of the greatest 64-bit integers.
        expected.set_integer(at, is_signed(type) ? std::numeric_limits<int64_t>::max() : -1);
      } else {
        expected.set_integer(at, static_cast<int64_t>(value));
      }
      sum = next;
    }
  }
  const auto kernel = context.create_kernel(scan_desc(op, type, half ? DType::Float32 : type, type, flags));
  Launch launch(layout.shape);
  launch.operand(*out, type, layout.output_strides).operand(*in, type, layout.input_strides);
  launch.run(context, *kernel);
  require_same(context.download(*out, type, expected.count()), expected, layout.what);
}

void int8_in_int64(Context& context) {
  Values input(DType::Int8, 1000);
  Values expected(DType::Int64, 1000);
  for (int64_t i = 0; i < 1000; ++i) {
    input.set_integer(i, 100);
    expected.set_integer(i, (i + 1) * 100);
  }
  const auto kernel =
      context.create_kernel(scan_desc(ScanOp::Sum, DType::Int8, DType::Int64, DType::Int64, 0));
  const auto in = context.upload(input);
  const auto out = context.allocate(expected.byte_size());
  Launch launch({1000});
  launch.operand(*out, DType::Int64, {1}).operand(*in, DType::Int8, {1});
  launch.run(context, *kernel);
  require_same(context.download(*out, DType::Int64, 1000), expected, "int8 in int64");
}

}  // namespace

void add_scan_cases(std::vector<Case>& cases) {
  for (int op = 0; op < 4; ++op) {
    for (const DType type : kNumberTypes) {
      for (const Layout& layout : layouts()) {
        for (const uint8_t flags : {0, 1, 2, 3}) {
          // Running sums in halves stay exact only while short.
          if (is_floating(type) && digits_of(type) < 24 && op == 0 && layout.shape.back() > 200) continue;
          const std::string way = std::string((flags & plugin::kScanReverse) != 0 ? " backwards" : "") +
                                  ((flags & plugin::kScanExclusive) != 0 ? " exclusively" : "");
          const std::string name = std::string("scan/") + kNames[op] + " of " + name_of(type) + " along ";
          const auto body = [=](Context& context) {
            scan_layout(context, static_cast<ScanOp>(op), type, layout, flags);
          };
          cases.push_back({name + layout.what + way, body, product(layout.shape)});
        }
      }
    }
  }
  cases.push_back({"scan/int8 is summed in int64", int8_in_int64});
}

}  // namespace backplane::conformance
