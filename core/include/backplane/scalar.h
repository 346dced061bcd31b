// SPDX-License-Identifier: Apache-2.0
//
// A C++ number on its way into an operator: kept as it is, so that `x + 1` needs no tensor for the 1.
#ifndef BACKPLANE_SCALAR_H_
#define BACKPLANE_SCALAR_H_

#include <cstdint>
#include <type_traits>

#include "backplane/dtype.h"

namespace backplane::inline v0 {

class Scalar {
 public:
  enum class Kind : uint8_t { Bool, Signed, Unsigned, Floating };

  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  constexpr Scalar(T value) noexcept {  // NOLINT: implicit on purpose
    if constexpr (std::is_same_v<T, bool>)
      kind_ = Kind::Bool, value_.u = value;
    else if constexpr (std::is_floating_point_v<T>)
      kind_ = Kind::Floating, value_.f = static_cast<double>(value);
    else if constexpr (std::is_signed_v<T>)
      kind_ = Kind::Signed, value_.i = value;
    else
      kind_ = Kind::Unsigned, value_.u = value;
  }

  constexpr Kind kind() const noexcept { return kind_; }
  constexpr double to_double() const noexcept {
    if (kind_ == Kind::Floating) return value_.f;
    return kind_ == Kind::Signed ? static_cast<double>(value_.i) : static_cast<double>(value_.u);
  }
  constexpr plugin::Scalar raw() const noexcept { return value_; }

  // The value as an element of `type` in the boundary's form. InvalidArgument when an integer type cannot
  // hold it.
  BACKPLANE_API plugin::Scalar as(DType type) const;

  // The type that a tensor of `tensor_type` and this scalar compute in: the tensor's, unless the scalar is of
  // a higher kind (bool < integer < floating); then int64 for an integer with bool, float32 for a floating
  // scalar.
  constexpr DType result_type(DType tensor_type) const noexcept {
    if (kind_ == Kind::Bool || is_floating(tensor_type)) return tensor_type;
    if (kind_ == Kind::Floating) return DType::Float32;
    return tensor_type == DType::Bool ? DType::Int64 : tensor_type;
  }

 private:
  plugin::Scalar value_{};
  Kind kind_ = Kind::Signed;
};

}  // namespace backplane::inline v0

#endif  // BACKPLANE_SCALAR_H_
