// SPDX-License-Identifier: Apache-2.0
// Copies and fills. Asynchronous ones read and write host memory when their turn in the stream comes,
// pageable memory too: hardware may do so, and a caller that relies on less is found out.
#include "driver/transfer.h"

using namespace cuda_double;

namespace {

uint64_t address_of(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

// A stream of the current context: others are refused as hardware refuses them.
std::shared_ptr<Stream> own_stream(CUstream handle, Context& context, const char* function) {
  auto stream = stream_of(handle, context, function);
  if (stream->context != &context)
    misuse(CUDA_ERROR_INVALID_CONTEXT, std::string(function) + ": a stream of another context");
  return stream;
}

CUresult copy_on(const char* function, CUstream handle, uint64_t to, RangeKind to_kind, uint64_t from,
                 RangeKind from_kind, size_t size, bool wait) {
  const auto body = [&](Context& context) {
    const auto stream = own_stream(handle, context, function);
    const Range destination = range_of(to, size, to_kind, function),
                source = range_of(from, size, from_kind, function);
    if (size != 0) copy(*stream, function, destination, source, size, wait);
    return CUDA_SUCCESS;
  };
  return wait ? call_and_wait(function, body) : call_in_context(function, body);
}

CUresult copy_between(const char* function, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, size_t size, CUstream handle) {
  return call_in_context(function, [&](Context& context) {
    for (const CUcontext named : {to_context, from_context}) {
      if (driver().contexts.find(named) == nullptr)
        misuse(CUDA_ERROR_INVALID_CONTEXT, std::string(function) + ": a context that does not exist");
    }
    const auto stream = own_stream(handle, context, function);
    const Range destination = range_of(to, size, RangeKind::kDevice, function),
                source = range_of(from, size, RangeKind::kDevice, function);
    const auto owner_matches = [](const Range& range, CUcontext owner) {
      return range.allocation == nullptr || range.allocation->context == address_of(owner);
    };
    if (!owner_matches(destination, to_context) || !owner_matches(source, from_context)) {
      misuse(CUDA_ERROR_INVALID_VALUE,
             std::string(function) + ": an address that does not belong to the context given");
    }
    if (size != 0) copy_peer(*stream, function, destination, source, size, false);
    return CUDA_SUCCESS;
  });
}

CUresult fill_on(const char* function, CUstream handle, CUdeviceptr to, uint32_t value, uint32_t width,
                 size_t count) {
  return call_in_context(function, [&](Context& context) {
    const auto stream = own_stream(handle, context, function);
    if (to % width != 0) misuse(CUDA_ERROR_INVALID_VALUE, std::string(function) + ": a misaligned address");
    if (count > ~uint64_t{0} / width) return CUDA_ERROR_INVALID_VALUE;
    const Range destination = range_of(to, count * width, RangeKind::kDevice, function);
    if (count != 0) fill(*stream, function, destination, value, width, count, false);
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUDA_DOUBLE_API CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t size) {
  return copy_on("cuMemcpyHtoD_v2", nullptr, to, RangeKind::kDevice, address_of(from), RangeKind::kHost, size,
                 true);
}
CUDA_DOUBLE_API CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t size) {
  return copy_on("cuMemcpyDtoH_v2", nullptr, address_of(to), RangeKind::kHost, from, RangeKind::kDevice, size,
                 true);
}
CUDA_DOUBLE_API CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t size) {
  return copy_on("cuMemcpyDtoD_v2", nullptr, to, RangeKind::kDevice, from, RangeKind::kDevice, size, false);
}
CUDA_DOUBLE_API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) {
  return copy_on("cuMemcpy", nullptr, to, RangeKind::kEither, from, RangeKind::kEither, size, true);
}
CUDA_DOUBLE_API CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t size, CUstream stream) {
  return copy_on("cuMemcpyHtoDAsync_v2", stream, to, RangeKind::kDevice, address_of(from), RangeKind::kHost,
                 size, false);
}
CUDA_DOUBLE_API CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t size, CUstream stream) {
  return copy_on("cuMemcpyDtoHAsync_v2", stream, address_of(to), RangeKind::kHost, from, RangeKind::kDevice,
                 size, false);
}
CUDA_DOUBLE_API CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  return copy_on("cuMemcpyDtoDAsync_v2", stream, to, RangeKind::kDevice, from, RangeKind::kDevice, size,
                 false);
}
CUDA_DOUBLE_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  return copy_on("cuMemcpyAsync", stream, to, RangeKind::kEither, from, RangeKind::kEither, size, false);
}
CUDA_DOUBLE_API CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                      CUcontext from_context, size_t size) {
  return copy_between("cuMemcpyPeer", to, to_context, from, from_context, size, nullptr);
}
CUDA_DOUBLE_API CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                           CUcontext from_context, size_t size, CUstream stream) {
  return copy_between("cuMemcpyPeerAsync", to, to_context, from, from_context, size, stream);
}

CUDA_DOUBLE_API CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  return fill_on("cuMemsetD8_v2", nullptr, to, value, 1, count);
}
CUDA_DOUBLE_API CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
  return fill_on("cuMemsetD16_v2", nullptr, to, value, 2, count);
}
CUDA_DOUBLE_API CUresult cuMemsetD32(CUdeviceptr to, unsigned int value, size_t count) {
  return fill_on("cuMemsetD32_v2", nullptr, to, value, 4, count);
}
CUDA_DOUBLE_API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return fill_on("cuMemsetD8Async", stream, to, value, 1, count);
}
CUDA_DOUBLE_API CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count,
                                          CUstream stream) {
  return fill_on("cuMemsetD16Async", stream, to, value, 2, count);
}
CUDA_DOUBLE_API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  return fill_on("cuMemsetD32Async", stream, to, value, 4, count);
}
