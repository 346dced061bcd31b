// SPDX-License-Identifier: Apache-2.0
#include "backplane/ops/sorting.h"

#include <fmt/format.h>

#include "backplane/ops/elementwise.h"
#include "backplane/ops/manipulation.h"
#include "ops/reduce.h"
#include "tensor/iteration.h"

namespace backplane::internal {
namespace {

plugin::KernelDesc describe_kernel(plugin::SortOp op, DType type, int flags) {
  plugin::KernelDesc desc{};
  desc.struct_size = sizeof desc;
  desc.family = plugin::Family::Sort;
  desc.op = static_cast<uint8_t>(op);
  desc.layout = plugin::Layout::Strided;
  desc.flags = static_cast<uint8_t>(flags);
  desc.types[0] = type;
  return desc;
}

struct Sorted {
  Tensor values, indices;  // the ones asked for
};

Sorted sort_along(const char* what, const Tensor& x, int axis, bool descending, bool values, bool indices) {
  const TensorImpl& t = impl_of(x, what);
  axis = normalize_axis(axis, t, what);
  Sorted sorted;
  if (values) sorted.values = make_tensor(t.device(), t.shape, t.dtype, what);
  if (indices) sorted.indices = make_tensor(t.device(), t.shape, DType::Int64, what);
  if (t.size == 0) return sorted;
  DeviceState& device = t.device();
  device.ensure_ready();
  Launch launch(what);
  launch.outputs = (values ? 1 : 0) + (indices ? 1 : 0);
  std::vector<Strides> strides;
  for (const Tensor& operand : {sorted.values, sorted.indices, x}) {
    if (!operand.defined()) continue;
    launch.add_operand(*operand.impl()->storage, operand.impl()->byte_offset());
    strides.push_back(operand.strides());
  }
  IterationSpace space;
  for (int i = 0; i < t.shape.rank(); ++i)
    if (i != axis) space.add_dimension(t.shape[i], strides, i);
  simplify(space, static_cast<int>(strides.size()), 0, space.rank, Order::Any);
  space.add_dimension(t.shape[axis], strides, axis);
  fill_launch(launch, space);
  const int flags = (descending ? plugin::kSortDescending : 0) | (values ? plugin::kSortValues : 0) |
                    (indices ? plugin::kSortIndices : 0);
  launch.run(device, device.kernels->get(describe_kernel(plugin::SortOp::Sort, t.dtype, flags), what),
             plugin::Family::Sort);
  return sorted;
}

Tensor search(const Tensor& sorted, const Tensor& values, Side side) {
  const TensorImpl& s = impl_of(sorted, "searchsorted");
  const TensorImpl& v = impl_of(values, "searchsorted");
  check_same_device(s, v, "searchsorted");
  if (s.shape.rank() != 1)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("searchsorted: {} is not 1-dimensional", describe(s)));
  const DType type = promote_types(s.dtype, v.dtype);
  const Tensor haystack = sorted.astype(type, false).contiguous();
  const Tensor needles = values.astype(type, false).contiguous();
  Tensor result = make_tensor(v.device(), v.shape, DType::Int64, "searchsorted");
  if (v.size == 0) return result;
  DeviceState& device = v.device();
  device.ensure_ready();
  Launch launch("searchsorted");
  for (const Tensor& t : {result, needles, haystack})
    launch.add_operand(*t.impl()->storage, t.impl()->byte_offset()).strides[0] = t.is(haystack) ? 0 : 1;
  launch.args.rank = 1;
  launch.args.shape[0] = v.size;
  launch.args.axis_size = haystack.size();
  plugin::KernelDesc desc =
      describe_kernel(plugin::SortOp::Search, DType::Int64, side == Side::Right ? plugin::kSearchRight : 0);
  desc.types[1] = desc.types[2] = type;
  launch.run(device, device.kernels->get(desc, "searchsorted"), plugin::Family::Sort);
  return result;
}

// Where a sorted vector's elements begin anew: the first, and each that differs from the one before. NaN
// differs from NaN.
Tensor group_starts(const Tensor& sorted) {
  const int64_t n = sorted.size();
  const Tensor starts = full({n}, true, DType::Bool, sorted.device());
  if (n > 1)
    not_equal_out(starts.slice(0, {.start = 1}), sorted.slice(0, {1, n}), sorted.slice(0, {0, n - 1}));
  return starts;
}

}  // namespace
}  // namespace backplane::internal

namespace backplane::inline v0 {

using internal::impl_of;
using internal::sort_along;
using internal::store_result;

Tensor sort(const Tensor& x, int axis, bool descending) {
  return sort_along("sort", x, axis, descending, true, false).values;
}
const Tensor& sort_out(const Tensor& result, const Tensor& x, int axis, bool descending) {
  return store_result(result, sort(x, axis, descending), "sort");
}
Tensor argsort(const Tensor& x, int axis, bool descending) {
  return sort_along("argsort", x, axis, descending, false, true).indices;
}
const Tensor& argsort_out(const Tensor& result, const Tensor& x, int axis, bool descending) {
  return store_result(result, argsort(x, axis, descending), "argsort");
}

std::pair<Tensor, Tensor> topk(const Tensor& x, int64_t k, int axis, bool largest) {
  const Shape& shape = impl_of(x, "topk").shape;
  axis = internal::normalize_axis(axis, *x.impl(), "topk");
  if (k < 0 || k > shape[axis])
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("topk: {} of axis {} of {}", k, axis, internal::describe(*x.impl())));
  const auto sorted = sort_along("topk", x, axis, largest, true, true);
  return {sorted.values.slice(axis, {0, k}).contiguous(), sorted.indices.slice(axis, {0, k}).contiguous()};
}

Tensor searchsorted(const Tensor& sorted, const Tensor& values, Side side) {
  return internal::search(sorted, values, side);
}
const Tensor& searchsorted_out(const Tensor& result, const Tensor& sorted, const Tensor& values, Side side) {
  return store_result(result, searchsorted(sorted, values, side), "searchsorted");
}

Tensor unique_values(const Tensor& x) {
  impl_of(x, "unique_values");
  const Tensor sorted = sort(x.reshape({-1}));
  return index(sorted, internal::group_starts(sorted));
}

std::pair<Tensor, Tensor> unique_counts(const Tensor& x) {
  impl_of(x, "unique_counts");
  const Tensor sorted = sort(x.reshape({-1}));
  const Tensor starts = nonzero(internal::group_starts(sorted))[0];
  const Tensor ends =
      concat({starts, full({1}, sorted.size(), DType::Int64, x.device())}).slice(0, {.start = 1});
  if (starts.size() == 0) return {sorted, starts};
  return {take(sorted, starts), subtract(ends, starts)};
}

}  // namespace backplane::inline v0
