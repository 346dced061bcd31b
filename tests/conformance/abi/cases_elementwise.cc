// SPDX-License-Identifier: Apache-2.0
// The elementwise family: arithmetic of every type, casts, broadcasting, programs of several instructions, in
// place.
#include <cmath>
#include <functional>

#include "cases.h"
#include "launch.h"

namespace backplane::conformance {
namespace {

using plugin::ScalarOp;

plugin::KernelDesc elementwise_desc(const plugin::Program& program) {
  plugin::KernelDesc desc = make_desc(plugin::Family::Elementwise);
  desc.program = program;
  return desc;
}

// Integers wrap; floating values round once from double, which is exact for + - * of these types' small
// values.
void set_result(Values& values, int64_t index, uint64_t integer, double floating) {
  if (is_floating(values.type())) {
    values.set(index, floating);
  } else {
    values.set_integer(index, static_cast<int64_t>(integer));
  }
}

void arithmetic(Context& context, ScalarOp op, DType type) {
  for (const int64_t count : {1, 16, 1003, 70001}) {
    const Values a = some_values(type, count, 1);
    const Values b = some_values(type, count, 2);
    Values expected(type, count);
    for (int64_t i = 0; i < count; ++i) {
      // Unsigned, so that they wrap; of floating values these are bits that nobody looks at.
      const auto x = static_cast<uint64_t>(a.get_integer(i));
      const auto y = static_cast<uint64_t>(b.get_integer(i));
      const double u = a.get(i);
      const double v = b.get(i);
      switch (op) {
        case ScalarOp::add:
          set_result(expected, i, x + y, u + v);
          break;
        case ScalarOp::subtract:
          set_result(expected, i, x - y, u - v);
          break;
        default:
          set_result(expected, i, x * y, u * v);
          break;
      }
    }
    const auto kernel = context.create_kernel(elementwise_desc(one_op_program(op, {type, type}, type)));
    const auto in_a = context.upload(a, plugin::size_of(type));
    const auto in_b = context.upload(b);
    const auto out = context.allocate(expected.byte_size());
    Launch launch({count});
    launch.operand(*out, type, {1}).operand(*in_a, type, {1}, 1).operand(*in_b, type, {1});
    launch.run(context, *kernel);
    require_same(context.download(*out, type, count), expected, "contiguous");
  }
}

// Values every type can tell apart by: the middle of its range, its ends, and for floating ones what
// saturates.
Values cast_inputs(DType type) {
  if (type == DType::Bool) return some_values(type, 9, 3);
  Values values(type, 14);
  const double numbers[] = {0, 1, 2, 3.75, 100.5, 127, 128, 255, 256, 1000, -1, -2.5, -100, -129};
  for (int64_t i = 0; i < 14; ++i) {
    const double value = numbers[i];
    if (is_floating(type)) {
      values.set(i, value);
    } else {
      values.set_integer(i, static_cast<int64_t>(value));
    }
  }
  return values;
}

// Float to integer truncates and saturates, NaN to 0; integers wrap; anything to Bool is "not zero".
void set_cast(Values& result, int64_t index, const Values& input) {
  const DType to = result.type();
  const double value = input.get(index);
  if (to == DType::Bool) {
    result.set_integer(index, value != 0 ? 1 : 0);
  } else if (is_floating(to)) {
    result.set(index, value);
  } else if (!is_floating(input.type())) {
    result.set_integer(index, input.get_integer(index));
  } else {
    const int bits = static_cast<int>(plugin::size_of(to)) * 8;
    const double low = is_signed(to) ? -std::ldexp(1.0, bits - 1) : 0.0;
    const double past = std::ldexp(1.0, is_signed(to) ? bits - 1 : bits);
    const double truncated = std::trunc(value);
    if (std::isnan(value)) {
      result.set_integer(index, 0);
    } else if (truncated >= past) {
      const auto half = static_cast<uint64_t>(past / 2);  // `past` itself may be 2^64
      result.set_integer(index, static_cast<int64_t>(half - 1 + half));
    } else if (truncated <= low) {
      result.set_integer(index, static_cast<int64_t>(low));
    } else {
      result.set_integer(index, static_cast<int64_t>(truncated));
    }
  }
}

void cast(Context& context, DType from, DType to) {
  const Values input = cast_inputs(from);
  Values expected(to, input.count());
  for (int64_t i = 0; i < input.count(); ++i) set_cast(expected, i, input);
  const auto kernel = context.create_kernel(elementwise_desc(cast_program(from, to)));
  const auto in = context.upload(input);
  const auto out = context.allocate(expected.byte_size());
  Launch launch({input.count()});
  launch.operand(*out, to, {1}).operand(*in, from, {1});
  launch.run(context, *kernel);
  require_same(context.download(*out, to, input.count()), expected, "cast");
}

void broadcasting(Context& context) {
  const int64_t rows = 37;
  const int64_t columns = 53;
  const Values a = some_values(DType::Float32, rows, 4);
  const Values b = some_values(DType::Float32, columns, 5);
  Values expected(DType::Float32, rows * columns);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) expected.set(i * columns + j, a.get(i) - b.get(columns - 1 - j));
  }
  const auto kernel = context.create_kernel(
      elementwise_desc(one_op_program(ScalarOp::subtract, {DType::Float32, DType::Float32}, DType::Float32)));
  const auto in_a = context.upload(a);
  const auto in_b = context.upload(b);
  const auto out = context.allocate(expected.byte_size());
  Launch launch({rows, columns});
  launch.operand(*out, DType::Float32, {columns, 1}).operand(*in_a, DType::Float32, {1, 0});
  launch.operand(*in_b, DType::Float32, {0, -1}, columns - 1);
  launch.run(context, *kernel);
  require_same(context.download(*out, DType::Float32, rows * columns), expected,
               "a column less a reversed row");
}

