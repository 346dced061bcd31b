// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operators, named as in the Python array API: shapes broadcast, types promote (dtype.h),
// operands must be on one device.
//
// Each takes tensors or C++ numbers (`add(x, 1)`; a number never widens a tensor's type within its kind) and
// has a form that writes into an existing tensor of the result's shape, `add_out(result, a, b)`, converting
// to its type. The result may be an operand, or overlap one: what is written is what a copy through a
// temporary would give. Unless it says otherwise an operator that computes in floating types takes integers
// and bool too and gives float32. Exact semantics and bounds in ULP: docs/operators.md.
#ifndef BACKPLANE_OPS_ELEMENTWISE_H_
#define BACKPLANE_OPS_ELEMENTWISE_H_

#include <optional>

#include "backplane/tensor.h"

namespace backplane::inline v0 {

// A tensor or a number, borrowed for the duration of a call.
class Operand {
 public:
  Operand(const Tensor& tensor) noexcept : tensor_(&tensor), scalar_(0) {}  // NOLINT: implicit on purpose
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Operand(T value) noexcept : scalar_(value) {}       // NOLINT
  Operand(Scalar value) noexcept : scalar_(value) {}  // NOLINT

  const Tensor* tensor() const noexcept { return tensor_; }
  Scalar scalar() const noexcept { return scalar_; }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar scalar_;
};

#define BACKPLANE_UNARY(name)                 \
  BACKPLANE_API Tensor name(const Tensor& x); \
  BACKPLANE_API const Tensor& name##_out(const Tensor& result, const Tensor& x);
#define BACKPLANE_BINARY(name)                                   \
  BACKPLANE_API Tensor name(const Operand& a, const Operand& b); \
  BACKPLANE_API const Tensor& name##_out(const Tensor& result, const Operand& a, const Operand& b);

// Arithmetic. Integers wrap; integer floor_divide and remainder by zero give 0. remainder has the divisor's
// sign. `divide` gives a floating result. Bool operands: add is or, multiply is and.
BACKPLANE_BINARY(add)
BACKPLANE_BINARY(subtract)
BACKPLANE_BINARY(multiply)
BACKPLANE_BINARY(divide)
BACKPLANE_BINARY(floor_divide)
BACKPLANE_BINARY(remainder)
BACKPLANE_BINARY(pow)
BACKPLANE_BINARY(maximum)  // NaN if either is; +0 over -0
BACKPLANE_BINARY(minimum)  // NaN if either is; -0 under +0
BACKPLANE_BINARY(atan2)
BACKPLANE_BINARY(hypot)
BACKPLANE_BINARY(copysign)
BACKPLANE_BINARY(logaddexp)
BACKPLANE_BINARY(nextafter)

// Comparison: bool.
BACKPLANE_BINARY(equal)
BACKPLANE_BINARY(not_equal)
BACKPLANE_BINARY(less)
BACKPLANE_BINARY(less_equal)
BACKPLANE_BINARY(greater)
BACKPLANE_BINARY(greater_equal)

// Logic on truth values (x != 0): bool.
BACKPLANE_BINARY(logical_and)
BACKPLANE_BINARY(logical_or)
BACKPLANE_BINARY(logical_xor)
BACKPLANE_UNARY(logical_not)

// Bits: integers and bool only. Shifts by a negative count or the width and more give 0 (right shift of a
// negative number: -1).
BACKPLANE_BINARY(bitwise_and)
BACKPLANE_BINARY(bitwise_or)
BACKPLANE_BINARY(bitwise_xor)
BACKPLANE_UNARY(bitwise_invert)
BACKPLANE_BINARY(bitwise_left_shift)
BACKPLANE_BINARY(bitwise_right_shift)

// These keep the type of integers.
BACKPLANE_UNARY(positive)
BACKPLANE_UNARY(abs)
BACKPLANE_UNARY(negative)
BACKPLANE_UNARY(sign)
BACKPLANE_UNARY(square)
BACKPLANE_UNARY(floor)
BACKPLANE_UNARY(ceil)
BACKPLANE_UNARY(trunc)
BACKPLANE_UNARY(round)  // half to even
BACKPLANE_UNARY(relu)

// Bool results.
BACKPLANE_UNARY(signbit)  // floating types only
BACKPLANE_UNARY(isnan)
BACKPLANE_UNARY(isinf)
BACKPLANE_UNARY(isfinite)

BACKPLANE_UNARY(sqrt)
BACKPLANE_UNARY(rsqrt)
BACKPLANE_UNARY(reciprocal)
BACKPLANE_UNARY(exp)
BACKPLANE_UNARY(expm1)
BACKPLANE_UNARY(exp2)
BACKPLANE_UNARY(log)
BACKPLANE_UNARY(log1p)
BACKPLANE_UNARY(log2)
BACKPLANE_UNARY(log10)
BACKPLANE_UNARY(sin)
BACKPLANE_UNARY(cos)
BACKPLANE_UNARY(tan)
BACKPLANE_UNARY(asin)
BACKPLANE_UNARY(acos)
BACKPLANE_UNARY(atan)
BACKPLANE_UNARY(sinh)
BACKPLANE_UNARY(cosh)
BACKPLANE_UNARY(tanh)
BACKPLANE_UNARY(asinh)
BACKPLANE_UNARY(acosh)
BACKPLANE_UNARY(atanh)
BACKPLANE_UNARY(erf)
BACKPLANE_UNARY(erfc)
BACKPLANE_UNARY(lgamma)
BACKPLANE_UNARY(sigmoid)
BACKPLANE_UNARY(silu)
BACKPLANE_UNARY(softplus)
#undef BACKPLANE_UNARY
#undef BACKPLANE_BINARY

enum class GeluForm { Exact, Tanh };
BACKPLANE_API Tensor gelu(const Tensor& x, GeluForm form = GeluForm::Exact);
BACKPLANE_API const Tensor& gelu_out(const Tensor& result, const Tensor& x, GeluForm form = GeluForm::Exact);
BACKPLANE_API Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01);
BACKPLANE_API const Tensor& leaky_relu_out(const Tensor& result, const Tensor& x,
                                           double negative_slope = 0.01);

