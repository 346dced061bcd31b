// SPDX-License-Identifier: Apache-2.0
//
// What a Tensor's handle points to: a storage, and how it is viewed.
#ifndef BACKPLANE_SRC_TENSOR_TENSOR_IMPL_H_
#define BACKPLANE_SRC_TENSOR_TENSOR_IMPL_H_

#include <atomic>
#include <cstdint>
#include <new>
#include <optional>
#include <string>

#include "backplane/tensor.h"
#include "memory/storage.h"

namespace backplane::internal {

struct TensorImpl {
  std::atomic<uint32_t> refs{1};
  DType dtype;
  bool contiguous;   // row-major without gaps
  Storage* storage;  // one reference
  int64_t offset;    // elements
  int64_t size;      // elements
  Shape shape;
  Strides strides;  // elements

  static void* operator new(size_t size, const std::nothrow_t&) noexcept;
  static void operator delete(void* memory) noexcept;

  DeviceState& device() const noexcept { return storage->device(); }
  uint64_t itemsize() const noexcept { return size_of(dtype); }
  uint64_t byte_offset() const noexcept { return static_cast<uint64_t>(offset) * itemsize(); }
  uint64_t nbytes() const noexcept { return static_cast<uint64_t>(size) * itemsize(); }
  // Whether writing every element leaves nothing of what the storage held.
  bool covers_storage() const noexcept { return contiguous && nbytes() == storage->bytes(); }
};

// The implementation behind a handle; InvalidArgument, naming `what`, for an undefined tensor.
TensorImpl& impl_of(const Tensor& tensor, const char* what);

// Checks a shape and gives its number of elements. InvalidArgument for negative sizes or bytes beyond 63
// bits.
int64_t checked_size(const Shape& shape, DType type, const char* what);

Strides row_major_strides(const Shape& shape) noexcept;
bool is_row_major(const Shape& shape, const Strides& strides) noexcept;

// A new row-major tensor with unset elements.
Tensor make_tensor(DeviceState& device, const Shape& shape, DType type, const char* what);
// The same for a shape that has been checked already, with its number of elements.
Tensor make_tensor(DeviceState& device, const Shape& shape, int64_t size, DType type, const char* what);

// A view of `base`'s storage.
Tensor make_view(const TensorImpl& base, const Shape& shape, const Strides& strides, int64_t offset);
Tensor make_view(const TensorImpl& base, const Shape& shape, const Strides& strides, int64_t offset,
                 DType type);

// A row-major tensor over a storage, of which it takes over one reference.
Tensor make_over(Storage* storage, const Shape& shape, DType type);

// Counts from the end when negative; InvalidArgument outside [-rank, rank), naming the tensor if there is
// one.
int normalize_axis(int64_t axis, const TensorImpl& tensor, const char* what);
int normalize_axis(int64_t axis, int rank, const char* what);

// NumPy's rule: nothing where the shapes do not broadcast; InvalidArgument naming both.
std::optional<Shape> common_shape(const Shape& a, const Shape& b) noexcept;
Shape broadcast_shapes(const Shape& a, const Shape& b, const char* what);

// The strides with which a tensor is read as if it had `shape`, to which it broadcasts (checked by the
// caller).
Strides broadcast_strides(const TensorImpl& tensor, const Shape& shape) noexcept;

// Whether both have the very same elements in the same order, and whether any byte of one may be one of the
// other.
bool same_elements(const TensorImpl& a, const TensorImpl& b) noexcept;
bool may_overlap(const TensorImpl& a, const TensorImpl& b) noexcept;

// Whether two of the tensor's elements may share memory (a stride of 0, or overlapping windows).
bool self_overlaps(const TensorImpl& tensor);

// Throws InvalidArgument unless the tensor may be written: not read-only, not overlapping itself.
void check_writable(const TensorImpl& tensor, const char* what);

// Throws InvalidArgument naming both devices when they differ.
void check_same_device(const TensorImpl& a, const TensorImpl& b, const char* what);

// "float32 (2, 3) on cpu:0"
std::string describe(const TensorImpl& tensor);

// Copies elements of one type between layouts on one device; shapes are equal.
void copy_strided(const TensorImpl& dst, const TensorImpl& src, const char* label);

// Copies elements of one type and shape between any layouts and devices.
void copy_elements(const TensorImpl& dst, const TensorImpl& src, const char* label);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_TENSOR_TENSOR_IMPL_H_
