// SPDX-License-Identifier: Apache-2.0
//
// sum, prod, max, min, any, all, argmax, argmin: one launch each.
#include "backplane/ops/reduction.h"

#include <fmt/format.h>

#include "ops/reduce.h"

namespace backplane::internal {
namespace {

using plugin::ReduceOp;

// Result type of sum and prod: 64-bit for integers unless asked otherwise.
DType sum_type(DType type, std::optional<DType> asked) {
  if (asked) return *asked;
  if (is_floating(type)) return type;
  return type == DType::Bool || is_signed_integer(type) ? DType::Int64 : DType::UInt64;
}

DType type_to_combine(DType input, DType result, const DeviceState& device) {
  const DType decisive = is_floating(result) || !is_floating(input) ? result : input;
  return accumulate_type(decisive, device);
}

Tensor sum_or_prod(const char* what, ReduceOp op, Scalar of_nothing, const Tensor& x, const Axes& axes,
                   bool keepdims, std::optional<DType> asked) {
  const TensorImpl& t = impl_of(x, what);
  const ReducedAxes reduced = resolve_axes(axes, t, keepdims, what);
  const DType type = sum_type(t.dtype, asked);
  if (reduced.count(t.shape) == 0) return full(reduced.result_shape(t.shape), of_nothing, type, x.device());
  return reduce({what, op, type_to_combine(t.dtype, type, t.device()), type, {&t}}, reduced);
}

void check_not_empty(const char* what, const TensorImpl& t, const ReducedAxes& reduced) {
  if (reduced.count(t.shape) == 0)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}: no elements to choose from in {}", what, describe(t)));
}

Tensor extreme(const char* what, ReduceOp op, const Tensor& x, const Axes& axes, bool keepdims) {
  const TensorImpl& t = impl_of(x, what);
  const ReducedAxes reduced = resolve_axes(axes, t, keepdims, what);
  check_not_empty(what, t, reduced);
  return reduce({what, op, t.dtype, t.dtype, {&t}}, reduced);
}

// any is the largest of truth values, all the smallest.
Tensor truth(const char* what, ReduceOp op, bool of_nothing, const Tensor& x, const Axes& axes,
             bool keepdims) {
  const TensorImpl& t = impl_of(x, what);
  const ReducedAxes reduced = resolve_axes(axes, t, keepdims, what);
  if (reduced.count(t.shape) == 0)
    return full(reduced.result_shape(t.shape), of_nothing, DType::Bool, x.device());
  return reduce({what, op, DType::Bool, DType::Bool, {&t}}, reduced);
}

Tensor position(const char* what, ReduceOp op, const Tensor& x, std::optional<int> axis, bool keepdims) {
  const TensorImpl& t = impl_of(x, what);
  const ReducedAxes reduced = resolve_axes(axis ? Axes(*axis) : Axes(), t, keepdims, what);
  check_not_empty(what, t, reduced);
  return reduce({what, op, t.dtype, DType::Int64, {&t}}, reduced);
}

}  // namespace

// A reduction into an existing tensor: shapes must agree, types convert.
const Tensor& store_result(const Tensor& result, const Tensor& value, const char* what) {
  const TensorImpl& r = impl_of(result, what);
  check_writable(r, what);
  check_same_device(r, *value.impl(), what);
  if (!(r.shape == value.shape()))
    throw Error(ErrorCode::InvalidArgument, fmt::format("{}: the result is {}, the operands give {}", what,
                                                        describe(r), describe(*value.impl())));
  if (r.dtype == value.dtype())
    copy_elements(r, *value.impl(), what);
  else
    convert_into(r, *value.impl(), what);
  return result;
}

}  // namespace backplane::internal

namespace backplane::inline v0 {

using plugin::ReduceOp;

Tensor sum(const Tensor& x, const Axes& axes, bool keepdims, std::optional<DType> type) {
  return internal::sum_or_prod("sum", ReduceOp::Sum, 0, x, axes, keepdims, type);
}
Tensor prod(const Tensor& x, const Axes& axes, bool keepdims, std::optional<DType> type) {
  return internal::sum_or_prod("prod", ReduceOp::Prod, 1, x, axes, keepdims, type);
}
Tensor max(const Tensor& x, const Axes& axes, bool keepdims) {
  return internal::extreme("max", ReduceOp::Max, x, axes, keepdims);
}
Tensor min(const Tensor& x, const Axes& axes, bool keepdims) {
  return internal::extreme("min", ReduceOp::Min, x, axes, keepdims);
}
Tensor any(const Tensor& x, const Axes& axes, bool keepdims) {
  return internal::truth("any", ReduceOp::Max, false, x, axes, keepdims);
}
Tensor all(const Tensor& x, const Axes& axes, bool keepdims) {
  return internal::truth("all", ReduceOp::Min, true, x, axes, keepdims);
}
Tensor argmax(const Tensor& x, std::optional<int> axis, bool keepdims) {
  return internal::position("argmax", ReduceOp::ArgMax, x, axis, keepdims);
}
Tensor argmin(const Tensor& x, std::optional<int> axis, bool keepdims) {
  return internal::position("argmin", ReduceOp::ArgMin, x, axis, keepdims);
}

const Tensor& argmax_out(const Tensor& result, const Tensor& x, std::optional<int> axis, bool keepdims) {
  return internal::store_result(result, argmax(x, axis, keepdims), "argmax");
}
const Tensor& argmin_out(const Tensor& result, const Tensor& x, std::optional<int> axis, bool keepdims) {
  return internal::store_result(result, argmin(x, axis, keepdims), "argmin");
}

#define BACKPLANE_REDUCTION_OUT(name)                                                                \
  const Tensor& name##_out(const Tensor& result, const Tensor& x, const Axes& axes, bool keepdims) { \
    return internal::store_result(result, name(x, axes, keepdims), #name);                           \
  }
BACKPLANE_REDUCTION_OUT(sum)
BACKPLANE_REDUCTION_OUT(prod)
BACKPLANE_REDUCTION_OUT(max)
BACKPLANE_REDUCTION_OUT(min)
BACKPLANE_REDUCTION_OUT(mean)
BACKPLANE_REDUCTION_OUT(norm)
BACKPLANE_REDUCTION_OUT(logsumexp)
BACKPLANE_REDUCTION_OUT(any)
BACKPLANE_REDUCTION_OUT(all)
#undef BACKPLANE_REDUCTION_OUT

const Tensor& var_out(const Tensor& result, const Tensor& x, const Axes& axes, bool keepdims,
                      double correction) {
  return internal::store_result(result, var(x, axes, keepdims, correction), "var");
}
const Tensor& std_out(const Tensor& result, const Tensor& x, const Axes& axes, bool keepdims,
                      double correction) {
  return internal::store_result(result, std(x, axes, keepdims, correction), "std");
}

}  // namespace backplane::inline v0
