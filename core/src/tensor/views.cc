// SPDX-License-Identifier: Apache-2.0
//
// Tensor's views: new shapes, strides and offsets over the same storage.
#include <fmt/format.h>

#include <algorithm>

#include "tensor/tensor_impl.h"

namespace backplane::inline v0 {
namespace {

using internal::impl_of;
using internal::make_view;
using internal::normalize_axis;
using internal::TensorImpl;

// Python's rule: bounds are counted from the end when negative, then cut to the dimension.
int64_t clamp_bound(int64_t bound, int64_t size, int64_t low, int64_t high) {
  if (bound < 0) bound = bound < -size ? low : bound + size;
  return std::clamp(bound, low, high);
}

struct Range {
  int64_t start, count;
};

Range resolve(const Slice& slice, int64_t size) {
  if (slice.step == 0) throw Error(ErrorCode::InvalidArgument, "slice: the step is 0");
  const bool forward = slice.step > 0;
  const int64_t low = forward ? 0 : -1, high = forward ? size : size - 1;
  const int64_t start = slice.start ? clamp_bound(*slice.start, size, low, high) : (forward ? low : high);
  const int64_t stop = slice.stop ? clamp_bound(*slice.stop, size, low, high) : (forward ? high : low);
  const int64_t distance = forward ? stop - start : start - stop;
  if (distance <= 0) return {0, 0};
  // A step beyond the dimension takes one element; cutting it keeps the product of stride and step small.
  const uint64_t step = forward ? static_cast<uint64_t>(slice.step) : 0 - static_cast<uint64_t>(slice.step);
  return {start, static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / step + 1)};
}

// Fills in a size of -1. InvalidArgument unless the number of elements is the same.
Shape resolve_shape(const TensorImpl& tensor, const Shape& wanted) {
  Shape shape = wanted;
  int unknown = -1;
  int64_t known = 1;
  bool fits = true;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == -1 && unknown < 0)
      unknown = i;
    else if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known))
      fits = false;
  }
  if (fits && unknown >= 0) {
    fits = known != 0 && tensor.size % known == 0;
    if (fits) shape[unknown] = tensor.size / known;
  } else {
    fits = fits && known == tensor.size;
  }
  if (!fits)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("reshape: the {} elements of {} do not fit shape {}", tensor.size,
                            internal::describe(tensor), wanted.str()));
  return shape;
}

// The strides with which the same memory has the new shape, if there are any: groups of old dimensions that
// are laid out as one are matched with groups of new ones.
bool reshape_strides(const TensorImpl& t, const Shape& shape, Strides* result) {
  Shape old_shape;
  Strides old_strides;
  for (int i = 0; i < t.shape.rank(); ++i) {
    if (t.shape[i] == 1) continue;
    old_shape.push_back(t.shape[i]);
    old_strides.push_back(t.strides[i]);
  }
  *result = shape;
  int o = old_shape.rank() - 1, n = shape.rank() - 1;
  while (o >= 0) {
    int64_t group = old_shape[o];
    int first = o;
    while (first > 0 && old_strides[first - 1] == old_strides[first] * old_shape[first])
      group *= old_shape[--first];
    int64_t stride = old_strides[o];
    int64_t filled = 1;
    while (filled < group && n >= 0) {
      (*result)[n] = stride;
      stride *= shape[n];
      filled *= shape[n--];
    }
    if (filled != group) return false;
    o = first - 1;
  }
  for (; n >= 0; --n) (*result)[n] = 1;  // sizes of 1
  return true;
}

}  // namespace

Tensor Tensor::select(int axis, int64_t index) const {
  const TensorImpl& t = impl_of(*this, "select");
  axis = normalize_axis(axis, t, "select");
  const int64_t size = t.shape[axis];
  if (index < -size || index >= size)
    throw Error(ErrorCode::InvalidArgument, fmt::format("select: index {} is out of range for axis {} of {}",
                                                        index, axis, internal::describe(t)));
  Shape shape = t.shape;
  Strides strides = t.strides;
  const int64_t offset = t.offset + (index < 0 ? index + size : index) * strides[axis];
  shape.erase(axis);
  strides.erase(axis);
  return make_view(t, shape, strides, offset);
}

