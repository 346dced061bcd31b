// SPDX-License-Identifier: Apache-2.0
//
// mean, var, std, norm, logsumexp: reductions whose intermediate values must neither overflow nor vanish.
//
// float32 and narrower types are combined in float64 where the device has it, which has room for every sum of
// them and of their squares. Elsewhere, and for float64 itself, values are first divided by the largest
// magnitude (J. L. Blue, "A portable Fortran program to find the Euclidean norm of a vector", ACM TOMS 4,
// 1978).
#include <fmt/format.h>

#include <limits>

#include "backplane/ops/reduction.h"
#include "ops/reduce.h"

namespace backplane::internal {
namespace {

using plugin::ReduceOp;

// Whether sums of this type, and of its squares, are combined in a wider type here.
bool has_wider(const TensorImpl& t) {
  return t.dtype != DType::Float64 && Device(&t.device()).supports(DType::Float64);
}

DType result_type(DType type) { return is_floating(type) ? type : DType::Float32; }
DType combine_type(const TensorImpl& t) {
  return has_wider(t) || t.dtype == DType::Float64 ? DType::Float64 : DType::Float32;
}

Value constant(ProgramWriter& p, DType type, double value) {
  plugin::Scalar raw{};
  raw.f = value;
  return p.scalar(type, raw);
}

Tensor nothing(const TensorImpl& t, const ReducedAxes& axes, double value) {
  return full(axes.result_shape(t.shape), value, result_type(t.dtype),
              Device(const_cast<DeviceState*>(&t.device())));
}

// The largest magnitude of each group, in the combining type and the kept shape.
Tensor magnitude(const char* label, const TensorImpl& t, const ReducedAxes& axes) {
  const DType type = combine_type(t);
  ReducedAxes kept = axes;
  kept.keepdims = true;
  const auto absolute = [&](ProgramWriter& p, const std::vector<Value>& v) {
    return p.apply(ScalarOp::abs, type, p.cast(v[0], type));
  };
  return reduce({label, ReduceOp::Max, type, type, {&t}, absolute}, kept);
}

// The largest magnitude where it can be divided by, else 1.
Value safe_scale(ProgramWriter& p, Value largest) {
  const Value finite = p.apply(ScalarOp::isfinite, DType::Bool, largest);
  const Value positive = p.apply(ScalarOp::greater, DType::Bool, largest, constant(p, largest.type, 0));
  const Value usable = p.apply(ScalarOp::logical_and, DType::Bool, finite, positive);
  return p.apply(ScalarOp::where, largest.type, usable, largest, constant(p, largest.type, 1));
}

Tensor simple_mean(const char* label, const TensorImpl& t, const ReducedAxes& axes, DType result) {
  const DType type = combine_type(t);
  const auto n = static_cast<double>(axes.count(t.shape));
  return reduce({label,
                 ReduceOp::Sum,
                 type,
                 result,
                 {&t},
                 {},
                 {},
                 [&](ProgramWriter& p, Value sum, const std::vector<Value>&) {
                   return p.apply(ScalarOp::divide, type, sum, constant(p, type, n));
                 }},
                axes);
}

// mean(x / n) where the plain sum overflowed though the elements did not; else the plain mean.
Tensor guarded_mean(const char* label, const TensorImpl& t, const ReducedAxes& axes, DType result) {
  const DType type = combine_type(t);
  const Tensor plain = simple_mean(label, t, axes, type);
  const auto n = static_cast<double>(axes.count(t.shape));
  const Tensor scaled =
      reduce({label,
              ReduceOp::Sum,
              type,
              type,
              {&t},
              [&](ProgramWriter& p, const std::vector<Value>& v) {
                return p.apply(ScalarOp::divide, type, p.cast(v[0], type), constant(p, type, n));
              }},
             axes);
  TensorProgram program(label);
  const Value a = program.input(*plain.impl());
  const Value b = program.input(*scaled.impl());
  const Value finite = program.apply(ScalarOp::isfinite, DType::Bool, a);
  return program.run(program.cast(program.apply(ScalarOp::where, type, finite, a, b), result));
}

Tensor mean_as(const char* label, const TensorImpl& t, const ReducedAxes& axes, DType result) {
  return has_wider(t) || !is_floating(t.dtype) ? simple_mean(label, t, axes, result)
                                               : guarded_mean(label, t, axes, result);
}

// Sum of squared distances from `center` (kept shape), divided by `divisor`, then its root if asked.
Tensor spread(const char* label, const TensorImpl& t, const ReducedAxes& axes, const Tensor& center,
              double divisor, bool root) {
  const DType type = combine_type(t);
  return reduce({label,
                 ReduceOp::Sum,
                 type,
                 result_type(t.dtype),
                 {&t, center.impl()},
                 [&](ProgramWriter& p, const std::vector<Value>& v) {
                   const Value x = p.apply(ScalarOp::subtract, type, p.cast(v[0], type), p.cast(v[1], type));
                   return p.apply(ScalarOp::multiply, type, x, x);
                 },
                 {},
                 [&](ProgramWriter& p, Value sum, const std::vector<Value>&) {
                   const Value var = p.apply(ScalarOp::divide, type, sum, constant(p, type, divisor));
                   return root ? p.apply(ScalarOp::sqrt, type, var) : var;
                 }},
                axes);
}

// The same with distances divided by the largest of them, which the result is multiplied with again.
Tensor scaled_spread(const char* label, const TensorImpl& t, const ReducedAxes& axes, const Tensor& center,
                     double divisor, bool root) {
  const DType type = combine_type(t);
  ReducedAxes kept = axes;
  kept.keepdims = true;
  const auto distance = [&](ProgramWriter& p, const std::vector<Value>& v) {
    return p.apply(ScalarOp::subtract, type, p.cast(v[0], type), p.cast(v[1], type));
  };
  const Tensor largest = reduce({label,
                                 ReduceOp::Max,
                                 type,
                                 type,
                                 {&t, center.impl()},
                                 [&](ProgramWriter& p, const std::vector<Value>& v) {
                                   return p.apply(ScalarOp::abs, type, distance(p, v));
                                 }},
                                kept);
  return reduce({label,
                 ReduceOp::Sum,
                 type,
                 result_type(t.dtype),
                 {&t, center.impl(), largest.impl()},
                 [&](ProgramWriter& p, const std::vector<Value>& v) {
                   const Value x = p.apply(ScalarOp::divide, type, distance(p, v), safe_scale(p, v[2]));
                   return p.apply(ScalarOp::multiply, type, x, x);
                 },
                 {largest.impl()},
                 [&](ProgramWriter& p, Value sum, const std::vector<Value>& v) {
                   const Value scale = safe_scale(p, v[0]);
                   const Value deviation =
                       p.apply(ScalarOp::sqrt, type,
                               p.apply(ScalarOp::divide, type, sum, constant(p, type, divisor)));
                   const Value whole = p.apply(ScalarOp::multiply, type, deviation, scale);
                   return root ? whole : p.apply(ScalarOp::multiply, type, whole, whole);
                 }},
                axes);
}

Tensor variance(const char* label, const Tensor& x, const Axes& list, bool keepdims, double correction,
                bool root) {
  const TensorImpl& t = impl_of(x, label);
  const ReducedAxes axes = resolve_axes(list, t, keepdims, label);
  const double divisor = static_cast<double>(axes.count(t.shape)) - correction;
  if (axes.count(t.shape) == 0 || !(divisor > 0))
    return nothing(t, axes, std::numeric_limits<double>::quiet_NaN());
  ReducedAxes kept = axes;
  kept.keepdims = true;
  const Tensor center = mean_as(label, t, kept, combine_type(t));
  return has_wider(t) ? spread(label, t, axes, center, divisor, root)
                      : scaled_spread(label, t, axes, center, divisor, root);
}

Tensor norm_of(const TensorImpl& t, const ReducedAxes& axes) {
  const DType type = combine_type(t);
  const bool wide = has_wider(t);
  const Tensor largest = wide ? Tensor() : magnitude("norm", t, axes);
  std::vector<const TensorImpl*> inputs{&t}, scales;
  if (!wide) {
    inputs.push_back(largest.impl());
    scales.push_back(largest.impl());
  }
  return reduce({"norm", ReduceOp::Sum, type, result_type(t.dtype), inputs,
                 [&](ProgramWriter& p, const std::vector<Value>& v) {
                   Value x = p.cast(v[0], type);
                   if (!wide) x = p.apply(ScalarOp::divide, type, x, safe_scale(p, v[1]));
                   return p.apply(ScalarOp::multiply, type, x, x);
                 },
                 scales,
                 [&](ProgramWriter& p, Value sum, const std::vector<Value>& v) {
                   const Value root = p.apply(ScalarOp::sqrt, type, sum);
                   return wide ? root : p.apply(ScalarOp::multiply, type, root, safe_scale(p, v[0]));
                 }},
                axes);
}

// log(sum(exp(x - m))) + m with m the largest element, or 0 where that is infinite, so that infinite elements
// count as exp says.
Tensor log_sum_exp(const TensorImpl& t, const ReducedAxes& axes) {
  const DType type = combine_type(t);
  ReducedAxes kept = axes;
  kept.keepdims = true;
  const Tensor largest = reduce({"logsumexp", ReduceOp::Max, type, type, {&t}}, kept);
  const auto shift = [&](ProgramWriter& p, Value m) {
    return p.apply(ScalarOp::where, type, p.apply(ScalarOp::isfinite, DType::Bool, m), m,
                   constant(p, type, 0));
  };
  return reduce({"logsumexp",
                 ReduceOp::Sum,
                 type,
                 result_type(t.dtype),
                 {&t, largest.impl()},
                 [&](ProgramWriter& p, const std::vector<Value>& v) {
                   return p.apply(ScalarOp::exp, type,
                                  p.apply(ScalarOp::subtract, type, p.cast(v[0], type), shift(p, v[1])));
                 },
                 {largest.impl()},
                 [&](ProgramWriter& p, Value sum, const std::vector<Value>& v) {
                   return p.apply(ScalarOp::add, type, p.apply(ScalarOp::log, type, sum), shift(p, v[0]));
                 }},
                axes);
}

}  // namespace
}  // namespace backplane::internal

