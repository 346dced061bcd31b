// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operators with three arguments or parameters: where, clip, fma, gelu, leaky_relu.
#include <fmt/format.h>

#include "ops/elementwise.h"

namespace backplane::internal {
namespace {

DType type_of(const Operand& operand, DType with, const char* what) {
  return operand.tensor() != nullptr ? promote_types(impl_of(*operand.tensor(), what).dtype, with)
                                     : operand.scalar().result_type(with);
}

Value argument(TensorProgram& program, const Operand& operand, DType type) {
  if (operand.tensor() == nullptr) return program.number(type, operand.scalar());
  return program.cast(program.input(impl_of(*operand.tensor(), program.label())), type);
}

DType floating(DType type) { return is_floating(type) ? type : DType::Float32; }

DType scalar_type(Scalar scalar) {
  if (scalar.kind() == Scalar::Kind::Bool) return DType::Bool;
  return scalar.kind() == Scalar::Kind::Floating ? DType::Float32 : DType::Int64;
}

Value where_value(TensorProgram& program, const Tensor& condition, const Operand& a, const Operand& b) {
  DType type;
  if (a.tensor() == nullptr && b.tensor() == nullptr)
    type = promote_types(scalar_type(a.scalar()), scalar_type(b.scalar()));
  else if (a.tensor() != nullptr)
    type = type_of(b, impl_of(*a.tensor(), "where").dtype, "where");
  else
    type = type_of(a, impl_of(*b.tensor(), "where").dtype, "where");
  const Value truth = program.cast(program.input(impl_of(condition, "where")), DType::Bool);
  const Value x = argument(program, a, type);
  const Value y = argument(program, b, type);
  return program.apply(ScalarOp::where, type, truth, x, y);
}

// One bound is a maximum or minimum, which propagates NaN as clip does.
Value clip_value(TensorProgram& program, const Tensor& x, const std::optional<Operand>& low,
                 const std::optional<Operand>& high) {
  DType type = impl_of(x, "clip").dtype;
  if (type == DType::Bool) throw Error(ErrorCode::InvalidArgument, "clip takes no bool operands");
  if (low && low->tensor() != nullptr) type = type_of(*low, type, "clip");
  if (high && high->tensor() != nullptr) type = type_of(*high, type, "clip");
  if (low && low->tensor() == nullptr) type = type_of(*low, type, "clip");
  if (high && high->tensor() == nullptr) type = type_of(*high, type, "clip");
  const Value value = program.cast(program.input(impl_of(x, "clip")), type);
  if (low && high) {
    const Value a = argument(program, *low, type);
    const Value b = argument(program, *high, type);
    return program.apply(ScalarOp::clip, type, value, a, b);
  }
  if (low) return program.apply(ScalarOp::maximum, type, value, argument(program, *low, type));
  if (high) return program.apply(ScalarOp::minimum, type, value, argument(program, *high, type));
  return value;
}

Value fma_value(TensorProgram& program, const Tensor& a, const Operand& b, const Operand& c) {
  const DType type = type_of(c, type_of(b, impl_of(a, "fma").dtype, "fma"), "fma");
  if (!is_floating(type))
    throw Error(ErrorCode::InvalidArgument, fmt::format("fma takes no {} operands", to_string(type)));
  const Value x = argument(program, a, type);
  const Value y = argument(program, b, type);
  const Value z = argument(program, c, type);
  return program.apply(ScalarOp::fma, type, x, y, z);
}

Value leaky_relu_value(TensorProgram& program, const Tensor& x, double negative_slope) {
  const DType type = floating(impl_of(x, "leaky_relu").dtype);
  const Value value = argument(program, x, type);
  const Value slope = program.number(type, negative_slope);
  return program.apply(ScalarOp::leaky_relu, type, value, slope);
}

constexpr ElementwiseOp kGelu[] = {
    {"gelu", ScalarOp::gelu, TypeRule::Floating, false, ScalarOp::positive},
    {"gelu", ScalarOp::gelu_tanh, TypeRule::Floating, false, ScalarOp::positive}};

}  // namespace
}  // namespace backplane::internal

namespace backplane::inline v0 {

using internal::impl_of;
using internal::TensorProgram;

Tensor where(const Tensor& condition, const Operand& a, const Operand& b) {
  TensorProgram program("where");
  return program.run(internal::where_value(program, condition, a, b));
}

const Tensor& where_out(const Tensor& result, const Tensor& condition, const Operand& a, const Operand& b) {
  TensorProgram program("where");
  const auto value = internal::where_value(program, condition, a, b);
  program.run_into(impl_of(result, "where"), value);
  return result;
}

Tensor clip(const Tensor& x, const std::optional<Operand>& low, const std::optional<Operand>& high) {
  TensorProgram program("clip");
  return program.run(internal::clip_value(program, x, low, high));
}

const Tensor& clip_out(const Tensor& result, const Tensor& x, const std::optional<Operand>& low,
                       const std::optional<Operand>& high) {
  TensorProgram program("clip");
  const auto value = internal::clip_value(program, x, low, high);
  program.run_into(impl_of(result, "clip"), value);
  return result;
}

Tensor fma(const Tensor& a, const Operand& b, const Operand& c) {
  TensorProgram program("fma");
  return program.run(internal::fma_value(program, a, b, c));
}

const Tensor& fma_out(const Tensor& result, const Tensor& a, const Operand& b, const Operand& c) {
  TensorProgram program("fma");
  const auto value = internal::fma_value(program, a, b, c);
  program.run_into(impl_of(result, "fma"), value);
  return result;
}

Tensor leaky_relu(const Tensor& x, double negative_slope) {
  TensorProgram program("leaky_relu");
  return program.run(internal::leaky_relu_value(program, x, negative_slope));
}

const Tensor& leaky_relu_out(const Tensor& result, const Tensor& x, double negative_slope) {
  TensorProgram program("leaky_relu");
  const auto value = internal::leaky_relu_value(program, x, negative_slope);
  program.run_into(impl_of(result, "leaky_relu"), value);
  return result;
}

Tensor gelu(const Tensor& x, GeluForm form) {
  return internal::unary(internal::kGelu[static_cast<int>(form)], x);
}

const Tensor& gelu_out(const Tensor& result, const Tensor& x, GeluForm form) {
  return internal::unary_out(internal::kGelu[static_cast<int>(form)], result, x);
}

}  // namespace backplane::inline v0
