// SPDX-License-Identifier: Apache-2.0
// The copy family: any shape, any strides, bytes as they are.
#include <algorithm>
#include <cstring>

#include "cases.h"
#include "launch.h"

namespace backplane::conformance {
namespace {

struct Layout {
  const char* what;
  Dims shape;
  Dims output_strides;
  Dims input_strides;
  int64_t output_offset = 0;
  int64_t input_offset = 0;
};

// Where in a buffer the point number `index`, in row-major order, lies.
int64_t locate(const Dims& shape, const Dims& strides, int64_t offset, int64_t index) {
  for (size_t d = shape.size(); d-- > 0;) {
    offset += index % shape[d] * strides[d];
    index /= shape[d];
  }
  return offset;
}

// Elements that a buffer needs for every point.
int64_t extent(const Dims& shape, const Dims& strides, int64_t offset) {
  for (size_t d = 0; d < shape.size(); ++d) offset += std::max<int64_t>(0, strides[d] * (shape[d] - 1));
  return offset + 1;
}

std::vector<Layout> layouts() {
  return {
      {"no dimension", {}, {}, {}},
      {"one element", {1}, {1}, {1}},
      {"contiguous", {1000}, {1}, {1}, 3, 5},
      {"contiguous, large", {300001}, {1}, {1}},
      {"every third", {777}, {1}, {3}},
      {"into every second", {777}, {2}, {1}},
      {"reversed", {501}, {1}, {-1}, 0, 500},
      {"broadcast", {37, 19}, {19, 1}, {0, 1}},
      {"broadcast of columns", {37, 19}, {19, 1}, {1, 0}},
      {"transposed", {65, 131}, {131, 1}, {1, 65}},
      {"transposed, whole blocks", {128, 64}, {64, 1}, {1, 128}},
      {"transposed, large", {517, 1031}, {1031, 1}, {1, 517}, 1, 2},
      {"into a transposed view", {45, 67}, {1, 45}, {67, 1}},
      {"permuted (2,0,1)", {17, 9, 33}, {297, 33, 1}, {1, 561, 17}},
      {"rows of a wider matrix", {40, 50}, {64, 1}, {77, 1}, 7, 11},
      {"eight dimensions",
       {2, 3, 2, 3, 2, 3, 2, 3},
       {648, 216, 108, 36, 18, 6, 3, 1},
       {1, 2, 6, 12, 36, 72, 216, 432}},
      {"overlapping windows", {20, 8}, {8, 1}, {1, 1}},
  };
}

void copy_layout(Context& context, DType type, const Layout& layout) {
  const int64_t in_count = extent(layout.shape, layout.input_strides, layout.input_offset);
  const int64_t out_count = extent(layout.shape, layout.output_strides, layout.output_offset);
  const size_t size = plugin::size_of(type);
  Numbers numbers(static_cast<uint64_t>(in_count));
  Values input(type, in_count);
  // Any bits: NaNs and what is no Bool must come through as well.
  for (uint8_t& byte : input.bytes()) byte = static_cast<uint8_t>(numbers.bits());
  Values expected(type, out_count);
  std::fill(expected.bytes().begin(), expected.bytes().end(), uint8_t{0x5a});
  const auto in = context.upload(input);
  const auto out = context.upload(expected);
  for (int64_t i = 0; i < product(layout.shape); ++i) {
    const auto to = static_cast<size_t>(locate(layout.shape, layout.output_strides, layout.output_offset, i));
    const auto from = static_cast<size_t>(locate(layout.shape, layout.input_strides, layout.input_offset, i));
    std::memcpy(expected.bytes().data() + to * size, input.bytes().data() + from * size, size);
  }
  plugin::KernelDesc desc = make_desc(plugin::Family::Copy);
  desc.types[0] = type;
  const auto kernel = context.create_kernel(desc);
  Launch launch(layout.shape);
  launch.operand(*out, type, layout.output_strides, layout.output_offset);
  launch.operand(*in, type, layout.input_strides, layout.input_offset);
  launch.run(context, *kernel);
  require_same(context.download(*out, type, out_count), expected, layout.what);
}

}  // namespace

void add_copy_cases(std::vector<Case>& cases) {
  for (const DType type : {DType::UInt8, DType::Float16, DType::Float32, DType::Float64}) {
    for (const Layout& layout : layouts()) {
      cases.push_back({"copy/" + std::string(layout.what) + " of " + name_of(type),
                       [=](Context& context) { copy_layout(context, type, layout); }});
    }
  }
}

}  // namespace backplane::conformance
