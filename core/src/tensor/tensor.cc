// SPDX-License-Identifier: Apache-2.0
//
// Tensor's facts, conversions, writes and host access.
#include "backplane/tensor.h"

#include <fmt/format.h>

#include <cstring>

#include "backplane/stream.h"
#include "copy/transfer.h"
#include "tensor/program.h"
#include "tensor/tensor_impl.h"

namespace backplane::inline v0 {

using internal::impl_of;
using internal::TensorImpl;

namespace {

void refuse_null(const void* host, const TensorImpl& tensor, const char* what) {
  if (host == nullptr && tensor.size != 0)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}: a null pointer for {}", what, internal::describe(tensor)));
}

}  // namespace

const Shape& Tensor::shape() const { return impl_of(*this, "shape").shape; }
const Strides& Tensor::strides() const { return impl_of(*this, "strides").strides; }
int Tensor::rank() const { return impl_of(*this, "rank").shape.rank(); }
int64_t Tensor::size() const { return impl_of(*this, "size").size; }
uint64_t Tensor::nbytes() const { return impl_of(*this, "nbytes").nbytes(); }
DType Tensor::dtype() const { return impl_of(*this, "dtype").dtype; }
Device Tensor::device() const { return Device(&impl_of(*this, "device").device()); }
int64_t Tensor::offset() const { return impl_of(*this, "offset").offset; }
bool Tensor::is_contiguous() const { return impl_of(*this, "is_contiguous").contiguous; }

int64_t Tensor::size(int axis) const {
  const TensorImpl& t = impl_of(*this, "size");
  return t.shape[internal::normalize_axis(axis, t, "size")];
}

bool Tensor::shares_memory_with(const Tensor& other) const {
  return impl_of(*this, "shares_memory_with").storage == impl_of(other, "shares_memory_with").storage;
}

Tensor Tensor::contiguous() const { return impl_of(*this, "contiguous").contiguous ? *this : clone(); }

Tensor Tensor::clone() const {
  const TensorImpl& t = impl_of(*this, "clone");
  Tensor copy = internal::make_tensor(t.device(), t.shape, t.dtype, "clone");
  internal::copy_strided(*copy.impl(), t, "clone");
  return copy;
}

Tensor Tensor::astype(DType type, bool copy) const {
  const TensorImpl& t = impl_of(*this, "astype");
  if (t.dtype == type) return copy ? clone() : *this;
  Tensor result = internal::make_tensor(t.device(), t.shape, type, "astype");
  internal::convert_into(*result.impl(), t, "astype");
  return result;
}

Tensor Tensor::to(const Device& device) const {
  return &impl_of(*this, "to").device() == device.state() ? *this : copy_to(device);
}

Tensor Tensor::copy_to(const Device& device) const {
  const TensorImpl& t = impl_of(*this, "copy_to");
  Tensor copy = internal::make_tensor(*device.state(), t.shape, t.dtype, "copy_to");
  internal::copy_elements(*copy.impl(), t, "copy_to");
  return copy;
}

const Tensor& Tensor::assign(const Tensor& source) const {
  const TensorImpl& t = impl_of(*this, "assign");
  internal::check_writable(t, "assign");
  const TensorImpl& s = impl_of(source, "assign");
  if (!(s.shape == t.shape)) return assign(source.broadcast_to(t.shape));
  if (s.dtype == t.dtype) {
    internal::copy_elements(t, s, "assign");
    return *this;
  }
  // Convert where the elements are, then move.
  const Tensor here = &s.device() == &t.device() ? source : source.astype(t.dtype).to(device());
  internal::convert_into(t, *here.impl(), "assign");
  return *this;
}

const Tensor& Tensor::fill(Scalar value) const {
  const TensorImpl& t = impl_of(*this, "fill");
  internal::check_writable(t, "fill");
  internal::fill_with(t, value, "fill");
  return *this;
}

void Tensor::copy_to_host(void* destination, uint64_t bytes) const {
  const TensorImpl& t = impl_of(*this, "copy_to_host");
  if (bytes != t.nbytes())
    throw Error(ErrorCode::InvalidArgument, fmt::format("copy_to_host: room for {} bytes, but {} has {}",
                                                        bytes, internal::describe(t), t.nbytes()));
  refuse_null(destination, t, "copy_to_host");
  const Tensor packed = contiguous();
  internal::read_bytes(destination, *packed.impl()->storage, packed.impl()->byte_offset(), bytes);
}

void Tensor::copy_from_host(const void* source, uint64_t bytes) const {
  const TensorImpl& t = impl_of(*this, "copy_from_host");
  internal::check_writable(t, "copy_from_host");
  if (bytes != t.nbytes())
    throw Error(ErrorCode::InvalidArgument, fmt::format("copy_from_host: {} bytes, but {} has {}", bytes,
                                                        internal::describe(t), t.nbytes()));
  refuse_null(source, t, "copy_from_host");
  if (t.contiguous) return internal::write_bytes(*t.storage, t.byte_offset(), source, bytes);
  const Tensor packed = internal::make_tensor(t.device(), t.shape, t.dtype, "copy_from_host");
  internal::write_bytes(*packed.impl()->storage, 0, source, bytes);
  internal::copy_strided(t, *packed.impl(), "copy_from_host");
}

// Converted on the device, so that only what is asked for crosses.
void Tensor::read_converted(void* destination, DType type, int64_t count) const {
  const TensorImpl& t = impl_of(*this, "item");
  if (count != t.size)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("item: {} has {} elements, not one", internal::describe(t), t.size));
  // Converting what a failed operator left would report that failure of itself only at the read below.
  const Tensor converted = astype(type, false);
  converted.copy_to_host(destination, static_cast<uint64_t>(count) * size_of(type));
}

void* Tensor::host_data(DType type) const {
  const TensorImpl& t = impl_of(*this, "data");
  if (t.dtype != type)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("data: asked for {}, but this is {}", to_string(type), internal::describe(t)));
  t.device().ensure_ready();
  char* host = t.storage->block().host;
  if (host == nullptr || !t.device().host_memory)
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("data: {} is not host memory; copy it with to(\"cpu\") first", internal::describe(t)));
  t.storage->wait_for_host(!t.storage->read_only());
  t.storage->throw_errors();
  return host + t.byte_offset();
}

void* Tensor::native_memory() const {
  const TensorImpl& t = impl_of(*this, "native_memory");
  t.device().ensure_ready();
  void* handle = nullptr;
  t.device().check(t.storage->block().buffer->native_handle(&handle), "native_memory");
  return handle;
}

Event Tensor::ready() const {
  const TensorImpl& t = impl_of(*this, "ready");
  t.device().ensure_ready();
  const internal::Use use = t.storage->last_write();
  // States of streams are never freed.
  const std::shared_ptr<internal::StreamState> stream =
      use.stream == nullptr
          ? t.device().default_stream
          : std::shared_ptr<internal::StreamState>(use.stream, [](internal::StreamState*) {});
  return Event(std::make_shared<internal::EventState>(internal::EventState{stream, use.ticket}));
}

}  // namespace backplane::inline v0
