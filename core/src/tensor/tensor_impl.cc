// SPDX-License-Identifier: Apache-2.0
#include "tensor/tensor_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "memory/spare_objects.h"
#include "tensor/iteration.h"

namespace backplane::internal {
namespace {

// The first and last element, counted from the storage's start, that a tensor may touch.
struct Extent {
  int64_t low, high;
};
Extent extent_of(const TensorImpl& t) {
  Extent e{t.offset, t.offset};
  for (int i = 0; i < t.shape.rank(); ++i) {
    const int64_t reach = (t.shape[i] - 1) * t.strides[i];
    (reach < 0 ? e.low : e.high) += reach;
  }
  return e;
}

}  // namespace

void* TensorImpl::operator new(size_t size, const std::nothrow_t&) noexcept {
  return SpareObjects<TensorImpl>::try_take(size);
}
void TensorImpl::operator delete(void* memory) noexcept { SpareObjects<TensorImpl>::give(memory); }

void retain(TensorImpl* impl) noexcept { impl->refs.fetch_add(1, std::memory_order_relaxed); }

void release(TensorImpl* impl) noexcept {
  // Whoever holds the only reference needs no locked instruction: nobody else can add one.
  if (impl->refs.load(std::memory_order_acquire) != 1 &&
      impl->refs.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  impl->storage->release();
  delete impl;
}

TensorImpl& impl_of(const Tensor& tensor, const char* what) {
  if (!tensor.defined())
    throw Error(ErrorCode::InvalidArgument, fmt::format("{}: the tensor is undefined", what));
  return *tensor.impl();
}

int64_t checked_size(const Shape& shape, DType type, const char* what) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  uint64_t bytes = size_of(type);
  if (bytes == 0) throw Error(ErrorCode::InvalidArgument, fmt::format("{}: not an element type", what));
  bool empty = false, overflow = false;
  for (int64_t size : shape) {
    if (size < 0)
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("{}: negative size in shape {}", what, shape.str()));
    empty |= size == 0;
    if (size != 0)
      overflow |= __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes) || bytes > kMost;
  }
  if (empty) return 0;
  if (overflow) [[unlikely]]
    throw Error(ErrorCode::InvalidArgument, fmt::format("{}: shape {} of {} needs more than 2^63 bytes", what,
                                                        shape.str(), to_string(type)));
  return static_cast<int64_t>(bytes / size_of(type));
}

Strides row_major_strides(const Shape& shape) noexcept {
  Strides strides = shape;
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

bool is_row_major(const Shape& shape, const Strides& strides) noexcept {
  int64_t step = 1;
  bool matches = true;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 0) return true;
    matches &= shape[i] == 1 || strides[i] == step;
    step *= shape[i];
  }
  return matches;
}

namespace {

[[noreturn]] [[gnu::cold]] void no_header(Storage* storage) {
  storage->release();
  throw Error(ErrorCode::OutOfMemory, "out of host memory");
}

}  // namespace

Tensor make_over(Storage* storage, const Shape& shape, DType type) {
  auto* impl =
      new (std::nothrow) TensorImpl{1, type, true, storage, 0, shape.size(), shape, row_major_strides(shape)};
  if (impl == nullptr) [[unlikely]]
    no_header(storage);
  return Tensor(impl);
}

Tensor make_tensor(DeviceState& device, const Shape& shape, DType type, const char* what) {
  return make_tensor(device, shape, checked_size(shape, type, what), type, what);
}

Tensor make_tensor(DeviceState& device, const Shape& shape, int64_t size, DType type, const char* what) {
  try {
    return make_over(Storage::allocate(device, static_cast<uint64_t>(size) * size_of(type)), shape, type);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::OutOfMemory) throw;
    throw Error(error.code(), fmt::format("{}: {}", what, error.what()), error.vendor_code());
  }
}

Tensor make_view(const TensorImpl& base, const Shape& shape, const Strides& strides, int64_t offset,
                 DType type) {
  base.storage->retain();
  auto* impl = new (std::nothrow)
      TensorImpl{1, type, is_row_major(shape, strides), base.storage, offset, shape.size(), shape, strides};
  if (impl == nullptr) [[unlikely]]
    no_header(base.storage);
  return Tensor(impl);
}