// relu(a * x + b) with a scalar b, and a * x as a second output; rounded after every step.
void fused_program(Context& context, DType type) {
  plugin::Program program = identity_program(type);
  program.input_count = 2;
  program.input_types[1] = type;
  program.scalar_count = 1;
  program.scalar_types[0] = type;
  program.instruction_count = 3;
  program.instructions[0] = {ScalarOp::multiply, type, {0, 1, 0}, {}};
  program.instructions[1] = {ScalarOp::add, type, {plugin::kResultSlot, plugin::kScalarSlot, 0}, {}};
  program.instructions[2] = {ScalarOp::relu, type, {plugin::kResultSlot + 1, 0, 0}, {}};
  program.output_count = 2;
  program.outputs[0] = plugin::kResultSlot + 2;
  program.outputs[1] = plugin::kResultSlot;
  const int64_t count = 5001;
  Numbers numbers(6);
  Values a(type, count);
  Values x(type, count);
  Values result(type, count);
  Values product(type, count);
  for (int64_t i = 0; i < count; ++i) {
    a.set(i, numbers.uniform(-2, 2));
    x.set(i, numbers.uniform(-2, 2));
    // The product of two numbers of up to 26 bits is exact in double, the sum with 0.375 too: each rounds
    // once.
    const double rounded = round_to(type, a.get(i) * x.get(i));
    product.set(i, rounded);
    result.set(i, std::fmax(0.0, round_to(type, rounded + 0.375)));
  }
  const auto kernel = context.create_kernel(elementwise_desc(program));
  const auto in_a = context.upload(a);
  const auto in_x = context.upload(x);
  const auto out_result = context.allocate(result.byte_size());
  const auto out_product = context.allocate(product.byte_size());
  Launch launch({count});
  launch.operand(*out_result, type, {1}).operand(*out_product, type, {1});
  launch.operand(*in_a, type, {1}).operand(*in_x, type, {1}).scalar(0.375);
  launch.run(context, *kernel);
  require_same(context.download(*out_product, type, count), product, "a * x");
  require_same(context.download(*out_result, type, count), result, "relu(a * x + b)");
}

void in_place(Context& context) {
  const int64_t count = 10007;
  const Values input = some_values(DType::Int32, count, 7);
  Values expected(DType::Int32, count);
  for (int64_t i = 0; i < count; ++i) expected.set_integer(i, -input.get_integer(i));
  const auto kernel = context.create_kernel(
      elementwise_desc(one_op_program(ScalarOp::negative, {DType::Int32}, DType::Int32)));
  const auto buffer = context.upload(input);
  Launch launch({count});
  launch.operand(*buffer, DType::Int32, {1}).operand(*buffer, DType::Int32, {1});
  launch.run(context, *kernel);
  require_same(context.download(*buffer, DType::Int32, count), expected, "in place");
}

void counting(Context& context) {
  const int64_t count = 4099;
  Values expected(DType::Int64, count);
  for (int64_t i = 0; i < count; ++i) expected.set_integer(i, i);
  plugin::Program program = one_op_program(ScalarOp::iota, {}, DType::Int64);
  const auto kernel = context.create_kernel(elementwise_desc(program));
  const auto out = context.allocate(expected.byte_size());
  Launch launch({count});
  launch.operand(*out, DType::Int64, {1});
  launch.run(context, *kernel);
  require_same(context.download(*out, DType::Int64, count), expected, "iota");
}

void malformed_programs(Context& context) {
  plugin::KernelDesc desc =
      elementwise_desc(one_op_program(ScalarOp::add, {DType::Float32, DType::Float32}, DType::Float32));
  desc.program.instructions[0].args[1] = plugin::kResultSlot + 5;
  require_code(context.device().supports(&desc), plugin::StatusCode::InvalidArgument,
               "a result that comes later");
  desc = elementwise_desc(one_op_program(ScalarOp::add, {DType::Float32, DType::Int32}, DType::Float32));
  require_code(context.device().supports(&desc), plugin::StatusCode::InvalidArgument,
               "arguments of two types");
  desc = elementwise_desc(one_op_program(ScalarOp::divide, {DType::Int32, DType::Int32}, DType::Int32));
  require_code(context.device().supports(&desc), plugin::StatusCode::InvalidArgument, "division of integers");
}

}  // namespace

void add_elementwise_cases(std::vector<Case>& cases) {
  const std::pair<const char*, ScalarOp> operations[] = {
      {"add", ScalarOp::add}, {"subtract", ScalarOp::subtract}, {"multiply", ScalarOp::multiply}};
  for (const auto& [name, op] : operations) {
    for (const DType type : kNumberTypes) {
      cases.push_back({std::string("elementwise/") + name + " of " + name_of(type),
                       [op = op, type](Context& context) { arithmetic(context, op, type); }});
    }
  }
  for (const DType from : kAllTypes) {
    for (const DType to : kAllTypes) {
      cases.push_back({"elementwise/cast of " + name_of(from) + " to " + name_of(to),
                       [=](Context& context) { cast(context, from, to); }});
    }
  }
  for (const DType type : kFloatTypes) {
    if (type == DType::Float64) continue;
    cases.push_back({"elementwise/a fused program rounds at every step in " + name_of(type),
                     [=](Context& context) { fused_program(context, type); }});
  }
  cases.push_back({"elementwise/zero and negative strides broadcast and reverse", broadcasting});
  cases.push_back({"elementwise/the output may be the input", in_place});
  cases.push_back({"elementwise/iota counts", counting});
  cases.push_back({"elementwise/malformed programs are invalid arguments", malformed_programs});
}

}  // namespace backplane::conformance
