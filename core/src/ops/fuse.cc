// SPDX-License-Identifier: Apache-2.0
#include "backplane/fuse.h"

#include "ops/elementwise.h"

namespace backplane::internal {
namespace {

Term term_of(const ExprOperand& operand) {
  if (operand.expr() == nullptr) return Term(operand.number());
  return Term(Value{operand.expr()->slot(), operand.expr()->dtype()});
}

TensorProgram& program_of(const ExprOperand& a, const ExprOperand& b, const char* what) {
  const Expr* expr = a.expr() != nullptr ? a.expr() : b.expr();
  if (expr == nullptr)
    throw Error(ErrorCode::InvalidArgument, std::string(what) + ": one operand must be an expression");
  if (a.expr() != nullptr && b.expr() != nullptr && a.expr()->program() != b.expr()->program())
    throw Error(ErrorCode::InvalidArgument,
                std::string(what) + ": operands of two different fused expressions");
  return *expr->program();
}

Expr expression(TensorProgram& program, Value value) { return {&program, value.slot, value.type}; }

Expr unary_expr(const ElementwiseOp& op, const Expr& x) {
  return expression(*x.program(), apply_unary(*x.program(), op, {x.slot(), x.dtype()}));
}

Expr binary_expr(const ElementwiseOp& op, const ExprOperand& a, const ExprOperand& b) {
  TensorProgram& program = program_of(a, b, op.name);
  const bool has_float64 = Device(&program.device()).supports(DType::Float64);
  return expression(program, apply_binary(program, op, term_of(a), term_of(b), has_float64));
}

Value convert(TensorProgram& program, const ExprOperand& operand, DType type) {
  if (operand.expr() == nullptr) return program.number(type, operand.number());
  return program.cast({operand.expr()->slot(), operand.expr()->dtype()}, type);
}

DType joint_type(const ExprOperand& a, const ExprOperand& b) {
  if (a.expr() != nullptr && b.expr() != nullptr) return promote_types(a.expr()->dtype(), b.expr()->dtype());
  if (a.expr() != nullptr) return b.number().result_type(a.expr()->dtype());
  if (b.expr() != nullptr) return a.number().result_type(b.expr()->dtype());
  return promote_types(a.number().result_type(DType::Bool), b.number().result_type(DType::Bool));
}

constexpr ElementwiseOp kGelu{"gelu", ScalarOp::gelu, TypeRule::Floating, false, ScalarOp::positive};

}  // namespace
}  // namespace backplane::internal

namespace backplane::inline v0 {

using internal::ScalarOp;
using internal::TypeRule;
using internal::Value;

#define BACKPLANE_UNARY(name, rule, truth, for_bool)                                          \
  Expr name(const Expr& x) {                                                                  \
    static constexpr internal::ElementwiseOp op{#name, ScalarOp::name, TypeRule::rule, truth, \
                                                ScalarOp::for_bool};                          \
    return internal::unary_expr(op, x);                                                       \
  }
#define BACKPLANE_BINARY(name, rule, truth, for_bool)                                         \
  Expr name(const ExprOperand& a, const ExprOperand& b) {                                     \
    static constexpr internal::ElementwiseOp op{#name, ScalarOp::name, TypeRule::rule, truth, \
                                                ScalarOp::for_bool};                          \
    return internal::binary_expr(op, a, b);                                                   \
  }
#include "ops/elementwise.def"
#undef BACKPLANE_UNARY
#undef BACKPLANE_BINARY

Expr Expr::astype(DType type) const {
  return internal::expression(*program_, program_->cast({slot_, type_}, type));
}

Expr gelu(const Expr& x) { return internal::unary_expr(internal::kGelu, x); }

Expr where(const Expr& condition, const ExprOperand& a, const ExprOperand& b) {
  internal::TensorProgram& program = *condition.program();
  const DType type = internal::joint_type(a, b);
  const Value truth = program.cast({condition.slot(), condition.dtype()}, DType::Bool);
  const Value x = internal::convert(program, a, type);
  const Value y = internal::convert(program, b, type);
  return internal::expression(program, program.apply(ScalarOp::where, type, truth, x, y));
}

Expr fma(const Expr& a, const ExprOperand& b, const ExprOperand& c) {
  internal::TensorProgram& program = *a.program();
  const DType type = promote_types(internal::joint_type(a, b), internal::joint_type(a, c));
  if (!is_floating(type))
    throw Error(ErrorCode::InvalidArgument, std::string("fma takes no ") + to_string(type) + " operands");
  const Value x = internal::convert(program, a, type);
  const Value y = internal::convert(program, b, type);
  const Value z = internal::convert(program, c, type);
  return internal::expression(program, program.apply(ScalarOp::fma, type, x, y, z));
}

namespace detail {

Fusion::Fusion(const std::vector<const Tensor*>& inputs) : program_(new internal::TensorProgram("fuse")) {
  try {
    if (inputs.empty()) throw Error(ErrorCode::InvalidArgument, "fuse: no tensors");
    for (const Tensor* input : inputs)
      inputs_.push_back(internal::expression(*program_, program_->input(internal::impl_of(*input, "fuse"))));
  } catch (...) {
    delete program_;
    throw;
  }
}

Fusion::~Fusion() { delete program_; }

Expr Fusion::input(size_t i) const { return inputs_[i]; }

Tensor Fusion::run(const Expr& value) { return program_->run({value.slot(), value.dtype()}); }

void Fusion::run_into(const Tensor& result, const Expr& value) {
  program_->run_into(internal::impl_of(result, "fuse"), {value.slot(), value.dtype()});
}

}  // namespace detail
}  // namespace backplane::inline v0