Tensor Tensor::slice(int axis, Slice range) const {
  const TensorImpl& t = impl_of(*this, "slice");
  axis = normalize_axis(axis, t, "slice");
  const Range r = resolve(range, t.shape[axis]);
  Shape shape = t.shape;
  Strides strides = t.strides;
  const int64_t offset = t.offset + r.start * strides[axis];
  shape[axis] = r.count;
  if (r.count > 1) strides[axis] *= range.step;
  return make_view(t, shape, strides, offset);
}

Tensor Tensor::slice(std::initializer_list<Slice> ranges) const {
  Tensor result = *this;
  int axis = 0;
  for (const Slice& range : ranges) result = result.slice(axis++, range);
  return result;
}

Tensor Tensor::flip(std::optional<int> axis) const {
  const TensorImpl& t = impl_of(*this, "flip");
  const int only = axis ? normalize_axis(*axis, t, "flip") : -1;
  Strides strides = t.strides;
  int64_t offset = t.offset;
  for (int i = 0; i < t.shape.rank(); ++i) {
    if (axis && i != only) continue;
    if (t.shape[i] > 0) offset += (t.shape[i] - 1) * strides[i];
    strides[i] = -strides[i];
  }
  return make_view(t, t.shape, strides, offset);
}

Tensor Tensor::permute(const Shape& axes) const {
  const TensorImpl& t = impl_of(*this, "permute");
  const int rank = t.shape.rank();
  if (axes.rank() != rank)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("permute: axes {} for {}", axes.str(), internal::describe(t)));
  Shape shape = t.shape;
  Strides strides = t.strides;
  uint32_t seen = 0;
  for (int i = 0; i < rank; ++i) {
    const int axis = normalize_axis(axes[i], t, "permute");
    if (seen & (1u << axis))
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("permute: axis {} stands twice in {}", axis, axes.str()));
    seen |= 1u << axis;
    shape[i] = t.shape[axis];
    strides[i] = t.strides[axis];
  }
  return make_view(t, shape, strides, t.offset);
}

Tensor Tensor::transpose(int a, int b) const {
  const TensorImpl& t = impl_of(*this, "transpose");
  a = normalize_axis(a, t, "transpose");
  b = normalize_axis(b, t, "transpose");
  Shape shape = t.shape;
  Strides strides = t.strides;
  std::swap(shape[a], shape[b]);
  std::swap(strides[a], strides[b]);
  return make_view(t, shape, strides, t.offset);
}

Tensor Tensor::expand_dims(int axis) const {
  const TensorImpl& t = impl_of(*this, "expand_dims");
  axis = normalize_axis(axis, t.shape.rank() + 1, "expand_dims");
  Shape shape = t.shape;
  Strides strides = t.strides;
  strides.insert(axis, axis < t.shape.rank() ? t.strides[axis] * std::max<int64_t>(t.shape[axis], 1) : 1);
  shape.insert(axis, 1);
  return make_view(t, shape, strides, t.offset);
}

Tensor Tensor::squeeze(std::optional<int> axis) const {
  const TensorImpl& t = impl_of(*this, "squeeze");
  const int only = axis ? normalize_axis(*axis, t, "squeeze") : -1;
  if (axis && t.shape[only] != 1)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("squeeze: axis {} of {} has not size 1", only, internal::describe(t)));
  Shape shape;
  Strides strides;
  for (int i = 0; i < t.shape.rank(); ++i) {
    if (t.shape[i] == 1 && (!axis || i == only)) continue;
    shape.push_back(t.shape[i]);
    strides.push_back(t.strides[i]);
  }
  return make_view(t, shape, strides, t.offset);
}

