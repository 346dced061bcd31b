// SPDX-License-Identifier: Apache-2.0
//
// take, take_along_axis, scatter, boolean masks, nonzero: the index family.
#include <fmt/format.h>

#include "backplane/ops/elementwise.h"
#include "backplane/ops/manipulation.h"
#include "ops/reduce.h"
#include "tensor/iteration.h"

namespace backplane::internal {
namespace {

using plugin::IndexOp;

plugin::KernelDesc describe_kernel(IndexOp op, DType element, DType index) {
  plugin::KernelDesc desc{};
  desc.struct_size = sizeof desc;
  desc.family = plugin::Family::Index;
  desc.op = static_cast<uint8_t>(op);
  desc.layout = plugin::Layout::Strided;
  desc.types[0] = element;
  desc.types[1] = index;
  return desc;
}

Tensor as_indices(const Tensor& indices, const char* what) {
  const DType type = impl_of(indices, what).dtype;
  if (!is_integer(type))
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}: the indices are {}, not integers", what, describe(*indices.impl())));
  return type == DType::Int32 || type == DType::Int64 ? indices : indices.astype(DType::Int64);
}

// One launch of gather or scatter over `space_shape`. Operands in the boundary's order: output, index, and
// source or values, whose strides are given.
struct IndexCall {
  const char* label;
  IndexOp op;
  const TensorImpl* operands[3];
  Strides strides[3];
  Shape shape;
  int64_t axis_size, axis_stride;
};

void run(const IndexCall& call) {
  DeviceState& device = call.operands[0]->device();
  device.ensure_ready();
  Launch launch(call.label);
  for (const TensorImpl* t : call.operands) launch.add_operand(*t->storage, t->byte_offset());
  IterationSpace space;
  for (int i = 0; i < call.shape.rank(); ++i) space.add_dimension(call.shape[i], call.strides, i);
  // Scatter's order is row-major, and so are the positions that an error names.
  simplify(space, 3, 0, space.rank, Order::RowMajor);
  fill_launch(launch, space);
  launch.args.axis_size = call.axis_size;
  launch.args.axis_stride = call.axis_stride;
  const auto desc = describe_kernel(call.op, call.operands[0]->dtype, call.operands[1]->dtype);
  const std::string failure = fmt::format("{}: an index is out of range for an axis of size {} on {}",
                                          call.label, call.axis_size, device.name);
  launch.run(device, device.kernels->get(desc, call.label), plugin::Family::Index, &failure);
}

void check_source(const char* what, const TensorImpl& x, const TensorImpl& indices, int axis) {
  check_same_device(x, indices, what);
  if (x.shape[axis] == 0 && indices.size != 0)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}: axis {} of {} has no elements", what, axis, describe(x)));
}

// The result's shape is x's with `axis` replaced by the indices' dimensions.
Tensor take_elements(const Tensor& x, const Tensor& index_tensor, int axis) {
  const TensorImpl& t = impl_of(x, "take");
  const Tensor indices = as_indices(index_tensor, "take");
  const TensorImpl& ix = *indices.impl();
  axis = normalize_axis(axis, t, "take");
  check_source("take", t, ix, axis);
  Shape shape;
  Strides source, index;
  const auto add = [&](int64_t size, int64_t in_source, int64_t in_index) {
    shape.push_back(size);
    source.push_back(in_source);
    index.push_back(in_index);
  };
  for (int i = 0; i < axis; ++i) add(t.shape[i], t.strides[i], 0);
  for (int i = 0; i < ix.shape.rank(); ++i) add(ix.shape[i], 0, ix.strides[i]);
  for (int i = axis + 1; i < t.shape.rank(); ++i) add(t.shape[i], t.strides[i], 0);
  Tensor result = make_tensor(t.device(), shape, t.dtype, "take");
  if (result.size() == 0) return result;
  run({"take",
       IndexOp::Gather,
       {result.impl(), &ix, &t},
       {result.strides(), index, source},
       shape,
       t.shape[axis],
       t.strides[axis]});
  return result;
}

// Indices broadcast against x in all dimensions but the axis.
Tensor broadcast_indices(const char* what, const TensorImpl& x, const Tensor& indices, int axis) {
  if (indices.rank() != x.shape.rank())
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}: indices {} for {}", what, describe(*indices.impl()), describe(x)));
  Shape shape = x.shape;
  shape[axis] = indices.size(axis);
  return indices.broadcast_to(broadcast_shapes(indices.shape(), shape, what));
}

// x's strides over the indices' shape: 0 along the axis, whose steps the indices give.
Strides strides_beside_axis(const TensorImpl& x, const Shape& shape, int axis) {
  Strides strides = x.strides;
  for (int i = 0; i < shape.rank(); ++i)
    if (i == axis || x.shape[i] == 1) strides[i] = 0;
  return strides;
}

Tensor take_along(const Tensor& x, const Tensor& index_tensor, int axis) {
  const TensorImpl& t = impl_of(x, "take_along_axis");
  axis = normalize_axis(axis, t, "take_along_axis");
  const Tensor indices =
      broadcast_indices("take_along_axis", t, as_indices(index_tensor, "take_along_axis"), axis);
  check_source("take_along_axis", t, *indices.impl(), axis);
  Tensor result = make_tensor(t.device(), indices.shape(), t.dtype, "take_along_axis");
  if (result.size() == 0) return result;
  run({"take_along_axis",
       IndexOp::Gather,
       {result.impl(), indices.impl(), &t},
       {result.strides(), indices.strides(), strides_beside_axis(t, indices.shape(), axis)},
       indices.shape(),
       t.shape[axis],
       t.strides[axis]});
  return result;
}

