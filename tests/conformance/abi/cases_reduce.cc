// SPDX-License-Identifier: Apache-2.0
// The reduce family: every operation and type, any mix of kept and reduced dimensions, prologue and epilogue.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cases.h"
#include "launch.h"

namespace backplane::conformance {
namespace {

using plugin::ReduceOp;
using plugin::ScalarOp;

constexpr const char* kNames[] = {"sum", "prod", "max", "min", "argmax", "argmin"};

bool is_position(ReduceOp op) { return op == ReduceOp::ArgMax || op == ReduceOp::ArgMin; }

plugin::KernelDesc reduce_desc(ReduceOp op, const plugin::Program& prologue, DType compute) {
  plugin::KernelDesc desc = make_desc(plugin::Family::Reduce, static_cast<uint8_t>(op));
  desc.program = prologue;
  desc.compute_type = compute;
  desc.epilogue = identity_program(is_position(op) ? DType::Int64 : compute);
  return desc;
}

struct Layout {
  const char* what;
  Dims shape;           // kept dimensions, then reduced ones
  uint32_t reduced;     // how many
  Dims output_strides;  // 0 in reduced dimensions
  Dims input_strides;
  int64_t input_offset = 0;
};

std::vector<Layout> layouts() {
  return {
      {"one value", {1}, 1, {0}, {1}},
      {"everything", {1000}, 1, {0}, {1}},
      {"everything, large", {300007}, 1, {0}, {1}},
      {"the last of two", {30, 41}, 1, {1, 0}, {41, 1}},
      {"the first of two", {41, 30}, 1, {1, 0}, {1, 41}},
      {"the first of two, long", {5, 40001}, 1, {1, 0}, {1, 5}},
      {"the first of two, wide", {1500, 70}, 1, {1, 0}, {1, 1500}},
      {"the middle of three", {6, 50, 7}, 1, {50, 1, 0}, {350, 1, 50}},
      {"the outer two of three", {13, 11, 12}, 2, {1, 0, 0}, {1, 156, 13}},
      {"short rows", {700, 3}, 1, {1, 0}, {3, 1}},
      {"a strided view", {20, 30}, 1, {2, 0}, {90, 3}, 4},
      {"reversed", {8, 100}, 1, {1, 0}, {100, -1}, 99},
      {"a broadcast input", {9, 5}, 1, {1, 0}, {1, 0}},
      {"eight dimensions",
       {2, 3, 2, 3, 2, 2, 3, 2},
       4,
       {18, 6, 3, 1, 0, 0, 0, 0},
       {1, 2, 144, 48, 6, 12, 288, 24}},
  };
}

// Row-major point `index` of `shape`, dimensions [first, last), as an offset.
int64_t offset_of(const Dims& shape, const Dims& strides, size_t first, size_t last, int64_t index) {
  int64_t offset = 0;
  for (size_t d = last; d-- > first;) {
    offset += index % shape[d] * strides[d];
    index /= shape[d];
  }
  return offset;
}

struct Extents {
  int64_t input = 1;
  int64_t output = 1;
  int64_t kept = 1;
  int64_t reduced = 1;
};

Extents extents(const Layout& layout) {
  Extents result;
  for (size_t d = 0; d < layout.shape.size(); ++d) {
    result.input += std::max<int64_t>(0, layout.input_strides[d]) * (layout.shape[d] - 1);
    result.output += layout.output_strides[d] * (layout.shape[d] - 1);
    (d + layout.reduced < layout.shape.size() ? result.kept : result.reduced) *= layout.shape[d];
  }
  result.input += layout.input_offset;
  return result;
}

// Small enough that sums are exact in every type that they are made in; products stay small too.
Values inputs_for(ReduceOp op, DType type, int64_t count) {
  Numbers numbers(static_cast<uint64_t>(count));
  Values values(type, count);
  for (int64_t i = 0; i < count; ++i) {
    double value;
    if (type == DType::Bool) {
      value = static_cast<double>(numbers.integer(0, 1));
    } else if (op == ReduceOp::Prod) {
      value = numbers.integer(0, 30) == 0                        ? 2.0
              : is_floating(type) && numbers.integer(0, 30) == 0 ? 0.5
                                                                 : 1.0;
    } else {
      value =
          static_cast<double>(numbers.integer(plugin::size_of(type) == 1 || !is_signed(type) ? 0 : -3, 3));
    }
    values.set(i, value);
  }
  return values;
}

// What one output is: the plainest loop. Integers in 64 bits, wrapped when stored.
void reduce_one(ReduceOp op, const Values& input, const Layout& layout, int64_t origin, int64_t reduced,
                Values& expected, int64_t at) {
  const size_t kept = layout.shape.size() - layout.reduced;
  double floating = op == ReduceOp::Prod ? 1 : 0;
  int64_t integer = op == ReduceOp::Prod ? 1 : 0;
  int64_t best = 0;
  const auto element = [&](int64_t i) {
    return origin + offset_of(layout.shape, layout.input_strides, kept, layout.shape.size(), i);
  };
  for (int64_t i = 0; i < reduced; ++i) {
    const double value = input.get(element(i));
    const int64_t whole = is_floating(input.type()) ? 0 : input.get_integer(element(i));
    if (op == ReduceOp::Sum) {
      floating += value;
      integer += whole;
    } else if (op == ReduceOp::Prod) {
      floating *= value;
      integer = static_cast<int64_t>(static_cast<uint64_t>(integer) * static_cast<uint64_t>(whole));
    } else {
      const bool greater = op == ReduceOp::Max || op == ReduceOp::ArgMax;
      const double current = input.get(element(best));
      if (greater ? value > current : value < current) best = i;
    }
  }
  if (is_position(op)) {
    expected.set_integer(at, best);
  } else if (op == ReduceOp::Max || op == ReduceOp::Min) {
    expected.set(at, input.get(element(best)));
  } else if (is_floating(expected.type())) {
    expected.set(at, floating);
  } else {
    expected.set_integer(at, integer);
  }
}

void reduce_layout(Context& context, ReduceOp op, DType type, const Layout& layout) {
  const Extents sizes = extents(layout);
  const Values input = inputs_for(op, type, sizes.input);
  Values expected = some_values(is_position(op) ? DType::Int64 : type, sizes.output, 5);
  const auto in = context.upload(input);
  const auto out = context.upload(expected);
  const size_t kept = layout.shape.size() - layout.reduced;
  for (int64_t i = 0; i < sizes.kept; ++i) {
    const int64_t origin = layout.input_offset + offset_of(layout.shape, layout.input_strides, 0, kept, i);
    reduce_one(op, input, layout, origin, sizes.reduced, expected,
               offset_of(layout.shape, layout.output_strides, 0, kept, i));
  }
  const auto kernel = context.create_kernel(reduce_desc(op, identity_program(type), type));
  Launch launch(layout.shape);
  launch.reduced_rank(layout.reduced);
  launch.operand(*out, expected.type(), layout.output_strides);
  launch.operand(*in, type, layout.input_strides, layout.input_offset);
  launch.run(context, *kernel);
  require_same(context.download(*out, expected.type(), sizes.output), expected, layout.what);
}

// One launch over everything, from `input`, in `compute`.
Values reduce_all(Context& context, ReduceOp op, const Values& input, DType compute) {
  plugin::Program prologue =
      input.type() == compute ? identity_program(compute) : cast_program(input.type(), compute);
  const auto kernel = context.create_kernel(reduce_desc(op, prologue, compute));
  const DType result = is_position(op) ? DType::Int64 : compute;
  const auto in = context.upload(input);
  const auto out = context.allocate(8);
  Launch launch({input.count()});
  launch.reduced_rank(1).operand(*out, result, {0}).operand(*in, input.type(), {1});
  launch.run(context, *kernel);
  return context.download(*out, result, 1);
}

void nan_propagates(Context& context, DType type) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const int64_t count : {3, 100, 5000, 70000}) {
    for (const int64_t at : {int64_t{1}, count - 1}) {
      Values input = inputs_for(ReduceOp::Max, type, count);
      input.set(at, nan);
      if (!std::isnan(reduce_all(context, ReduceOp::Max, input, type).get(0)))
        fail("max of a NaN and others is none");
      if (!std::isnan(reduce_all(context, ReduceOp::Min, input, type).get(0)))
        fail("min of a NaN and others is none");
      if (reduce_all(context, ReduceOp::ArgMax, input, type).get_integer(0) != at)
        fail("argmax does not find the NaN");
      if (reduce_all(context, ReduceOp::ArgMin, input, type).get_integer(0) != at)
        fail("argmin does not find the NaN");
    }
  }
}