// Limits to [low, high]; either bound may be missing or a tensor. NaN stays NaN.
BACKPLANE_API Tensor clip(const Tensor& x, const std::optional<Operand>& low,
                          const std::optional<Operand>& high);
BACKPLANE_API const Tensor& clip_out(const Tensor& result, const Tensor& x, const std::optional<Operand>& low,
                                     const std::optional<Operand>& high);

// Elements of `a` where `condition` is true (bool, or of another type and not 0), else of `b`.
BACKPLANE_API Tensor where(const Tensor& condition, const Operand& a, const Operand& b);
BACKPLANE_API const Tensor& where_out(const Tensor& result, const Tensor& condition, const Operand& a,
                                      const Operand& b);

// a * b + c with one rounding. Floating types only.
BACKPLANE_API Tensor fma(const Tensor& a, const Operand& b, const Operand& c);
BACKPLANE_API const Tensor& fma_out(const Tensor& result, const Tensor& a, const Operand& b,
                                    const Operand& c);

#define BACKPLANE_OPERATOR(symbol, name)                                                 \
  inline Tensor operator symbol(const Tensor& a, const Tensor& b) { return name(a, b); } \
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>              \
  Tensor operator symbol(const Tensor& a, T b) {                                         \
    return name(a, b);                                                                   \
  }                                                                                      \
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>              \
  Tensor operator symbol(T a, const Tensor& b) {                                         \
    return name(a, b);                                                                   \
  }
BACKPLANE_OPERATOR(+, add)
BACKPLANE_OPERATOR(-, subtract)
BACKPLANE_OPERATOR(*, multiply)
BACKPLANE_OPERATOR(/, divide)
BACKPLANE_OPERATOR(%, remainder)
BACKPLANE_OPERATOR(==, equal)
BACKPLANE_OPERATOR(!=, not_equal)
BACKPLANE_OPERATOR(<, less)
BACKPLANE_OPERATOR(<=, less_equal)
BACKPLANE_OPERATOR(>, greater)
BACKPLANE_OPERATOR(>=, greater_equal)
BACKPLANE_OPERATOR(&, bitwise_and)
BACKPLANE_OPERATOR(|, bitwise_or)
BACKPLANE_OPERATOR(^, bitwise_xor)
BACKPLANE_OPERATOR(<<, bitwise_left_shift)
BACKPLANE_OPERATOR(>>, bitwise_right_shift)
#undef BACKPLANE_OPERATOR
inline Tensor operator-(const Tensor& x) { return negative(x); }
inline Tensor operator~(const Tensor& x) { return bitwise_invert(x); }
inline Tensor operator!(const Tensor& x) { return logical_not(x); }

// In place: the left tensor keeps its type and shape, and its elements change.
inline const Tensor& operator+=(const Tensor& a, const Operand& b) { return add_out(a, a, b); }
inline const Tensor& operator-=(const Tensor& a, const Operand& b) { return subtract_out(a, a, b); }
inline const Tensor& operator*=(const Tensor& a, const Operand& b) { return multiply_out(a, a, b); }
inline const Tensor& operator/=(const Tensor& a, const Operand& b) { return divide_out(a, a, b); }

}  // namespace backplane::inline v0

#endif  // BACKPLANE_OPS_ELEMENTWISE_H_
