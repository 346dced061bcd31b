// SPDX-License-Identifier: Apache-2.0
//
// cumulative_sum and cumulative_prod: the scan family.
#include <fmt/format.h>

#include "ops/reduce.h"
#include "tensor/iteration.h"

namespace backplane::internal {
namespace {

Tensor scan(const char* what, plugin::ScanOp op, const Tensor& x, std::optional<int> axis,
            std::optional<DType> asked) {
  const TensorImpl& t = impl_of(x, what);
  if (!axis && t.shape.rank() != 1) return scan(what, op, x.reshape({-1}), 0, asked);
  const int along = normalize_axis(axis.value_or(0), t, what);
  const DType natural = is_floating(t.dtype) ? t.dtype : accumulate_type(t.dtype, t.device());
  const DType type = asked.value_or(natural);
  Tensor result = make_tensor(t.device(), t.shape, type, what);
  if (t.size == 0) return result;
  DeviceState& device = t.device();
  device.ensure_ready();
  plugin::KernelDesc desc{};
  desc.struct_size = sizeof desc;
  desc.family = plugin::Family::Scan;
  desc.op = static_cast<uint8_t>(op);
  desc.layout = plugin::Layout::Strided;
  desc.compute_type = accumulate_type(is_floating(type) || !is_floating(t.dtype) ? type : t.dtype, device);
  desc.types[0] = type;
  desc.types[1] = t.dtype;
  Launch launch(what);
  launch.add_operand(*result.impl()->storage, 0);
  launch.add_operand(*t.storage, t.byte_offset());
  const Strides strides[2] = {result.strides(), t.strides};
  IterationSpace space;
  for (int i = 0; i < t.shape.rank(); ++i)
    if (i != along) space.add_dimension(t.shape[i], strides, i);
  simplify(space, 2, 0, space.rank, Order::Any);
  space.add_dimension(t.shape[along], strides, along);
  fill_launch(launch, space);
  launch.run(device, device.kernels->get(desc, what), plugin::Family::Scan);
  return result;
}

}  // namespace
}  // namespace backplane::internal

namespace backplane::inline v0 {

using plugin::ScanOp;

Tensor cumulative_sum(const Tensor& x, std::optional<int> axis, std::optional<DType> type) {
  return internal::scan("cumulative_sum", ScanOp::Sum, x, axis, type);
}
Tensor cumulative_prod(const Tensor& x, std::optional<int> axis, std::optional<DType> type) {
  return internal::scan("cumulative_prod", ScanOp::Prod, x, axis, type);
}
const Tensor& cumulative_sum_out(const Tensor& result, const Tensor& x, std::optional<int> axis) {
  return internal::store_result(result, cumulative_sum(x, axis), "cumulative_sum");
}
const Tensor& cumulative_prod_out(const Tensor& result, const Tensor& x, std::optional<int> axis) {
  return internal::store_result(result, cumulative_prod(x, axis), "cumulative_prod");
}

}  // namespace backplane::inline v0