Tensor Tensor::broadcast_to(const Shape& shape) const {
  const TensorImpl& t = impl_of(*this, "broadcast_to");
  internal::checked_size(shape, t.dtype, "broadcast_to");
  const std::optional<Shape> common = internal::common_shape(t.shape, shape);
  if (shape.rank() < t.shape.rank() || !common || !(*common == shape))
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("broadcast_to: {} does not broadcast to {}", internal::describe(t), shape.str()));
  return make_view(t, shape, internal::broadcast_strides(t, shape), t.offset);
}

Tensor Tensor::diagonal(int k) const {
  const TensorImpl& t = impl_of(*this, "diagonal");
  const int rank = t.shape.rank();
  if (rank < 2)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("diagonal: {} has fewer than 2 dimensions", internal::describe(t)));
  const int64_t row = k < 0 ? -static_cast<int64_t>(k) : 0, column = k > 0 ? k : 0;
  const int64_t count = std::max<int64_t>(0, std::min(t.shape[rank - 2] - row, t.shape[rank - 1] - column));
  Shape shape = t.shape;
  Strides strides = t.strides;
  const int64_t offset =
      t.offset + (count > 0 ? row * t.strides[rank - 2] + column * t.strides[rank - 1] : 0);
  strides[rank - 2] += strides[rank - 1];
  shape[rank - 2] = count;
  shape.resize(rank - 1);
  strides.resize(rank - 1);
  return make_view(t, shape, strides, offset);
}

Tensor Tensor::as_strided(const Shape& shape, const Strides& strides, int64_t offset) const {
  const TensorImpl& t = impl_of(*this, "as_strided");
  const int64_t size = internal::checked_size(shape, t.dtype, "as_strided");
  const auto available = static_cast<int64_t>(t.storage->bytes() / t.itemsize());
  bool inside = shape.rank() == strides.rank() && offset >= 0;
  int64_t low = offset, high = offset;
  for (int i = 0; inside && size > 0 && i < shape.rank(); ++i) {
    int64_t reach = 0;
    int64_t& end = strides[i] < 0 ? low : high;
    inside = !__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) &&
             !__builtin_add_overflow(end, reach, &end);
  }
  inside = inside && (size == 0 ? offset <= available : low >= 0 && high < available);
  if (!inside)
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("as_strided: shape {} with strides {} at offset {} leaves the {} elements of the memory",
                    shape.str(), strides.str(), offset, available));
  return make_view(t, shape, strides, offset);
}

Tensor Tensor::reshape(const Shape& wanted) const {
  const TensorImpl& t = impl_of(*this, "reshape");
  const Shape shape = resolve_shape(t, wanted);
  if (t.contiguous || t.size == 0) return make_view(t, shape, internal::row_major_strides(shape), t.offset);
  Strides strides;
  if (reshape_strides(t, shape, &strides)) return make_view(t, shape, strides, t.offset);
  const Tensor copy = clone();
  return make_view(*copy.impl(), shape, internal::row_major_strides(shape), copy.impl()->offset);
}

Tensor Tensor::flatten(int first, int last) const {
  const TensorImpl& t = impl_of(*this, "flatten");
  if (t.shape.empty()) return reshape({1});
  first = normalize_axis(first, t, "flatten");
  last = normalize_axis(last, t, "flatten");
  if (first > last)
    throw Error(ErrorCode::InvalidArgument, fmt::format("flatten: axis {} comes after axis {}", first, last));
  Shape shape;
  int64_t merged = 1;
  for (int i = 0; i < t.shape.rank(); ++i) {
    if (i >= first && i <= last) merged *= t.shape[i];
    if (i < first || i > last) shape.push_back(t.shape[i]);
    if (i == last) shape.push_back(merged);
  }
  return reshape(shape);
}

}  // namespace backplane::inline v0