void zeros_are_ordered(Context& context, DType type) {
  for (const int64_t count : {2, 100, 5000}) {
    for (const int64_t at : {int64_t{0}, count - 1}) {
      Values input(type, count);
      for (int64_t i = 0; i < count; ++i) input.set(i, i == at ? 0.0 : -0.0);
      if (std::signbit(reduce_all(context, ReduceOp::Max, input, type).get(0)))
        fail("max of -0 and +0 is -0");
      for (int64_t i = 0; i < count; ++i) input.set(i, i == at ? -0.0 : 0.0);
      if (!std::signbit(reduce_all(context, ReduceOp::Min, input, type).get(0)))
        fail("min of -0 and +0 is +0");
    }
  }
}

void first_of_equals_wins(Context& context, DType type) {
  for (const int64_t count : {5, 16, 1000, 100000}) {
    Values equal(type, count);
    for (int64_t i = 0; i < count; ++i) equal.set(i, 1);
    for (const ReduceOp op : {ReduceOp::ArgMax, ReduceOp::ArgMin}) {
      const int64_t found = reduce_all(context, op, equal, type).get_integer(0);
      if (found != 0)
        fail("position %lld of %lld equal values", static_cast<long long>(found),
             static_cast<long long>(count));
    }
  }
}

void large_sums_of_float32(Context& context) {
  Values steps(DType::Float32, 1001);
  steps.set(0, 16777216);
  for (int64_t i = 1; i <= 1000; ++i) steps.set(i, 1);
  const double got = reduce_all(context, ReduceOp::Sum, steps, DType::Float32).get(0);
  if (got != 16778216) fail("2^24 and a thousand ones make %.1f", got);
  const int64_t count = (1 << 20) + 7;
  Numbers numbers(9);
  Values input(DType::Float32, count);
  long double sum = 0;
  double magnitude = 0;
  for (int64_t i = 0; i < count; ++i) {
    input.set(i, numbers.uniform(-1, 1.5));
    sum += input.get(i);
    magnitude += std::fabs(input.get(i));
  }
  const double error =
      std::fabs(reduce_all(context, ReduceOp::Sum, input, DType::Float32).get(0) - static_cast<double>(sum));
  const double bound = 2 * std::log2(static_cast<double>(count)) * 0x1p-24 * magnitude;
  if (!(error <= bound)) fail("the error of a sum is %g, at most %g is allowed", error, bound);
}

