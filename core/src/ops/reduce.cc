// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce.h"

#include <fmt/format.h>

#include "tensor/iteration.h"

namespace backplane::internal {
namespace {

// A reduced dimension's stride in the result is 0; so it is in the epilogue's inputs.
Strides strides_over(const TensorImpl& t, const Shape& shape, const ReducedAxes& axes, bool reduced_to_zero) {
  Strides strides = broadcast_strides(t, shape);
  for (int i = 0; reduced_to_zero && i < shape.rank(); ++i)
    if (axes.reduces(i)) strides[i] = 0;
  return strides;
}

plugin::KernelDesc describe_kernel(const Reduction& r, Launch* launch) {
  plugin::KernelDesc desc{};
  desc.struct_size = sizeof desc;
  desc.family = plugin::Family::Reduce;
  desc.op = static_cast<uint8_t>(r.op);
  desc.layout = plugin::Layout::Strided;
  desc.compute_type = r.compute_type;
  ProgramWriter prologue(r.label), epilogue(r.label);
  std::vector<Value> values;
  for (const TensorImpl* input : r.inputs) values.push_back(prologue.input(input->dtype));
  prologue.output(prologue.cast(r.prologue ? r.prologue(prologue, values) : values[0], r.compute_type));
  const bool positions = r.op == plugin::ReduceOp::ArgMax || r.op == plugin::ReduceOp::ArgMin;
  const Value combined = epilogue.input(positions ? DType::Int64 : r.compute_type);
  values.clear();
  for (const TensorImpl* input : r.epilogue_inputs) values.push_back(epilogue.input(input->dtype));
  epilogue.output(
      epilogue.cast(r.epilogue ? r.epilogue(epilogue, combined, values) : combined, r.result_type));
  desc.program = prologue.program();
  desc.epilogue = epilogue.program();
  for (const ProgramWriter* writer : {&prologue, &epilogue})
    for (uint32_t i = 0; i < writer->program().scalar_count; ++i) launch->add_scalar(writer->scalars()[i]);
  return desc;
}

// Kept dimensions first, then the reduced ones; each group simplified by itself.
void plan(Launch& launch, const std::vector<Strides>& strides, const Shape& shape, const ReducedAxes& axes,
          bool positions) {
  IterationSpace space;
  const int count = static_cast<int>(strides.size());
  for (int i = 0; i < shape.rank(); ++i)
    if (!axes.reduces(i)) space.add_dimension(shape[i], strides, i);
  const int kept = simplify(space, count, 0, space.rank, Order::Any);
  for (int i = 0; i < shape.rank(); ++i)
    if (axes.reduces(i)) space.add_dimension(shape[i], strides, i);
  int reduced = simplify(space, count, kept, space.rank, positions ? Order::RowMajor : Order::Any);
  if (reduced == 0) {  // one element a result: a dimension of size 1 says so
    space.shape[space.rank] = 1;
    for (int i = 0; i < count; ++i) space.strides[i][space.rank] = 0;
    ++space.rank;
    reduced = 1;
  }
  launch.args.reduced_rank = static_cast<uint32_t>(reduced);
  fill_launch(launch, space);
}

}  // namespace

Shape ReducedAxes::result_shape(const Shape& shape) const {
  Shape result;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!reduces(i))
      result.push_back(shape[i]);
    else if (keepdims)
      result.push_back(1);
  }
  return result;
}

Shape ReducedAxes::kept_shape(const Shape& shape) const {
  ReducedAxes kept = *this;
  kept.keepdims = true;
  return kept.result_shape(shape);
}

int64_t ReducedAxes::count(const Shape& shape) const {
  int64_t product = 1;
  for (int i = 0; i < shape.rank(); ++i)
    if (reduces(i)) product *= shape[i];
  return product;
}

ReducedAxes resolve_axes(const Axes& axes, const TensorImpl& tensor, bool keepdims, const char* what) {
  const Shape& shape = tensor.shape;
  ReducedAxes result{0, shape.rank(), keepdims};
  if (axes.all()) {
    result.mask = (1u << shape.rank()) - 1;
    return result;
  }
  for (int64_t axis : axes.list()) {
    const int i = normalize_axis(axis, tensor, what);
    if (result.reduces(i))
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("{}: axis {} stands twice in {}", what, i, axes.list().str()));
    result.mask |= 1u << i;
  }
  return result;
}

DType accumulate_type(DType type, const DeviceState& device) {
  if (type == DType::Bool || is_signed_integer(type)) return DType::Int64;
  if (is_unsigned_integer(type)) return DType::UInt64;
  const bool has_float64 = (device.properties.types >> static_cast<int>(DType::Float64) & 1) != 0;
  if (type == DType::Float64 || (type == DType::Float32 && has_float64)) return DType::Float64;
  return DType::Float32;
}

Tensor reduce(const Reduction& r, const ReducedAxes& axes) {
  const TensorImpl& first = *r.inputs[0];
  const Shape& shape = first.shape;
  DeviceState& device = first.device();
  Tensor result = make_tensor(device, axes.result_shape(shape), r.result_type, r.label);
  if (result.impl()->size == 0) return result;
  const Tensor kept =
      make_view(*result.impl(), axes.kept_shape(shape), row_major_strides(axes.kept_shape(shape)), 0);
  Launch launch(r.label);
  std::vector<Strides> strides;
  const auto add = [&](const TensorImpl& t, bool reduced_to_zero) {
    launch.add_operand(*t.storage, t.byte_offset());
    strides.push_back(strides_over(t, shape, axes, reduced_to_zero));
  };
  add(*kept.impl(), true);
  for (const TensorImpl* input : r.inputs) add(*input, false);
  for (const TensorImpl* input : r.epilogue_inputs) add(*input, true);
  const bool positions = r.op == plugin::ReduceOp::ArgMax || r.op == plugin::ReduceOp::ArgMin;
  const plugin::KernelDesc desc = describe_kernel(r, &launch);
  plan(launch, strides, shape, axes, positions);
  launch.run(device, device.kernels->get(desc, r.label), plugin::Family::Reduce);
  return result;
}

}  // namespace backplane::internal
