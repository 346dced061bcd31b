// SPDX-License-Identifier: Apache-2.0
//
// Fused elementwise expressions: many operators, one kernel, no intermediate tensors.
//
//   Tensor y = fuse([](Expr a, Expr x, Expr b) { return relu(a * x + b); }, a, x, b);
//
// The function is called once, with stand-ins for the tensors; what it does to them is compiled (and cached
// by its content) for the tensors' device. Every step is rounded to its type, so that the result has the very
// bits of the operators called one by one. At most 12 tensors, 12 numbers and 32 operators, else
// InvalidArgument.
#ifndef BACKPLANE_FUSE_H_
#define BACKPLANE_FUSE_H_

#include <utility>
#include <vector>

#include "backplane/tensor.h"

namespace backplane::internal {
class TensorProgram;
}

namespace backplane::inline v0 {

// A value inside a fused expression. Valid only during the call of the function that it was handed to.
class BACKPLANE_API Expr {
 public:
  Expr(internal::TensorProgram* program, uint8_t slot, DType type) noexcept
      : program_(program), slot_(slot), type_(type) {}
  DType dtype() const noexcept { return type_; }
  Expr astype(DType type) const;

  internal::TensorProgram* program() const noexcept { return program_; }
  uint8_t slot() const noexcept { return slot_; }

 private:
  internal::TensorProgram* program_;
  uint8_t slot_;
  DType type_;
};

// An expression or a number.
class ExprOperand {
 public:
  ExprOperand(const Expr& expr) noexcept : expr_(&expr), number_(0) {}  // NOLINT: implicit on purpose
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  ExprOperand(T value) noexcept : number_(value) {}  // NOLINT
  const Expr* expr() const noexcept { return expr_; }
  Scalar number() const noexcept { return number_; }

 private:
  const Expr* expr_ = nullptr;
  Scalar number_;
};

// The operators of ops/elementwise.h, by the same names and with the same rules.
#define BACKPLANE_UNARY(name) BACKPLANE_API Expr name(const Expr& x);
#define BACKPLANE_BINARY(name) BACKPLANE_API Expr name(const ExprOperand& a, const ExprOperand& b);
// clang-format off
#define BACKPLANE_EACH_UNARY(ROW)                                                                       \
  ROW(logical_not) ROW(bitwise_invert) ROW(positive) ROW(abs) ROW(negative) ROW(sign) ROW(square)       \
  ROW(floor) ROW(ceil) ROW(trunc) ROW(round) ROW(relu) ROW(signbit) ROW(isnan) ROW(isinf) ROW(isfinite) \
  ROW(sqrt) ROW(rsqrt) ROW(reciprocal) ROW(exp) ROW(expm1) ROW(exp2) ROW(log) ROW(log1p) ROW(log2)      \
  ROW(log10) ROW(sin) ROW(cos) ROW(tan) ROW(asin) ROW(acos) ROW(atan) ROW(sinh) ROW(cosh) ROW(tanh)     \
  ROW(asinh) ROW(acosh) ROW(atanh) ROW(erf) ROW(erfc) ROW(lgamma) ROW(sigmoid) ROW(silu) ROW(softplus)
#define BACKPLANE_EACH_BINARY(ROW)                                                                      \
  ROW(add) ROW(subtract) ROW(multiply) ROW(divide) ROW(floor_divide) ROW(remainder) ROW(pow)            \
  ROW(maximum) ROW(minimum) ROW(atan2) ROW(hypot) ROW(copysign) ROW(logaddexp) ROW(nextafter)           \
  ROW(equal) ROW(not_equal) ROW(less) ROW(less_equal) ROW(greater) ROW(greater_equal) ROW(logical_and)  \
  ROW(logical_or) ROW(logical_xor) ROW(bitwise_and) ROW(bitwise_or) ROW(bitwise_xor)                    \
  ROW(bitwise_left_shift) ROW(bitwise_right_shift)
// clang-format on
BACKPLANE_EACH_UNARY(BACKPLANE_UNARY)
BACKPLANE_EACH_BINARY(BACKPLANE_BINARY)
#undef BACKPLANE_UNARY
#undef BACKPLANE_BINARY

BACKPLANE_API Expr gelu(const Expr& x);
BACKPLANE_API Expr where(const Expr& condition, const ExprOperand& a, const ExprOperand& b);
BACKPLANE_API Expr fma(const Expr& a, const ExprOperand& b, const ExprOperand& c);

#define BACKPLANE_OPERATOR(symbol, name)                                           \
  inline Expr operator symbol(const Expr& a, const Expr& b) { return name(a, b); } \
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>        \
  Expr operator symbol(const Expr& a, T b) {                                       \
    return name(a, b);                                                             \
  }                                                                                \
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>        \
  Expr operator symbol(T a, const Expr& b) {                                       \
    return name(a, b);                                                             \
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
#undef BACKPLANE_OPERATOR
inline Expr operator-(const Expr& x) { return negative(x); }

namespace detail {
// Holds the program while the function runs.
class BACKPLANE_API Fusion {
 public:
  explicit Fusion(const std::vector<const Tensor*>& inputs);
  ~Fusion();
  Fusion(const Fusion&) = delete;
  Fusion& operator=(const Fusion&) = delete;
  Expr input(size_t i) const;
  Tensor run(const Expr& value);
  void run_into(const Tensor& result, const Expr& value);

 private:
  internal::TensorProgram* program_;
  std::vector<Expr> inputs_;
};

template <typename Function, size_t... I>
Expr call(Function&& function, const Fusion& fusion, std::index_sequence<I...>) {
  return std::forward<Function>(function)(fusion.input(I)...);
}
}  // namespace detail

template <typename Function, typename... Tensors>
Tensor fuse(Function&& function, const Tensors&... tensors) {
  detail::Fusion fusion({&tensors...});
  return fusion.run(
      detail::call(std::forward<Function>(function), fusion, std::index_sequence_for<Tensors...>()));
}

template <typename Function, typename... Tensors>
const Tensor& fuse_out(const Tensor& result, Function&& function, const Tensors&... tensors) {
  detail::Fusion fusion({&tensors...});
  fusion.run_into(
      result, detail::call(std::forward<Function>(function), fusion, std::index_sequence_for<Tensors...>()));
  return result;
}

}  // namespace backplane::inline v0

#endif  // BACKPLANE_FUSE_H_