void int32_sums_in_int64(Context& context) {
  Values input(DType::Int32, 2);
  input.set_integer(0, 2147483647);
  input.set_integer(1, 2147483647);
  const int64_t sum = reduce_all(context, ReduceOp::Sum, input, DType::Int64).get_integer(0);
  if (sum != 4294967294) fail("the sum is %lld", static_cast<long long>(sum));
}

void float16_sums_in_float32(Context& context) {
  Values input(DType::Float16, 100000);
  for (int64_t i = 0; i < input.count(); ++i) input.set(i, 40000);
  const double sum = reduce_all(context, ReduceOp::Sum, input, DType::Float32).get(0);
  if (sum != 4e9) fail("the sum is %g", sum);
}

// Mean of squares per row: prologue x * x, epilogue sum * scalar + other.
void prologue_and_epilogue(Context& context) {
  const int64_t rows = 33;
  const int64_t columns = 1000;
  plugin::KernelDesc desc = reduce_desc(
      ReduceOp::Sum, one_op_program(ScalarOp::square, {DType::Float32}, DType::Float32), DType::Float32);
  desc.epilogue = one_op_program(ScalarOp::multiply, {DType::Float32, DType::Float32}, DType::Float32);
  desc.epilogue.scalar_count = 1;
  desc.epilogue.scalar_types[0] = DType::Float32;
  desc.epilogue.instructions[0].args[1] = plugin::kScalarSlot;
  desc.epilogue.instruction_count = 2;
  desc.epilogue.instructions[1] = {ScalarOp::add, DType::Float32, {plugin::kResultSlot, 1, 0}, {}};
  desc.epilogue.outputs[0] = plugin::kResultSlot + 1;
  const Values input = some_values(DType::Float32, rows * columns, 11);
  const Values other = some_values(DType::Float32, rows, 12);
  std::vector<double> expected;
  for (int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < columns; ++j) sum += input.get(i * columns + j) * input.get(i * columns + j);
    expected.push_back(round_to(DType::Float32, sum) * 0.125 + other.get(i));
  }
  const auto kernel = context.create_kernel(desc);
  const auto in = context.upload(input);
  const auto more = context.upload(other);
  const auto out = context.allocate(rows * 4);
  Launch launch({rows, columns});
  launch.reduced_rank(1).operand(*out, DType::Float32, {1, 0}).operand(*in, DType::Float32, {columns, 1});
  launch.operand(*more, DType::Float32, {1, 0}).scalar(0.125);
  launch.run(context, *kernel);
  require_close(context.download(*out, DType::Float32, rows), expected, 2, "mean of squares");
}

}  // namespace

void add_reduce_cases(std::vector<Case>& cases) {
  for (int op = 0; op < 6; ++op) {
    const auto reduction = static_cast<ReduceOp>(op);
    for (const DType type : kAllTypes) {
      if (type == DType::Bool && op < 2) continue;
      for (const Layout& layout : layouts()) {
        cases.push_back(
            {std::string("reduce/") + kNames[op] + " of " + name_of(type) + " over " + layout.what,
             [=](Context& context) { reduce_layout(context, reduction, type, layout); },
             product(layout.shape)});
      }
    }
  }
  for (const DType type : kFloatTypes) {
    cases.push_back({"reduce/extremes propagate NaN in " + name_of(type),
                     [=](Context& context) { nan_propagates(context, type); }});
    cases.push_back({"reduce/of zeros max is +0 and min -0 in " + name_of(type),
                     [=](Context& context) { zeros_are_ordered(context, type); }});
  }
  for (const DType type : kAllTypes) {
    cases.push_back({"reduce/the first of equals is found in " + name_of(type),
                     [=](Context& context) { first_of_equals_wins(context, type); }});
  }
  cases.push_back({"reduce/sums of float32 keep their error bound", large_sums_of_float32, 1 << 20});
  cases.push_back({"reduce/int32 is summed in int64", int32_sums_in_int64});
  cases.push_back({"reduce/float16 is summed in float32", float16_sums_in_float32});
  cases.push_back({"reduce/prologue and epilogue are applied", prologue_and_epilogue});
}

}  // namespace backplane::conformance
