// SPDX-License-Identifier: Apache-2.0
//
// Tensor: a typed, strided view of memory on one device.
//
// A Tensor is a shared handle, as in NumPy and PyTorch: copying the handle copies no element, and views share
// their memory. It is as thread-safe as a std::vector: concurrent reads are safe; a write concurrent with any
// other use of the same memory needs the caller's own synchronisation. Work is queued on the device's current
// stream, and order between streams and devices is kept; a failure on the device surfaces at the next read or
// synchronise.
//
// Errors everywhere: InvalidArgument naming shapes, types and devices; OutOfMemory; Unimplemented where the
// device lacks the operator or type. Axes may be negative (counted from the end).
#ifndef BACKPLANE_TENSOR_H_
#define BACKPLANE_TENSOR_H_

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backplane/device.h"
#include "backplane/dtype.h"
#include "backplane/error.h"
#include "backplane/export.h"
#include "backplane/scalar.h"
#include "backplane/shape.h"

namespace backplane::internal {
struct TensorImpl;
BACKPLANE_API void retain(TensorImpl* impl) noexcept;
BACKPLANE_API void release(TensorImpl* impl) noexcept;
}  // namespace backplane::internal

namespace backplane::inline v0 {

class Event;

// start:stop:step with Python's meaning; a missing bound is the end of the dimension on that side.
struct Slice {
  std::optional<int64_t> start = {};
  std::optional<int64_t> stop = {};
  int64_t step = 1;
};

class BACKPLANE_API Tensor {
 public:
  Tensor() noexcept = default;  // no tensor; every use but assignment and defined() is InvalidArgument
  Tensor(const Tensor& other) noexcept : impl_(other.impl_) {
    if (impl_ != nullptr) internal::retain(impl_);
  }
  Tensor(Tensor&& other) noexcept : impl_(other.impl_) { other.impl_ = nullptr; }
  Tensor& operator=(const Tensor& other) noexcept {
    Tensor copy(other);
    std::swap(impl_, copy.impl_);
    return *this;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Tensor() {
    if (impl_ != nullptr) internal::release(impl_);
  }

  bool defined() const noexcept { return impl_ != nullptr; }
  const Shape& shape() const;
  const Strides& strides() const;  // in elements
  int rank() const;
  int64_t size() const;  // number of elements
  int64_t size(int axis) const;
  uint64_t nbytes() const;  // size() * itemsize
  DType dtype() const;
  Device device() const;
  int64_t offset() const;      // in elements, from the start of the memory
  bool is_contiguous() const;  // row-major without gaps

  // Whether both are one tensor (Python's `is`), and whether both use the same memory allocation.
  bool is(const Tensor& other) const noexcept { return impl_ == other.impl_; }
  bool shares_memory_with(const Tensor& other) const;

  // Views: no element is copied.
  Tensor select(int axis, int64_t index) const;  // drops the dimension
  Tensor operator[](int64_t index) const { return select(0, index); }
  Tensor slice(int axis, Slice range) const;
  Tensor slice(std::initializer_list<Slice> ranges) const;  // one for each leading dimension
  Tensor flip(std::optional<int> axis = {}) const;          // all dimensions without an axis
  Tensor permute(const Shape& axes) const;                  // the array API's permute_dims
  Tensor transpose(int a = -2, int b = -1) const;
  Tensor expand_dims(int axis) const;
  Tensor squeeze(std::optional<int> axis = {}) const;
  Tensor broadcast_to(const Shape& shape) const;
  Tensor diagonal(int k = 0) const;  // of the last two dimensions, as the last dimension
  // Any strides within the allocation; overlapping ones are fine to read, not to write.
  Tensor as_strided(const Shape& shape, const Strides& strides, int64_t offset) const;

  // A view where the strides allow, else a copy. One size may be -1.
  Tensor reshape(const Shape& shape) const;
  Tensor flatten(int first = 0, int last = -1) const;

  // This tensor when it is contiguous already, else a contiguous copy; and always a contiguous copy.
  Tensor contiguous() const;
  Tensor clone() const;

  Tensor astype(DType type, bool copy = true) const;  // with copy = false, this tensor when it has that type

  // Moves only if needed: this tensor when it is on `device` already. copy_to always copies.
  Tensor to(const Device& device) const;
  Tensor copy_to(const Device& device) const;

  // Writes into this tensor's elements, broadcasting; `assign` converts the type and takes a tensor of the
  // same device or any other (the one write that may cross devices, as it names both).
  const Tensor& assign(const Tensor& source) const;
  const Tensor& fill(Scalar value) const;

  // Host access. All wait for the work that this tensor depends on, and throw its failures.
  template <typename T>
  T item() const {  // InvalidArgument unless there is exactly one element
    T value;
    read_converted(&value, dtype_of<T>(), 1);
    return value;
  }
  template <typename T>
  std::vector<T> to_vector() const {  // row-major, converted to T
    std::vector<T> values(static_cast<size_t>(size()));
    if constexpr (std::is_same_v<T, bool>) {
      const auto bytes = std::make_unique<bool[]>(values.size());
      read_converted(bytes.get(), DType::Bool, size());
      values.assign(bytes.get(), bytes.get() + values.size());
    } else {
      read_converted(values.data(), dtype_of<T>(), size());
    }
    return values;
  }
  void copy_to_host(void* destination, uint64_t bytes) const;     // row-major, nbytes() bytes
  void copy_from_host(const void* source, uint64_t bytes) const;  // into the elements, row-major

  // The elements themselves, where the device's memory is host memory (CPU), after waiting for work that uses
  // them: element i0, i1, ... is at data<T>()[sum(i * stride)]. InvalidArgument elsewhere or for another
  // type.
  template <typename T>
  T* data() const {
    return static_cast<T*>(host_data(dtype_of<T>()));
  }

  // The vendor's memory object or device pointer (to the allocation, without offset), owned by the tensor.
  void* native_memory() const;

  // An event behind all work queued so far that writes this tensor's memory: what made it, a copy for
  // instance, may return before it is done. Complete already where nothing is queued. See stream.h.
  Event ready() const;

  // Like NumPy's, followed by the type where it is not the default one and the device.
  std::string str() const;

  explicit Tensor(internal::TensorImpl* owned) noexcept : impl_(owned) {}  // takes over one reference
  internal::TensorImpl* impl() const noexcept { return impl_; }

 private:
  void read_converted(void* destination, DType type, int64_t count) const;
  void* host_data(DType type) const;

  internal::TensorImpl* impl_ = nullptr;
};

BACKPLANE_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

// Creation. InvalidArgument for negative sizes and for shapes whose bytes do not fit 63 bits.
BACKPLANE_API Tensor empty(const Shape& shape, DType type = float32, const Device& device = {});
BACKPLANE_API Tensor zeros(const Shape& shape, DType type = float32, const Device& device = {});
BACKPLANE_API Tensor ones(const Shape& shape, DType type = float32, const Device& device = {});
BACKPLANE_API Tensor full(const Shape& shape, Scalar value, DType type, const Device& device = {});
BACKPLANE_API Tensor full(const Shape& shape, Scalar value,
                          const Device& device = {});  // bool, int64 or float32
inline Tensor empty(const Shape& shape, const Device& device) { return empty(shape, float32, device); }
inline Tensor zeros(const Shape& shape, const Device& device) { return zeros(shape, float32, device); }
inline Tensor ones(const Shape& shape, const Device& device) { return ones(shape, float32, device); }
BACKPLANE_API Tensor empty_like(const Tensor& like);
BACKPLANE_API Tensor zeros_like(const Tensor& like);
BACKPLANE_API Tensor ones_like(const Tensor& like);
BACKPLANE_API Tensor full_like(const Tensor& like, Scalar value);

// start, start + step, ... before stop; element i is start + i * step computed in float64 or int64.
BACKPLANE_API Tensor arange(Scalar start, Scalar stop, Scalar step, DType type, const Device& device = {});
BACKPLANE_API Tensor arange(Scalar stop, DType type, const Device& device = {});
// Of type int64, or float32 where a number is floating.
BACKPLANE_API Tensor arange(Scalar start, Scalar stop, Scalar step = 1, const Device& device = {});
BACKPLANE_API Tensor arange(Scalar stop, const Device& device = {});
BACKPLANE_API Tensor linspace(double start, double stop, int64_t count, DType type = float32,
                              const Device& device = {}, bool endpoint = true);
BACKPLANE_API Tensor eye(int64_t rows, std::optional<int64_t> columns = {}, int k = 0, DType type = float32,
                         const Device& device = {});

// From host memory, row-major, copied before returning.
BACKPLANE_API Tensor from_host(const void* data, const Shape& shape, DType type, const Device& device = {});
template <typename T>
Tensor tensor(std::span<const T> values, const Shape& shape, const Device& device = {}) {
  if (static_cast<int64_t>(values.size()) != shape.size())
    throw Error(ErrorCode::InvalidArgument,
                "tensor: " + std::to_string(values.size()) + " values for shape " + shape.str());
  return from_host(values.data(), shape, dtype_of<T>(), device);
}
template <typename T>
Tensor tensor(const std::vector<T>& values, const Shape& shape, const Device& device = {}) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<uint8_t> bytes(values.begin(), values.end());
    return tensor(std::span<const uint8_t>(bytes), shape, device).astype(boolean);
  } else {
    return tensor(std::span<const T>(values), shape, device);
  }
}
template <typename T>
Tensor tensor(const std::vector<T>& values, const Device& device = {}) {
  return tensor(values, {static_cast<int64_t>(values.size())}, device);
}
template <typename T>
Tensor tensor(std::initializer_list<T> values, const Device& device = {}) {
  return tensor(std::vector<T>(values), device);
}
template <typename T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows, const Device& device = {}) {
  std::vector<T> values;
  for (const auto& row : rows) {
    if (row.size() != rows.begin()->size())
      throw Error(ErrorCode::InvalidArgument, "tensor: rows of different lengths");
    values.insert(values.end(), row.begin(), row.end());
  }
  return tensor(
      values,
      {static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows.size() ? rows.begin()->size() : 0)},
      device);
}
template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
Tensor tensor(T value, const Device& device = {}) {  // 0-dimensional
  return from_host(&value, {}, dtype_of<T>(), device);
}

// Uses host memory where it lies, without a copy, on a device that can (CPU): `release` is called once, from
// any thread, when the last tensor that uses it is gone. With read_only every write through a tensor is
// InvalidArgument. `data` must be aligned for its type, or the tensor is a copy and `release` is called at
// once. `release` must not throw: a program whose release does is ended.
BACKPLANE_API Tensor wrap_host(void* data, const Shape& shape, DType type, std::function<void()> release = {},
                               bool read_only = false, const Device& device = "cpu");

// Uses a vendor's memory object (cl_mem, CUdeviceptr as a pointer) without owning it.
BACKPLANE_API Tensor wrap_native(void* memory, const Shape& shape, DType type, const Device& device,
                                 std::function<void()> release = {});

}  // namespace backplane::inline v0

#endif  // BACKPLANE_TENSOR_H_
