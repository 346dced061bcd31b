// SPDX-License-Identifier: Apache-2.0
//
// Making tensors: empty, filled, ranges, and around memory of somebody else's.
#include <fmt/format.h>

#include <cmath>

#include "copy/transfer.h"
#include "tensor/program.h"
#include "tensor/tensor_impl.h"

namespace backplane::inline v0 {

using internal::impl_of;
using internal::make_tensor;
using internal::TensorImpl;
using internal::TensorProgram;

namespace {

DType natural_type(Scalar value) {
  if (value.kind() == Scalar::Kind::Bool) return DType::Bool;
  return value.kind() == Scalar::Kind::Floating ? DType::Float32 : DType::Int64;
}

plugin::Scalar float_scalar(double value) {
  plugin::Scalar raw{};
  raw.f = value;
  return raw;
}
plugin::Scalar int_scalar(int64_t value) {
  plugin::Scalar raw{};
  raw.i = value;
  return raw;
}

// start + i * step, in int64 or in the widest floating type that the device has.
void fill_range(const TensorImpl& result, bool integers, Scalar start, Scalar step, const char* label) {
  if (result.size == 0) return;
  TensorProgram program(label);
  const DType type = integers                                            ? DType::Int64
                     : Device(&result.device()).supports(DType::Float64) ? DType::Float64
                                                                         : DType::Float32;
  const auto raw = [&](Scalar s) {
    return integers ? int_scalar(internal::element_of(s, DType::Int64, label).i)
                    : float_scalar(s.to_double());
  };
  const auto index = program.cast(program.apply(internal::ScalarOp::iota, DType::Int64), type);
  const auto scaled =
      program.apply(internal::ScalarOp::multiply, type, index, program.scalar(type, raw(step)));
  const auto value = program.apply(internal::ScalarOp::add, type, scaled, program.scalar(type, raw(start)));
  program.run_into(result, value);
}

__extension__ using Wide = __int128;  // so that bounds at both ends of int64 do not overflow

int64_t range_count(Scalar start, Scalar stop, Scalar step, bool integers) {
  if (step.to_double() == 0 || std::isnan(step.to_double()))
    throw Error(ErrorCode::InvalidArgument, "arange: the step is 0");
  if (!integers) {
    const double count = std::ceil((stop.to_double() - start.to_double()) / step.to_double());
    if (!(count < 0x1p62))
      throw Error(ErrorCode::InvalidArgument, "arange: the range has no end or too many elements");
    return count > 0 ? static_cast<int64_t>(count) : 0;
  }
  const auto bound = [](Scalar s) { return internal::element_of(s, DType::Int64, "arange").i; };
  const Wide span = static_cast<Wide>(bound(stop)) - bound(start);
  const Wide width = bound(step);
  const Wide count = width > 0 ? (span + width - 1) / width : (span + width + 1) / width;
  if (count > INT64_MAX / 8) throw Error(ErrorCode::InvalidArgument, "arange: too many elements");
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

Tensor make_filled(const char* what, const Shape& shape, Scalar value, DType type, const Device& device) {
  internal::element_of(value, type, what);  // before memory is taken
  Tensor result = make_tensor(*device.state(), shape, type, what);
  internal::fill_with(*result.impl(), value, what);
  return result;
}

bool is_floating_scalar(Scalar s) { return s.kind() == Scalar::Kind::Floating; }

}  // namespace

Tensor empty(const Shape& shape, DType type, const Device& device) {
  return make_tensor(*device.state(), shape, type, "empty");
}

Tensor full(const Shape& shape, Scalar value, DType type, const Device& device) {
  return make_filled("full", shape, value, type, device);
}

Tensor full(const Shape& shape, Scalar value, const Device& device) {
  return full(shape, value, natural_type(value), device);
}

Tensor zeros(const Shape& shape, DType type, const Device& device) {
  return make_filled("zeros", shape, 0, type, device);
}
Tensor ones(const Shape& shape, DType type, const Device& device) {
  return make_filled("ones", shape, 1, type, device);
}

Tensor empty_like(const Tensor& like) {
  const TensorImpl& t = impl_of(like, "empty_like");
  return make_tensor(t.device(), t.shape, t.dtype, "empty_like");
}
Tensor full_like(const Tensor& like, Scalar value) {
  const TensorImpl& t = impl_of(like, "full_like");
  return full(t.shape, value, t.dtype, like.device());
}
Tensor zeros_like(const Tensor& like) { return full_like(like, 0); }
Tensor ones_like(const Tensor& like) { return full_like(like, 1); }

Tensor arange(Scalar start, Scalar stop, Scalar step, DType type, const Device& device) {
  const bool integers = !is_floating_scalar(start) && !is_floating_scalar(stop) && !is_floating_scalar(step);
  const Tensor result =
      make_tensor(*device.state(), {range_count(start, stop, step, integers)}, type, "arange");
  fill_range(*result.impl(), integers, start, step, "arange");
  return result;
}

Tensor arange(Scalar stop, DType type, const Device& device) { return arange(0, stop, 1, type, device); }
Tensor arange(Scalar start, Scalar stop, Scalar step, const Device& device) {
  const bool floating = is_floating_scalar(start) || is_floating_scalar(stop) || is_floating_scalar(step);
  return arange(start, stop, step, floating ? DType::Float32 : DType::Int64, device);
}
Tensor arange(Scalar stop, const Device& device) { return arange(0, stop, 1, device); }

// NumPy's: the last element is `stop` itself when the endpoint counts.
Tensor linspace(double start, double stop, int64_t count, DType type, const Device& device, bool endpoint) {
  const Tensor result = make_tensor(*device.state(), {count}, type, "linspace");
  const int64_t steps = endpoint ? count - 1 : count;
  fill_range(*result.impl(), false, start, steps > 0 ? (stop - start) / static_cast<double>(steps) : 0.0,
             "linspace");
  if (endpoint && count > 1)
    result.select(0, count - 1).fill(is_floating(type) ? Scalar(stop) : Scalar(std::trunc(stop)));
  return result;
}

Tensor eye(int64_t rows, std::optional<int64_t> columns, int k, DType type, const Device& device) {
  Tensor result = make_filled("eye", {rows, columns.value_or(rows)}, 0, type, device);
  result.diagonal(k).fill(1);
  return result;
}

Tensor from_host(const void* data, const Shape& shape, DType type, const Device& device) {
  if (data == nullptr && internal::checked_size(shape, type, "from_host") != 0)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("from_host: a null pointer for shape {}", shape.str()));
  Tensor result = make_tensor(*device.state(), shape, type, "from_host");
  internal::write_bytes(*result.impl()->storage, 0, data, result.nbytes());
  return result;
}

Tensor wrap_host(void* data, const Shape& shape, DType type, std::function<void()> release, bool read_only,
                 const Device& device) {
  const int64_t size = internal::checked_size(shape, type, "wrap_host");
  const uint64_t bytes = static_cast<uint64_t>(size) * size_of(type);
  if (reinterpret_cast<uintptr_t>(data) % size_of(type) != 0 || size == 0) {
    Tensor copy = from_host(data, shape, type, device);
    if (release) release();
    return copy;
  }
  internal::DeviceState& state = *device.state();
  state.ensure_ready();
  plugin::Buffer* buffer = nullptr;
  state.check(state.device->wrap_host(data, bytes, &buffer), "wrap_host");
  return internal::make_over(internal::Storage::wrap(state, buffer, bytes, std::move(release), read_only),
                             shape, type);
}

Tensor wrap_native(void* memory, const Shape& shape, DType type, const Device& device,
                   std::function<void()> release) {
  const uint64_t bytes =
      static_cast<uint64_t>(internal::checked_size(shape, type, "wrap_native")) * size_of(type);
  internal::DeviceState& state = *device.state();
  state.ensure_ready();
  plugin::Buffer* buffer = nullptr;
  state.check(state.device->wrap_buffer(memory, bytes, &buffer), "wrap_native");
  return internal::make_over(internal::Storage::wrap(state, buffer, bytes, std::move(release), false), shape,
                             type);
}

}  // namespace backplane::inline v0
