// SPDX-License-Identifier: Apache-2.0
#include "backplane/ops/rowwise.h"

#include <fmt/format.h>

#include "ops/reduce.h"
#include "tensor/iteration.h"

namespace backplane::internal {
namespace {

using plugin::RowwiseOp;

struct Rowwise {
  const char* label;
  RowwiseOp op;
  Tensor x;  // floating
  int axis;
  Tensor weight, bias;  // undefined or (n,)
  double epsilon = 0;
};

plugin::KernelDesc describe_kernel(const Rowwise& r, DType type) {
  plugin::KernelDesc desc{};
  desc.struct_size = sizeof desc;
  desc.family = plugin::Family::Rowwise;
  desc.op = static_cast<uint8_t>(r.op);
  desc.layout = plugin::Layout::Strided;
  desc.types[0] = type;
  desc.compute_type = type == DType::Float64 ? type : DType::Float32;
  desc.flags = static_cast<uint8_t>((r.weight.defined() ? plugin::kRowwiseWeight : 0) |
                                    (r.bias.defined() ? plugin::kRowwiseBias : 0));
  return desc;
}

// A vector's strides over the tensor's shape: only its own dimension is walked.
Strides vector_strides(const Tensor& vector, const Shape& shape, int axis) {
  Strides strides = shape;
  for (int64_t& s : strides) s = 0;
  strides[axis] = vector.strides()[0];
  return strides;
}

void run_into(const TensorImpl& result, const Rowwise& r) {
  if (result.size == 0) return;
  const TensorImpl& x = *r.x.impl();
  DeviceState& device = x.device();
  device.ensure_ready();
  Launch launch(r.label);
  std::vector<Strides> strides;
  const auto add = [&](const TensorImpl& t, const Strides& s) {
    launch.add_operand(*t.storage, t.byte_offset());
    strides.push_back(s);
  };
  add(result, result.strides);
  add(x, x.strides);
  if (r.weight.defined()) add(*r.weight.impl(), vector_strides(r.weight, x.shape, r.axis));
  if (r.bias.defined()) add(*r.bias.impl(), vector_strides(r.bias, x.shape, r.axis));
  plugin::Scalar epsilon{};
  epsilon.f = r.epsilon;
  launch.add_scalar(epsilon);
  IterationSpace space;
  for (int i = 0; i < x.shape.rank(); ++i)
    if (i != r.axis) space.add_dimension(x.shape[i], strides, i);
  simplify(space, static_cast<int>(strides.size()), 0, space.rank, Order::Any);
  space.add_dimension(x.shape[r.axis], strides, r.axis);
  fill_launch(launch, space);
  launch.run(device, device.kernels->get(describe_kernel(r, x.dtype), r.label), plugin::Family::Rowwise);
}

Tensor run(const Rowwise& r) {
  const TensorImpl& x = *r.x.impl();
  Tensor result = make_tensor(x.device(), x.shape, x.dtype, r.label);
  run_into(*result.impl(), r);
  return result;
}

const Tensor& run_out(const Tensor& result, const Rowwise& r) {
  return store_result(result, run(r), r.label);
}

Tensor floating(const Tensor& x, const char* what) {
  return is_floating(impl_of(x, what).dtype) ? x : x.astype(DType::Float32);
}

// A 0-dimensional tensor is one row of one element.
Rowwise along_axis(const char* what, RowwiseOp op, const Tensor& x, int axis) {
  const Tensor values = floating(x, what);
  if (values.rank() == 0 && (axis == 0 || axis == -1)) return {what, op, values.reshape({1}), 0, {}, {}};
  return {what, op, values, normalize_axis(axis, *values.impl(), what), {}, {}};
}

Tensor parameter(const char* what, const char* name, const Tensor& p, const Tensor& x) {
  if (!p.defined()) return p;
  check_same_device(*x.impl(), *p.impl(), what);
  if (p.rank() != 1 || p.size() != x.size(-1))
    throw Error(ErrorCode::InvalidArgument, fmt::format("{}: the {} is {}, the input {}", what, name,
                                                        describe(*p.impl()), describe(*x.impl())));
  return p.astype(x.dtype(), false);
}

Rowwise normalisation(const char* what, RowwiseOp op, const Tensor& x, const Tensor& weight,
                      const Tensor& bias, double epsilon) {
  const Tensor values = floating(x, what);
  const int axis = normalize_axis(-1, *values.impl(), what);
  return {what,
          op,
          values,
          axis,
          parameter(what, "weight", weight, values),
          parameter(what, "bias", bias, values),
          epsilon};
}

}  // namespace
}  // namespace backplane::internal

namespace backplane::inline v0 {

using plugin::RowwiseOp;

Tensor softmax(const Tensor& x, int axis) {
  return internal::run(internal::along_axis("softmax", RowwiseOp::Softmax, x, axis)).reshape(x.shape());
}
const Tensor& softmax_out(const Tensor& result, const Tensor& x, int axis) {
  return internal::store_result(result, softmax(x, axis), "softmax");
}
Tensor log_softmax(const Tensor& x, int axis) {
  return internal::run(internal::along_axis("log_softmax", RowwiseOp::LogSoftmax, x, axis))
      .reshape(x.shape());
}
const Tensor& log_softmax_out(const Tensor& result, const Tensor& x, int axis) {
  return internal::store_result(result, log_softmax(x, axis), "log_softmax");
}

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  return internal::run(internal::normalisation("layer_norm", RowwiseOp::LayerNorm, x, weight, bias, epsilon));
}
const Tensor& layer_norm_out(const Tensor& result, const Tensor& x, const Tensor& weight, const Tensor& bias,
                             double epsilon) {
  return internal::run_out(
      result, internal::normalisation("layer_norm", RowwiseOp::LayerNorm, x, weight, bias, epsilon));
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, double epsilon) {
  return internal::run(internal::normalisation("rms_norm", RowwiseOp::RmsNorm, x, weight, {}, epsilon));
}
const Tensor& rms_norm_out(const Tensor& result, const Tensor& x, const Tensor& weight, double epsilon) {
  return internal::run_out(result,
                           internal::normalisation("rms_norm", RowwiseOp::RmsNorm, x, weight, {}, epsilon));
}

}  // namespace backplane::inline v0
