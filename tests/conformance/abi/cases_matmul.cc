// SPDX-License-Identifier: Apache-2.0
// The matmul family: shapes with edges, batches, transposed and broadcast factors, every type, the epilogue.
#include <cmath>

#include "cases.h"
#include "launch.h"

namespace backplane::conformance {
namespace {

using plugin::ScalarOp;

struct Layout {
  const char* what;
  Dims shape;  // batch..., m, n, k
  Dims output_strides;
  Dims left_strides;
  Dims right_strides;
};

Layout plain(const char* what, int64_t m, int64_t n, int64_t k) {
  return {what, {m, n, k}, {n, 1, 0}, {k, 0, 1}, {0, 1, n}};
}

std::vector<Layout> layouts() {
  return {
      plain("one by one", 1, 1, 1),
      plain("a dot product", 1, 1, 1000),
      plain("a long dot product", 1, 1, 50001),
      plain("a few long rows", 3, 2, 40000),
      plain("a matrix and a vector", 67, 1, 129),
      plain("a vector and a matrix", 1, 131, 70),
      plain("an outer product", 33, 45, 1),
      plain("odd sizes", 37, 53, 71),
      plain("whole tiles", 48, 64, 32),
      plain("several blocks", 203, 301, 530),
      plain("a few columns", 47, 5, 29),
      plain("sums in several parts", 19, 21, 1100),
      {"a transposed left factor", {30, 40, 50}, {40, 1, 0}, {1, 0, 30}, {0, 1, 40}},
      {"a transposed right factor", {30, 40, 50}, {40, 1, 0}, {50, 0, 1}, {0, 50, 1}},
      {"both factors transposed", {130, 140, 150}, {140, 1, 0}, {1, 0, 130}, {0, 150, 1}},
      {"a transposed result", {30, 40, 50}, {1, 30, 0}, {50, 0, 1}, {0, 1, 40}},
      {"a strided result", {30, 40, 50}, {100, 2, 0}, {50, 0, 1}, {0, 1, 40}},
      {"a batch", {7, 20, 30, 10}, {600, 30, 1, 0}, {200, 10, 0, 1}, {300, 0, 1, 30}},
      {"a batch with one right factor", {7, 20, 30, 10}, {600, 30, 1, 0}, {200, 10, 0, 1}, {0, 0, 1, 30}},
      {"a batch with one left factor", {7, 20, 30, 10}, {600, 30, 1, 0}, {0, 10, 0, 1}, {300, 0, 1, 30}},
      {"two batch dimensions", {3, 4, 9, 8, 7}, {288, 72, 8, 1, 0}, {252, 63, 7, 0, 1}, {0, 56, 0, 1, 8}},
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

plugin::KernelDesc matmul_desc(DType result, DType left, DType right, DType compute) {
  plugin::KernelDesc desc = make_desc(plugin::Family::Matmul);
  desc.types[0] = result;
  desc.types[1] = left;
  desc.types[2] = right;
  desc.compute_type = compute;
  return desc;
}

// Whole numbers whose sums are exact in every type, wrapped or not: results must be equal to the bit.
Values factor(DType type, int64_t count, uint64_t seed) {
  Numbers numbers(seed);
  Values values(type, count);
  for (int64_t i = 0; i < count; ++i) {
    values.set(i, static_cast<double>(numbers.integer(is_floating(type) || is_signed(type) ? -1 : 0, 1)));
  }
  return values;
}

// Wraps as integers do, or rounds.
void set_sum(Values& values, int64_t index, int64_t sum) {
  if (is_floating(values.type())) {
    values.set(index, static_cast<double>(sum));
  } else {
    values.set_integer(index, sum);
  }
}

struct Types {
  DType result;
  DType left;
  DType right;
  DType compute;
};

void multiply(Context& context, const Types& types, const Layout& layout) {
  const Values left = factor(types.left, extent(layout.shape, layout.left_strides), 1);
  const Values right = factor(types.right, extent(layout.shape, layout.right_strides), 2);
  Values expected = some_values(types.result, extent(layout.shape, layout.output_strides), 3);
  const auto in_left = context.upload(left);
  const auto in_right = context.upload(right);
  const auto out = context.upload(expected);
  const int64_t k = layout.shape.back();
  for (int64_t i = 0; i < product(layout.shape); i += k) {
    int64_t sum = 0;
    for (int64_t j = i; j < i + k; ++j) {
      sum += static_cast<int64_t>(left.get(offset_of(layout.shape, layout.left_strides, j))) *
             static_cast<int64_t>(right.get(offset_of(layout.shape, layout.right_strides, j)));
    }
    set_sum(expected, offset_of(layout.shape, layout.output_strides, i), sum);
  }
  const auto kernel =
      context.create_kernel(matmul_desc(types.result, types.left, types.right, types.compute));
  Launch launch(layout.shape);
  launch.operand(*out, types.result, layout.output_strides);
  launch.operand(*in_left, types.left, layout.left_strides)
      .operand(*in_right, types.right, layout.right_strides);
  launch.run(context, *kernel);
  require_same(context.download(*out, types.result, expected.count()), expected, layout.what);
}

void sums_of_nothing(Context& context) {
  const auto left = context.upload(factor(DType::Float32, 4, 1));
  const auto right = context.upload(factor(DType::Float32, 4, 2));
  const auto out = context.upload(some_values(DType::Float32, 6, 3));
  const auto kernel =
      context.create_kernel(matmul_desc(DType::Float32, DType::Float32, DType::Float32, DType::Float32));
  Launch launch({2, 3, 0});
  launch.operand(*out, DType::Float32, {3, 1, 0}).operand(*left, DType::Float32, {1, 0, 1});
  launch.operand(*right, DType::Float32, {0, 1, 3});
  launch.run(context, *kernel);
  require_same(context.download(*out, DType::Float32, 6), Values(DType::Float32, 6), "k = 0");
}

// relu(sum + bias).
void epilogue(Context& context, int64_t m, int64_t n, int64_t k) {
  plugin::KernelDesc desc = matmul_desc(DType::Float32, DType::Float32, DType::Float32, DType::Float32);
  desc.epilogue = one_op_program(ScalarOp::add, {DType::Float32, DType::Float32}, DType::Float32);
  desc.epilogue.instruction_count = 2;
  desc.epilogue.instructions[1] = {ScalarOp::relu, DType::Float32, {plugin::kResultSlot, 0, 0}, {}};
  desc.epilogue.outputs[0] = plugin::kResultSlot + 1;
  const Values left = factor(DType::Float32, m * k, 4);
  const Values right = factor(DType::Float32, k * n, 5);
  const Values bias = some_values(DType::Float32, n, 6);
  Values expected(DType::Float32, m * n);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = bias.get(j);
      for (int64_t p = 0; p < k; ++p) sum += left.get(i * k + p) * right.get(p * n + j);
      expected.set(i * n + j, std::fmax(sum, 0.0));
    }
  }
  const auto kernel = context.create_kernel(desc);
  const auto in_left = context.upload(left);
  const auto in_right = context.upload(right);
  const auto in_bias = context.upload(bias);
  const auto out = context.allocate(expected.byte_size());
  Launch launch({m, n, k});
  launch.operand(*out, DType::Float32, {n, 1, 0}).operand(*in_left, DType::Float32, {k, 0, 1});
  launch.operand(*in_right, DType::Float32, {0, 1, n}).operand(*in_bias, DType::Float32, {0, 1, 0});
  launch.run(context, *kernel);
  require_same(context.download(*out, DType::Float32, m * n), expected, "relu(sum + bias)");
}

// Numbers with all their digits: within the bound of a sum in order, |error| <= k 2^-24 sum|ab|.
void accuracy(Context& context) {
  const int64_t n = 150;
  Numbers numbers(7);
  Values left(DType::Float32, n * n);
  Values right(DType::Float32, n * n);
  for (int64_t i = 0; i < n * n; ++i) {
    left.set(i, numbers.uniform(-1, 1));
    right.set(i, numbers.uniform(-1, 1));
  }
  const auto kernel =
      context.create_kernel(matmul_desc(DType::Float32, DType::Float32, DType::Float32, DType::Float32));
  const auto in_left = context.upload(left);
  const auto in_right = context.upload(right);
  const auto out = context.allocate(static_cast<uint64_t>(n * n) * 4);
  Launch launch({n, n, n});
  launch.operand(*out, DType::Float32, {n, 1, 0}).operand(*in_left, DType::Float32, {n, 0, 1});
  launch.operand(*in_right, DType::Float32, {0, 1, n});
  launch.run(context, *kernel);
  const Values result = context.download(*out, DType::Float32, n * n);
  for (int64_t i = 0; i < n * n; ++i) {
    double sum = 0;
    double magnitude = 0;
    for (int64_t p = 0; p < n; ++p) {
      const double term = left.get(i / n * n + p) * right.get(p * n + i % n);
      sum += term;
      magnitude += std::fabs(term);
    }
    const double error = std::fabs(result.get(i) - sum);
    if (!(error <= static_cast<double>(n) * 0x1p-24 * magnitude))
      fail("element %d is off by %g", static_cast<int>(i), error);
  }
}

}  // namespace

void add_matmul_cases(std::vector<Case>& cases) {
  std::vector<Types> types;
  for (const DType type : kNumberTypes) types.push_back({type, type, type, type});
  types.push_back({DType::Float16, DType::Float16, DType::Float16, DType::Float32});
  types.push_back({DType::Float32, DType::BFloat16, DType::BFloat16, DType::Float32});
  types.push_back({DType::Int32, DType::Int8, DType::Int8, DType::Int32});
  types.push_back({DType::Int32, DType::UInt8, DType::Int8, DType::Int32});
  for (const Types& each : types) {
    // A sum of more than 2048 ones is no longer exact in float16, of more than 256 in bfloat16: halves take
    // short k only where they are what is computed in.
    const bool half = each.compute == DType::Float16 || each.compute == DType::BFloat16;
    for (const Layout& layout : layouts()) {
      if (half && layout.shape.back() > 200) continue;
      if (is_floating(each.result) && digits_of(each.result) < 24 && layout.shape.back() > 200) continue;
      cases.push_back({"matmul/" + name_of(each.left) + " by " + name_of(each.right) + " in " +
                           name_of(each.compute) + " to " + name_of(each.result) + ": " + layout.what,
                       [=](Context& context) { multiply(context, each, layout); }, product(layout.shape)});
    }
  }
  for (const DType type : {DType::Float32, DType::Float64}) {
    const Layout layout = plain("blocks of short rows", 130, 140, 150);
    cases.push_back({"matmul/" + name_of(type) + ": " + layout.what,
                     [=](Context& context) {
                       multiply(context, {type, type, type, type}, layout);
                     },
                     product(layout.shape)});
  }
  cases.push_back({"matmul/sums of nothing are 0", sums_of_nothing});
  cases.push_back(
      {"matmul/an epilogue is applied to a small product", [](Context& c) { epilogue(c, 10, 7, 20); }});
  cases.push_back({"matmul/an epilogue is applied to a large product",
                   [](Context& c) { epilogue(c, 150, 290, 300); }, 150 * 290 * 300});
  cases.push_back({"matmul/an epilogue is applied to a long sum",
                   [](Context& c) { epilogue(c, 3, 5, 20000); }, 3 * 5 * 20000});
  cases.push_back({"matmul/an epilogue is applied to a column", [](Context& c) { epilogue(c, 300, 1, 50); }});
  cases.push_back({"matmul/an epilogue is applied to a row", [](Context& c) { epilogue(c, 1, 300, 50); }});
  cases.push_back({"matmul/sums of float32 are accurate", accuracy, 150 * 150 * 150});
}

}  // namespace backplane::conformance
