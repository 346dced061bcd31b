// SPDX-License-Identifier: Apache-2.0
#include "tensor/program.h"

#include <fmt/format.h>

#include "tensor/iteration.h"

namespace backplane::internal {
namespace {

[[noreturn]] void too_long(const char* label, const char* what, uint32_t most) {
  throw Error(ErrorCode::InvalidArgument,
              fmt::format("{}: more than {} {} in one program", label, most, what));
}

}  // namespace

plugin::Scalar element_of(Scalar number, DType type, const char* label) {
  try {
    return number.as(type);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", label, error.what()));
  }
}

Value ProgramWriter::input(DType type) {
  if (program_.input_count == plugin::kMaxInputs) too_long(label_, "inputs", plugin::kMaxInputs);
  program_.input_types[program_.input_count] = type;
  return {program_.input_count++, type};
}

Value ProgramWriter::scalar(DType type, plugin::Scalar value) {
  if (program_.scalar_count == plugin::kMaxScalars) too_long(label_, "scalars", plugin::kMaxScalars);
  program_.scalar_types[program_.scalar_count] = type;
  scalars_[program_.scalar_count] = value;
  return {static_cast<uint8_t>(plugin::kScalarSlot + program_.scalar_count++), type};
}

Value ProgramWriter::apply(ScalarOp op, DType result, Value a, Value b, Value c) {
  if (program_.instruction_count == plugin::kMaxInstructions)
    too_long(label_, "instructions", plugin::kMaxInstructions);
  program_.instructions[program_.instruction_count] = {op, result, {a.slot, b.slot, c.slot}, {0, 0}};
  return {static_cast<uint8_t>(plugin::kResultSlot + program_.instruction_count++), result};
}

void ProgramWriter::output(Value value) {
  if (program_.output_count == plugin::kMaxOutputs) too_long(label_, "outputs", plugin::kMaxOutputs);
  // A program that only hands a value through still says so in an instruction: plugins need no case without
  // any.
  if (value.slot < plugin::kResultSlot) value = apply(ScalarOp::positive, value.type, value);
  program_.outputs[program_.output_count++] = value.slot;
}

void TensorProgram::widen(const TensorImpl& tensor) {
  if (shape_ == tensor.shape) return;
  if (std::optional<Shape> shape = common_shape(shape_, tensor.shape)) {
    shape_ = *shape;
    return;
  }
  std::string operands;
  for (uint32_t i = 0; i < program().input_count; ++i) operands += describe(*inputs_[i]) + " and ";
  throw Error(ErrorCode::InvalidArgument,
              fmt::format("{}: {}{} do not broadcast", label(), operands, describe(tensor)));
}

Value TensorProgram::input(const TensorImpl& tensor) {
  const uint32_t count = program().input_count;
  for (uint32_t i = 0; i < count; ++i)
    if (inputs_[i] == &tensor) return {static_cast<uint8_t>(i), tensor.dtype};
  if (count > 0) {
    check_same_device(*inputs_[0], tensor, label());
    widen(tensor);
  } else {
    shape_ = tensor.shape;
  }
  const Value value = ProgramWriter::input(tensor.dtype);
  inputs_[count] = &tensor;
  return value;
}

Tensor TensorProgram::run(Value value) {
  Tensor result = make_tensor(inputs_[0]->device(), shape_, value.type, label());
  output(value);
  launch(*result.impl());
  return result;
}

void TensorProgram::run_into(const TensorImpl& result, Value value) {
  check_writable(result, label());
  if (program().input_count > 0) {
    check_same_device(result, *inputs_[0], label());
    if (!(result.shape == shape_))
      throw Error(ErrorCode::InvalidArgument, fmt::format("{}: the result is {}, the operands give shape {}",
                                                          label(), describe(result), shape_.str()));
  } else {
    shape_ = result.shape;
  }
  output(cast(value, result.dtype));
  for (uint32_t i = 0; i < program().input_count; ++i) {
    if (!may_overlap(result, *inputs_[i]) || same_elements(result, *inputs_[i])) continue;
    const Tensor copy = make_tensor(result.device(), shape_, result.dtype, label());
    launch(*copy.impl());
    return copy_strided(result, *copy.impl(), label());
  }
  launch(result);
}

void TensorProgram::launch(const TensorImpl& result) {
  Launch launch(label());
  std::array<const TensorImpl*, plugin::kMaxInputs + 1> operands;
  operands[0] = &result;
  const uint32_t count = program().input_count;
  std::copy_n(inputs_.begin(), count, operands.begin() + 1);
  for (uint32_t i = 0; i < program().scalar_count; ++i) launch.add_scalar(scalars()[i]);
  launch_elementwise(launch, {operands.data(), count + 1}, shape_, program());
}

void launch_elementwise(Launch& launch, std::span<const TensorImpl* const> operands, const Shape& shape,
                        const plugin::Program& program) {
  const TensorImpl& result = *operands[0];
  if (result.size == 0) return;
  DeviceState& device = result.device();
  device.ensure_ready();
  IterationSpace space;
  space.rank = shape.rank();
  std::copy(shape.begin(), shape.end(), space.shape.begin());
  for (size_t i = 0; i < operands.size(); ++i) {
    launch.add_operand(*operands[i]->storage, operands[i]->byte_offset());
    const Strides strides = broadcast_strides(*operands[i], shape);
    std::copy(strides.begin(), strides.end(), space.strides[i].begin());
  }
  const int count = static_cast<int>(operands.size());
  simplify(space, count, 0, space.rank, Order::Any);
  fill_launch(launch, space);
  launch.overwrites = operands.size() == 1 + size_t{program.input_count} && result.covers_storage();
  plugin::KernelDesc desc{};
  desc.struct_size = sizeof desc;
  desc.family = plugin::Family::Elementwise;
  desc.layout = is_contiguous(space, count) ? plugin::Layout::Contiguous : plugin::Layout::Strided;
  desc.program = program;
  launch.run(device, device.kernels->get(desc, launch.args.label), plugin::Family::Elementwise);
}

void convert_into(const TensorImpl& result, const TensorImpl& source, const char* label) {
  TensorProgram program(label);
  const Value value = program.input(source);
  program.run_into(result, value);
}

void fill_with(const TensorImpl& result, Scalar value, const char* label) {
  TensorProgram program(label);
  program.run_into(result, program.number(result.dtype, value));
}

}  // namespace backplane::internal
