// SPDX-License-Identifier: Apache-2.0
#include "copy/transfer.h"
#include "tensor/iteration.h"
#include "tensor/tensor_impl.h"

namespace backplane::internal {
namespace {

constexpr DType kBySize[] = {DType::UInt8,  DType::UInt8,  DType::UInt16, DType::UInt16, DType::UInt32,
                             DType::UInt32, DType::UInt32, DType::UInt32, DType::UInt64};

plugin::KernelDesc copy_desc(DType type, plugin::Layout layout) {
  plugin::KernelDesc desc{};
  desc.struct_size = sizeof desc;
  desc.family = plugin::Family::Copy;
  desc.layout = layout;
  desc.types[0] = kBySize[size_of(type)];
  return desc;
}

// A contiguous tensor with the same elements, on the same device.
Tensor packed(const TensorImpl& tensor, const char* label) {
  Tensor copy = make_tensor(tensor.device(), tensor.shape, tensor.dtype, label);
  copy_strided(*copy.impl(), tensor, label);
  return copy;
}

void copy_contiguous(const TensorImpl& dst, const TensorImpl& src) {
  copy_bytes(*dst.storage, dst.byte_offset(), *src.storage, src.byte_offset(), src.nbytes());
}

}  // namespace

void copy_strided(const TensorImpl& dst, const TensorImpl& src, const char* label) {
  if (dst.size == 0) return;
  DeviceState& device = dst.device();
  device.ensure_ready();
  if (dst.contiguous && src.contiguous) return copy_contiguous(dst, src);
  const Strides strides[2] = {dst.strides, src.strides};
  IterationSpace space;
  for (int i = 0; i < dst.shape.rank(); ++i) space.add_dimension(dst.shape[i], strides, i);
  simplify(space, 2, 0, space.rank, Order::Any);
  Launch launch(label);
  launch.add_operand(*dst.storage, dst.byte_offset());
  launch.add_operand(*src.storage, src.byte_offset());
  fill_launch(launch, space);
  launch.overwrites = dst.covers_storage();
  const auto layout = is_contiguous(space, 2) ? plugin::Layout::Contiguous : plugin::Layout::Strided;
  launch.run(device, device.kernels->get(copy_desc(dst.dtype, layout), label), plugin::Family::Copy);
}

void copy_elements(const TensorImpl& dst, const TensorImpl& src, const char* label) {
  if (dst.size == 0) return;
  if (may_overlap(dst, src)) {
    if (same_elements(dst, src)) return;
    const Tensor copy = packed(src, label);
    return copy_strided(dst, *copy.impl(), label);
  }
  if (dst.contiguous && src.contiguous) return copy_contiguous(dst, src);
  if (&dst.device() == &src.device()) return copy_strided(dst, src, label);
  const Tensor from = src.contiguous ? Tensor() : packed(src, label);
  const TensorImpl& packed_src = src.contiguous ? src : *from.impl();
  if (dst.contiguous) return copy_contiguous(dst, packed_src);
  const Tensor landed = make_tensor(dst.device(), dst.shape, dst.dtype, label);
  copy_contiguous(*landed.impl(), packed_src);
  copy_strided(dst, *landed.impl(), label);
}

}  // namespace backplane::internal