namespace backplane::inline v0 {

using internal::impl_of;
using internal::resolve_axes;

Tensor mean(const Tensor& x, const Axes& axes, bool keepdims) {
  const auto& t = impl_of(x, "mean");
  const auto reduced = resolve_axes(axes, t, keepdims, "mean");
  if (reduced.count(t.shape) == 0)
    return internal::nothing(t, reduced, std::numeric_limits<double>::quiet_NaN());
  return internal::mean_as("mean", t, reduced, internal::result_type(t.dtype));
}

Tensor var(const Tensor& x, const Axes& axes, bool keepdims, double correction) {
  return internal::variance("var", x, axes, keepdims, correction, false);
}

Tensor std(const Tensor& x, const Axes& axes, bool keepdims, double correction) {
  return internal::variance("std", x, axes, keepdims, correction, true);
}

Tensor norm(const Tensor& x, const Axes& axes, bool keepdims) {
  const auto& t = impl_of(x, "norm");
  const auto reduced = resolve_axes(axes, t, keepdims, "norm");
  return reduced.count(t.shape) == 0 ? internal::nothing(t, reduced, 0) : internal::norm_of(t, reduced);
}

Tensor logsumexp(const Tensor& x, const Axes& axes, bool keepdims) {
  const auto& t = impl_of(x, "logsumexp");
  const auto reduced = resolve_axes(axes, t, keepdims, "logsumexp");
  if (reduced.count(t.shape) == 0)
    return internal::nothing(t, reduced, -std::numeric_limits<double>::infinity());
  return internal::log_sum_exp(t, reduced);
}

}  // namespace backplane::inline v0
