// SPDX-License-Identifier: Apache-2.0
// The rowwise family: softmax, log_softmax, layer_norm, rms_norm along contiguous and strided rows.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cases.h"
#include "launch.h"

namespace backplane::conformance {
namespace {

using plugin::RowwiseOp;

constexpr const char* kNames[] = {"softmax", "log_softmax", "layer_norm", "rms_norm"};

struct Layout {
  const char* what;
  Dims shape;  // rows are along the last
  Dims output_strides;
  Dims input_strides;
};

std::vector<Layout> layouts() {
  return {
      {"one value", {1}, {1}, {1}},
      {"one row", {77}, {1}, {1}},
      {"a long row", {30011}, {1}, {1}},
      {"rows", {37, 100}, {100, 1}, {100, 1}},
      {"short rows", {1000, 3}, {3, 1}, {3, 1}},
      {"columns", {130, 50}, {1, 130}, {1, 130}},
      {"columns to rows", {50, 67}, {67, 1}, {1, 50}},
      {"rows to columns", {50, 67}, {1, 50}, {67, 1}},
      {"the middle of three", {4, 19, 23}, {437, 1, 19}, {437, 1, 19}},
      {"rows of a wider matrix", {9, 40}, {64, 1}, {120, 3}},
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

struct Parameters {
  std::vector<double> weight;  // empty for none
  std::vector<double> bias;
  double epsilon = 1e-5;
};

// The definition, in more digits than double has: sums of many terms lose some.
std::vector<double> expected_row(RowwiseOp op, const std::vector<double>& x, const Parameters& p) {
  const auto count = static_cast<long double>(x.size());
  std::vector<double> y(x.size());
  if (op == RowwiseOp::Softmax || op == RowwiseOp::LogSoftmax) {
    const double greatest = *std::max_element(x.begin(), x.end());
    long double sum = 0;
    for (const double value : x) sum += std::exp(static_cast<long double>(value - greatest));
    for (size_t i = 0; i < x.size(); ++i) {
      const long double shifted = static_cast<long double>(x[i]) - greatest;
      y[i] =
          static_cast<double>(op == RowwiseOp::Softmax ? std::exp(shifted) / sum : shifted - std::log(sum));
    }
    return y;
  }
  long double mean = 0;
  for (const double value : x) mean += value / count;
  if (op == RowwiseOp::RmsNorm) mean = 0;
  long double square = 0;
  for (const double value : x) square += (value - mean) * (value - mean) / count;
  for (size_t i = 0; i < x.size(); ++i) {
    y[i] = static_cast<double>((x[i] - mean) / std::sqrt(square + p.epsilon));
    if (!p.weight.empty()) y[i] *= p.weight[i];
    if (!p.bias.empty()) y[i] += p.bias[i];
  }
  return y;
}

plugin::KernelDesc rowwise_desc(RowwiseOp op, DType type, const Parameters& p) {
  plugin::KernelDesc desc = make_desc(plugin::Family::Rowwise, static_cast<uint8_t>(op));
  desc.types[0] = type;
  desc.compute_type = type == DType::Float64 ? DType::Float64 : DType::Float32;
  desc.flags = static_cast<uint8_t>((p.weight.empty() ? 0 : plugin::kRowwiseWeight) |
                                    (p.bias.empty() ? 0 : plugin::kRowwiseBias));
  return desc;
}

// What computing in float32 (float64) and rounding once to the type may lose, relative to the values in play.
double tolerance(DType type) {
  const double rounding = std::ldexp(1.0, -digits_of(type));
  const double computing = type == DType::Float64 ? 0x1p-49 : 0x1p-20;
  return rounding + computing;
}

void check_layout(Context& context, RowwiseOp op, DType type, const Layout& layout, bool with_parameters) {
  Numbers numbers(3);
  Values input(type, extent(layout.shape, layout.input_strides));
  for (int64_t i = 0; i < input.count(); ++i) input.set(i, numbers.uniform(-4, 4));
  const int64_t length = layout.shape.back();
  Parameters parameters;
  Values weight(type, length);
  Values bias(type, length);
  for (int64_t i = 0; i < length; ++i) {
    weight.set(i, numbers.uniform(0.5, 2));
    bias.set(i, numbers.uniform(-1, 1));
    if (with_parameters) parameters.weight.push_back(weight.get(i));
    if (with_parameters && op == RowwiseOp::LayerNorm) parameters.bias.push_back(bias.get(i));
  }
  Values before = some_values(type, extent(layout.shape, layout.output_strides), 4);
  const auto in = context.upload(input);
  const auto out = context.upload(before);
  const auto in_weight = context.upload(weight);
  const auto in_bias = context.upload(bias);
  const auto kernel = context.create_kernel(rowwise_desc(op, type, parameters));
  Launch launch(layout.shape);
  launch.operand(*out, type, layout.output_strides).operand(*in, type, layout.input_strides);
  Dims along(layout.shape.size(), 0);
  along.back() = 1;
  if (!parameters.weight.empty()) launch.operand(*in_weight, type, along);
  if (!parameters.bias.empty()) launch.operand(*in_bias, type, along);
  launch.scalar(parameters.epsilon);
  launch.run(context, *kernel);

  const Values result = context.download(*out, type, before.count());
  for (int64_t row = 0; row < product(layout.shape) / length; ++row) {
    std::vector<double> x;
    for (int64_t i = 0; i < length; ++i) {
      x.push_back(input.get(offset_of(layout.shape, layout.input_strides, row * length + i)));
    }
    const std::vector<double> expected = expected_row(op, x, parameters);
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = offset_of(layout.shape, layout.output_strides, row * length + i);
      const double want = expected[static_cast<size_t>(i)];
      const double error = std::fabs(result.get(at) - want);
      // Norms subtract values of up to 4 before they scale; float16's least numbers are 2^-24 apart.
      const double scale = op == RowwiseOp::Softmax ? want : std::max(4.0, std::fabs(want));
      if (!(error <= tolerance(type) * scale + (type == DType::Float16 ? 0x1p-25 : 0.0))) {
        fail("row %d, element %d is %.9g, expected %.9g", static_cast<int>(row), static_cast<int>(i),
             result.get(at), want);
      }
      before.set(at, result.get(at));
    }
  }
  require_same(result, before, "what lies between the rows");
}

// Values far from 0: no overflow, no loss of everything.
void extremes(Context& context) {
  const Parameters none;
  const auto run = [&](RowwiseOp op, const std::vector<double>& x) {
    Values input(DType::Float32, static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) input.set(static_cast<int64_t>(i), x[i]);
    const auto kernel = context.create_kernel(rowwise_desc(op, DType::Float32, none));
    const auto in = context.upload(input);
    const auto out = context.allocate(input.byte_size());
    Launch launch({input.count()});
    launch.operand(*out, DType::Float32, {1}).operand(*in, DType::Float32, {1}).scalar(1e-5);
    launch.run(context, *kernel);
    return context.download(*out, DType::Float32, input.count());
  };
  require_close(run(RowwiseOp::Softmax, {1000, 1000, -1000}), {0.5, 0.5, 0}, 1, "softmax of large values");
  require_close(run(RowwiseOp::LogSoftmax, {1000, 0}), {0, -1000}, 1, "log_softmax of large values");
  require_close(run(RowwiseOp::RmsNorm, {1e30, 1e30}), {1, 1}, 2, "rms_norm of large values");
  const double infinity = std::numeric_limits<double>::infinity();
  require_close(run(RowwiseOp::Softmax, {-infinity, 0}), {0, 1}, 0, "softmax with -inf");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const size_t count : {3u, 50u}) {
    std::vector<double> x(count, 1.0);
    x[1] = nan;
    require_close(run(RowwiseOp::Softmax, x), std::vector<double>(count, nan), 0, "softmax with a NaN");
  }
}

}  // namespace

void add_rowwise_cases(std::vector<Case>& cases) {
  for (int op = 0; op < 4; ++op) {
    const auto operation = static_cast<RowwiseOp>(op);
    for (const DType type : kFloatTypes) {
      for (const Layout& layout : layouts()) {
        const std::string name =
            std::string("rowwise/") + kNames[op] + " of " + name_of(type) + " along " + layout.what;
        cases.push_back({name,
                         [=](Context& context) { check_layout(context, operation, type, layout, false); },
                         product(layout.shape)});
        if (op < 2) continue;
        cases.push_back({name + " with parameters",
                         [=](Context& context) { check_layout(context, operation, type, layout, true); },
                         product(layout.shape)});
      }
    }
  }
  cases.push_back({"rowwise/large values neither overflow nor vanish", extremes});
}

}  // namespace backplane::conformance
