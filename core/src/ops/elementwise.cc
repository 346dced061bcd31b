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

ScalarOp operation_for(const ElementwiseOp& op, DType type) {
  return type == DType::Bool && op.for_bool != ScalarOp::positive ? op.for_bool : op.op;
}

// What both arguments promote to.
DType promoted(const ElementwiseOp& op, const Term& a, const Term& b) {
  if (a.is_number && b.is_number)
    throw Error(ErrorCode::InvalidArgument, fmt::format("{}: one operand must be a tensor", op.name));
  if (a.is_number) return a.number.result_type(b.value.type);
  return b.is_number ? b.number.result_type(a.value.type) : promote_types(a.value.type, b.value.type);
}

Value convert(ProgramWriter& program, const Term& term, DType type) {
  return term.is_number ? program.number(type, term.number) : program.cast(term.value, type);
}

Term term_of(TensorProgram& program, const Operand& operand) {
  if (operand.tensor() == nullptr) return Term(operand.scalar());
  return Term(program.input(impl_of(*operand.tensor(), program.label())));
}

bool device_has_float64(const TensorProgram& program) {
  return Device(&program.device()).supports(DType::Float64);
}

Value binary_value(TensorProgram& program, const ElementwiseOp& op, const Operand& a, const Operand& b) {
  const Term x = term_of(program, a);
  const Term y = term_of(program, b);
  return apply_binary(program, op, x, y,
                      op.op == ScalarOp::divide && program.has_device() && device_has_float64(program));
}

Value unary_value(TensorProgram& program, const ElementwiseOp& op, const Tensor& x) {
  return apply_unary(program, op, program.input(impl_of(x, op.name)));
}

}  // namespace

// Quotients of integers are computed in float64 where the device has it, and rounded once.
Value apply_binary(ProgramWriter& program, const ElementwiseOp& op, const Term& a, const Term& b,
                   bool has_float64) {
  const DType joint = promoted(op, a, b);
  const bool quotient = op.op == ScalarOp::divide && !is_floating(joint);
  const DType type = quotient ? (has_float64 ? DType::Float64 : DType::Float32) : compute_type(op, joint);
  const Value x = convert(program, a, type);
  const Value y = convert(program, b, type);
  const Value result = program.apply(operation_for(op, type), op.truth ? DType::Bool : type, x, y);
  return quotient ? program.cast(result, DType::Float32) : result;
}

Value apply_unary(ProgramWriter& program, const ElementwiseOp& op, Value x) {
  const DType type = compute_type(op, x.type);
  return program.apply(operation_for(op, type), op.truth ? DType::Bool : type, program.cast(x, type));
}

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
