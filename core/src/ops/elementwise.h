// SPDX-License-Identifier: Apache-2.0
//
// The table form of elementwise operators, and the short way for the common call.
#ifndef BACKPLANE_SRC_OPS_ELEMENTWISE_H_
#define BACKPLANE_SRC_OPS_ELEMENTWISE_H_

#include "backplane/ops/elementwise.h"
#include "tensor/program.h"

namespace backplane::internal {

// Which types an operator computes in.
enum class TypeRule : uint8_t {
  Any,           // the promoted type
  Number,        // likewise; bool only where another scalar operation stands in
  Floating,      // the promoted type, float32 for integers and bool
  FloatingOnly,  // floating operands only
  Integer,       // integers and bool only
  Logical,       // truth values
};

struct ElementwiseOp {
  const char* name;
  ScalarOp op;
  TypeRule rule;
  bool truth;         // the result is bool
  ScalarOp for_bool;  // instead of `op` for bool; positive means none
};

// An argument of an instruction: a value of the program, or a number that takes the other argument's type.
struct Term {
  explicit Term(Value v) noexcept : value(v) {}
  explicit Term(Scalar n) noexcept : number(n), is_number(true) {}
  Value value{};
  Scalar number = 0;
  bool is_number = false;
};

// Appends the operator to a program, with the conversions that its type rules ask for. `has_float64` says
// whether the device has it.
Value apply_unary(ProgramWriter& program, const ElementwiseOp& op, Value x);
Value apply_binary(ProgramWriter& program, const ElementwiseOp& op, const Term& a, const Term& b,
                   bool has_float64);

Tensor unary(const ElementwiseOp& op, const Tensor& x);
const Tensor& unary_out(const ElementwiseOp& op, const Tensor& result, const Tensor& x);
Tensor binary(const ElementwiseOp& op, const Operand& a, const Operand& b);
const Tensor& binary_out(const ElementwiseOp& op, const Tensor& result, const Operand& a, const Operand& b);

// The short way: operands of the computing type, contiguous and of one shape (or a number), on one device.
// Undefined, or false, where the call is not of that form.
Tensor fast_unary(const ElementwiseOp& op, const Tensor& x);
bool fast_unary_out(const ElementwiseOp& op, const Tensor& result, const Tensor& x);
Tensor fast_binary(const ElementwiseOp& op, const Operand& a, const Operand& b);
bool fast_binary_out(const ElementwiseOp& op, const Tensor& result, const Operand& a, const Operand& b);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_OPS_ELEMENTWISE_H_