Tensor make_view(const TensorImpl& base, const Shape& shape, const Strides& strides, int64_t offset) {
  return make_view(base, shape, strides, offset, base.dtype);
}

namespace {

template <typename Describe>
int from_start(int64_t axis, int rank, const char* what, Describe&& describe_whole) {
  if (axis < -rank || axis >= rank)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}: axis {} is out of range for {}", what, axis, describe_whole()));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace

int normalize_axis(int64_t axis, const TensorImpl& tensor, const char* what) {
  return from_start(axis, tensor.shape.rank(), what, [&] { return describe(tensor); });
}

int normalize_axis(int64_t axis, int rank, const char* what) {
  return from_start(axis, rank, what, [&] { return fmt::format("{} dimensions", rank); });
}

std::optional<Shape> common_shape(const Shape& a, const Shape& b) noexcept {
  if (a == b) return a;
  const int rank = std::max(a.rank(), b.rank());
  Shape shape;
  shape.resize(rank);
  for (int i = 0; i < rank; ++i) {
    const int ai = i - (rank - a.rank()), bi = i - (rank - b.rank());
    const int64_t x = ai < 0 ? 1 : a[ai], y = bi < 0 ? 1 : b[bi];
    if (x != y && x != 1 && y != 1) return std::nullopt;
    shape[i] = x == 1 ? y : x;
  }
  return shape;
}

Shape broadcast_shapes(const Shape& a, const Shape& b, const char* what) {
  if (std::optional<Shape> shape = common_shape(a, b)) return *shape;
  throw Error(ErrorCode::InvalidArgument,
              fmt::format("{}: shapes {} and {} do not broadcast", what, a.str(), b.str()));
}

Strides broadcast_strides(const TensorImpl& tensor, const Shape& shape) noexcept {
  Strides strides = shape;
  const int lead = shape.rank() - tensor.shape.rank();
  for (int i = 0; i < shape.rank(); ++i)
    strides[i] = i < lead || tensor.shape[i - lead] == 1 ? 0 : tensor.strides[i - lead];
  return strides;
}

bool same_elements(const TensorImpl& a, const TensorImpl& b) noexcept {
  if (a.storage != b.storage || a.dtype != b.dtype || a.offset != b.offset || !(a.shape == b.shape))
    return false;
  for (int i = 0; i < a.shape.rank(); ++i)
    if (a.shape[i] > 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

bool may_overlap(const TensorImpl& a, const TensorImpl& b) noexcept {
  if (a.storage != b.storage || a.size == 0 || b.size == 0) return false;
  const Extent x = extent_of(a), y = extent_of(b);
  const auto xs = static_cast<int64_t>(a.itemsize()), ys = static_cast<int64_t>(b.itemsize());
  return x.low * xs < (y.high + 1) * ys && y.low * ys < (x.high + 1) * xs;
}

// Sorted by stride, each dimension must step over everything the narrower ones reach.
bool self_overlaps(const TensorImpl& tensor) {
  if (tensor.contiguous || tensor.size <= 1) return false;
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size
  for (int i = 0; i < tensor.shape.rank(); ++i)
    if (tensor.shape[i] > 1) dims.emplace_back(std::abs(tensor.strides[i]), tensor.shape[i]);
  std::sort(dims.begin(), dims.end());
  int64_t reach = 0;
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

void check_writable(const TensorImpl& tensor, const char* what) {
  if (tensor.storage->read_only())
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}: the result, {}, is read-only", what, describe(tensor)));
  if (!tensor.contiguous && self_overlaps(tensor))
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("{}: the result, {}, has elements that share memory (a broadcast or overlapping view)",
                    what, describe(tensor)));
}

void check_same_device(const TensorImpl& a, const TensorImpl& b, const char* what) {
  if (&a.device() == &b.device()) return;
  throw Error(ErrorCode::InvalidArgument,
              fmt::format("{}: operands on different devices: {} and {}; copy one with to(\"{}\") first",
                          what, describe(a), describe(b), a.device().name));
}

std::string describe(const TensorImpl& tensor) {
  return fmt::format("{} {} on {}", to_string(tensor.dtype), tensor.shape.str(), tensor.device().name);
}

}  // namespace backplane::internal
