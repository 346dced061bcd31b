// SPDX-License-Identifier: Apache-2.0
#include "backplane/ops/elementwise.h"

#include <fmt/format.h>

#include "ops/elementwise.h"

namespace backplane::internal {
namespace {

DType floating(DType type) noexcept { return is_floating(type) ? type : DType::Float32; }

[[noreturn]] void wrong_type(const ElementwiseOp& op, DType type) {
  throw Error(ErrorCode::InvalidArgument, fmt::format("{} takes no {} operands", op.name, to_string(type)));
}

// The type that arguments of `type` are converted to.
DType compute_type(const ElementwiseOp& op, DType type) {
  switch (op.rule) {
    case TypeRule::Number:
      if (type == DType::Bool && op.for_bool == ScalarOp::positive) wrong_type(op, type);
      return type;
    case TypeRule::Floating:
      return floating(type);
    case TypeRule::FloatingOnly:
      if (!is_floating(type)) wrong_type(op, type);
      return type;
    case TypeRule::Logical:
      return DType::Bool;
    case TypeRule::Integer:
      if (is_floating(type)) wrong_type(op, type);
      return type;
    case TypeRule::Any:
      break;
  }
  return type;
}

// What both operands promote to.
DType promoted(const ElementwiseOp& op, const Operand& a, const Operand& b) {
  if (a.tensor() != nullptr && b.tensor() != nullptr)
    return promote_types(impl_of(*a.tensor(), op.name).dtype, impl_of(*b.tensor(), op.name).dtype);
  if (a.tensor() != nullptr) return b.scalar().result_type(impl_of(*a.tensor(), op.name).dtype);
  if (b.tensor() != nullptr) return a.scalar().result_type(impl_of(*b.tensor(), op.name).dtype);
  throw Error(ErrorCode::InvalidArgument, fmt::format("{}: one operand must be a tensor", op.name));
}

ScalarOp operation_for(const ElementwiseOp& op, DType type) {
  return type == DType::Bool && op.for_bool != ScalarOp::positive ? op.for_bool : op.op;
}

Value argument(TensorProgram& program, const Operand& operand, DType type) {
  if (operand.tensor() == nullptr) return program.scalar(type, operand.scalar().as(type));
  return program.cast(program.input(impl_of(*operand.tensor(), program.label())), type);
}

// Quotients of integers are computed in float64 where the device has it, and rounded once.
Value integer_quotient(TensorProgram& program, const Operand& a, const Operand& b) {
  const Tensor& tensor = a.tensor() != nullptr ? *a.tensor() : *b.tensor();
  const DType type = tensor.device().supports(DType::Float64) ? DType::Float64 : DType::Float32;
  const Value x = argument(program, a, type);
  const Value y = argument(program, b, type);
  return program.cast(program.apply(ScalarOp::divide, type, x, y), DType::Float32);
}

Value binary_value(TensorProgram& program, const ElementwiseOp& op, const Operand& a, const Operand& b) {
  const DType joint = promoted(op, a, b);
  if (op.op == ScalarOp::divide && !is_floating(joint)) return integer_quotient(program, a, b);
  const DType type = compute_type(op, joint);
  const Value x = argument(program, a, type);
  const Value y = argument(program, b, type);
  return program.apply(operation_for(op, type), op.truth ? DType::Bool : type, x, y);
}

Value unary_value(TensorProgram& program, const ElementwiseOp& op, const Tensor& x) {
  const TensorImpl& impl = impl_of(x, op.name);
  const DType type = compute_type(op, impl.dtype);
  const Value value = program.cast(program.input(impl), type);
  return program.apply(operation_for(op, type), op.truth ? DType::Bool : type, value);
}

}  // namespace

Tensor unary(const ElementwiseOp& op, const Tensor& x) {
  Tensor result = fast_unary(op, x);
  if (result.defined()) return result;
  TensorProgram program(op.name);
  return program.run(unary_value(program, op, x));
}

const Tensor& unary_out(const ElementwiseOp& op, const Tensor& result, const Tensor& x) {
  if (fast_unary_out(op, result, x)) return result;
  TensorProgram program(op.name);
  const Value value = unary_value(program, op, x);
  program.run_into(impl_of(result, op.name), value);
  return result;
}

Tensor binary(const ElementwiseOp& op, const Operand& a, const Operand& b) {
  Tensor result = fast_binary(op, a, b);
  if (result.defined()) return result;
  TensorProgram program(op.name);
  return program.run(binary_value(program, op, a, b));
}

const Tensor& binary_out(const ElementwiseOp& op, const Tensor& result, const Operand& a, const Operand& b) {
  if (fast_binary_out(op, result, a, b)) return result;
  TensorProgram program(op.name);
  const Value value = binary_value(program, op, a, b);
  program.run_into(impl_of(result, op.name), value);
  return result;
}

}  // namespace backplane::internal

namespace backplane::inline v0 {

using internal::ElementwiseOp;
using internal::ScalarOp;
using internal::TypeRule;

#define BACKPLANE_UNARY(name, rule, truth, for_bool)                                                  \
  namespace {                                                                                         \
  constexpr ElementwiseOp k_##name{#name, ScalarOp::name, TypeRule::rule, truth, ScalarOp::for_bool}; \
  }                                                                                                   \
  Tensor name(const Tensor& x) { return internal::unary(k_##name, x); }                               \
  const Tensor& name##_out(const Tensor& result, const Tensor& x) {                                   \
    return internal::unary_out(k_##name, result, x);                                                  \
  }
#define BACKPLANE_BINARY(name, rule, truth, for_bool)                                                 \
  namespace {                                                                                         \
  constexpr ElementwiseOp k_##name{#name, ScalarOp::name, TypeRule::rule, truth, ScalarOp::for_bool}; \
  }                                                                                                   \
  Tensor name(const Operand& a, const Operand& b) { return internal::binary(k_##name, a, b); }        \
  const Tensor& name##_out(const Tensor& result, const Operand& a, const Operand& b) {                \
    return internal::binary_out(k_##name, result, a, b);                                              \
  }
#include "ops/elementwise.def"
#undef BACKPLANE_UNARY
#undef BACKPLANE_BINARY

}  // namespace backplane::inline v0