void scatter_into(const TensorImpl& t, const Tensor& index_tensor, const Operand& values, int axis) {
  check_writable(t, "scatter");
  axis = normalize_axis(axis, t, "scatter");
  const Tensor ix = as_indices(index_tensor, "scatter");
  if (ix.rank() != t.shape.rank())
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("scatter: indices {} for {}", describe(*ix.impl()), describe(t)));
  for (int i = 0; i < t.shape.rank(); ++i)
    if (i != axis && ix.size(i) != t.shape[i] && ix.size(i) != 1)
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("scatter: indices {} for {}", describe(*ix.impl()), describe(t)));
  Tensor indices = broadcast_indices("scatter", t, ix, axis);
  check_source("scatter", t, *indices.impl(), axis);
  Tensor written = values.tensor() != nullptr ? values.tensor()->astype(t.dtype, false)
                                              : full({}, values.scalar(), t.dtype, Device(&t.device()));
  check_same_device(t, *written.impl(), "scatter");
  written = written.broadcast_to(indices.shape());
  if (indices.size() == 0) return;
  if (may_overlap(t, *written.impl())) written = written.clone();
  if (may_overlap(t, *indices.impl())) indices = indices.clone();
  run({"scatter",
       IndexOp::Scatter,
       {&t, indices.impl(), written.impl()},
       {strides_beside_axis(t, indices.shape(), axis), indices.strides(), written.strides()},
       indices.shape(),
       t.shape[axis],
       t.strides[axis]});
}

// Flat positions of true elements, in order. The host waits for their number.
Tensor true_positions(const Tensor& mask, const char* what) {
  const Tensor flat = mask.astype(DType::Bool, false).reshape({-1}).contiguous();
  const int64_t n = flat.size();
  DeviceState& device = flat.impl()->device();
  if (n == 0) return empty({0}, DType::Int64, mask.device());
  const Tensor positions = make_tensor(device, {n}, DType::Int64, what);
  const Tensor count = make_tensor(device, {1}, DType::Int64, what);
  device.ensure_ready();
  Launch launch(what);
  launch.outputs = 2;
  for (const Tensor& t : {positions, count, flat})
    launch.add_operand(*t.impl()->storage, t.impl()->byte_offset()).strides[0] = 1;
  launch.args.rank = 1;
  launch.args.shape[0] = n;
  plugin::KernelDesc desc = describe_kernel(IndexOp::Nonzero, DType::Int64, DType::Bool);
  desc.layout = plugin::Layout::Contiguous;
  launch.run(device, device.kernels->get(desc, what), plugin::Family::Index);
  return positions.slice(0, {0, count.item<int64_t>()});
}

}  // namespace
}  // namespace backplane::internal

namespace backplane::inline v0 {

using internal::impl_of;
using internal::store_result;

Tensor take(const Tensor& x, const Tensor& indices, int axis) {
  return internal::take_elements(x, indices, axis);
}
const Tensor& take_out(const Tensor& result, const Tensor& x, const Tensor& indices, int axis) {
  return store_result(result, take(x, indices, axis), "take");
}
Tensor take_along_axis(const Tensor& x, const Tensor& indices, int axis) {
  return internal::take_along(x, indices, axis);
}
const Tensor& take_along_axis_out(const Tensor& result, const Tensor& x, const Tensor& indices, int axis) {
  return store_result(result, take_along_axis(x, indices, axis), "take_along_axis");
}

const Tensor& scatter_(const Tensor& x, const Tensor& indices, const Operand& values, int axis) {
  internal::scatter_into(impl_of(x, "scatter"), indices, values, axis);
  return x;
}
Tensor scatter(const Tensor& x, const Tensor& indices, const Operand& values, int axis) {
  Tensor result = impl_of(x, "scatter").shape.empty() ? x : x.clone();
  scatter_(result, indices, values, axis);
  return result;
}
const Tensor& scatter_out(const Tensor& result, const Tensor& x, const Tensor& indices, const Operand& values,
                          int axis) {
  return store_result(result, scatter(x, indices, values, axis), "scatter");
}

Tensor index(const Tensor& x, const Tensor& mask) {
  const Shape& shape = impl_of(x, "index").shape;
  const Shape& leading = impl_of(mask, "index").shape;
  internal::check_same_device(*x.impl(), *mask.impl(), "index");
  bool fits = mask.dtype() == DType::Bool && leading.rank() <= shape.rank();
  for (int i = 0; fits && i < leading.rank(); ++i) fits = leading[i] == shape[i];
  if (!fits)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("index: a mask {} for {}", internal::describe(*mask.impl()),
                            internal::describe(*x.impl())));
  Shape merged{leading.size()};
  for (int i = leading.rank(); i < shape.rank(); ++i) merged.push_back(shape[i]);
  return take(x.reshape(merged), internal::true_positions(mask, "index"), 0);
}

std::vector<Tensor> nonzero(const Tensor& x) {
  const Shape& shape = impl_of(x, "nonzero").shape;
  if (shape.empty())
    throw Error(ErrorCode::InvalidArgument, "nonzero: a 0-dimensional tensor has no coordinates");
  Tensor rest = internal::true_positions(x, "nonzero");
  std::vector<Tensor> coordinates(static_cast<size_t>(shape.rank()));
  for (int i = shape.rank() - 1; i >= 0; --i) {
    const int64_t size = shape[i] == 0 ? 1 : shape[i];
    coordinates[static_cast<size_t>(i)] = i == 0 ? rest : remainder(rest, size);
    if (i > 0) rest = floor_divide(rest, size);
  }
  return coordinates;
}

}  // namespace backplane::inline v0
