// SPDX-License-Identifier: Apache-2.0
#include "driver/transfer.h"

#include <algorithm>
#include <cstring>

namespace cuda_double {
namespace {

bool alive(const Range& range) {
  return range.allocation == nullptr ||
         AddressSpace::instance().find(range.allocation->base) == range.allocation;
}

void transfer(Context& context, const std::string& function, const Range& to, const Range& from,
              uint64_t size, bool zeros) {
  if (!alive(to) || !alive(from)) {
    report(function + ": memory was freed before the copy was carried out");
    context.fail(CUDA_ERROR_ILLEGAL_ADDRESS);
    return;
  }
  if (zeros)
    std::memset(to.host, 0, size);
  else
    std::memmove(to.host, from.host, size);
  if (to.initialized == nullptr) return;
  if (from.initialized != nullptr)
    std::memmove(to.initialized, from.initialized, size);
  else
    std::memset(to.initialized, 1, size);
}

void enqueue_copy(Stream& stream, const char* function, Range to, Range from, uint64_t size, bool wait,
                  bool zeros) {
  Context* context = stream.context;
  const uint64_t position =
      submit(stream, [=, name = std::string(function)] { transfer(*context, name, to, from, size, zeros); });
  if (wait) stream.wait(position);
}

}  // namespace

Range range_of(uint64_t address, uint64_t size, RangeKind kind, const char* function) {
  AddressSpace& space = AddressSpace::instance();
  Range range;
  range.address = address;
  range.allocation = space.find(address);
  const std::string name = function;
  if (range.allocation == nullptr) {
    if (size == 0) return range;
    if (space.is_device_range(address))
      misuse(CUDA_ERROR_INVALID_VALUE, name + ": an address " + space.describe(address));
    if (kind == RangeKind::kDevice)
      misuse(CUDA_ERROR_INVALID_VALUE, name + ": a host address where a device address is needed");
    if (address == 0) misuse(CUDA_ERROR_INVALID_VALUE, name + ": a null address");
    range.host = reinterpret_cast<uint8_t*>(address);
    return range;
  }
  if (kind == RangeKind::kHost && space.is_device_range(address)) {
    misuse(CUDA_ERROR_INVALID_VALUE, name + ": a device address where a host address is needed");
  }
  const uint64_t offset = address - range.allocation->base;
  if (size > range.allocation->size - offset) {
    misuse(CUDA_ERROR_INVALID_VALUE, name + ": " + std::to_string(size) + " bytes at offset " +
                                         std::to_string(offset) + " of an allocation of " +
                                         std::to_string(range.allocation->size) + " bytes");
  }
  range.host = range.allocation->host + offset;
  if (range.allocation->initialized) range.initialized = range.allocation->initialized.get() + offset;
  return range;
}

void copy(Stream& stream, const char* function, Range to, Range from, uint64_t size, bool wait) {
  enqueue_copy(stream, function, std::move(to), std::move(from), size, wait, false);
}

void copy_peer(Stream& stream, const char* function, Range to, Range from, uint64_t size, bool wait) {
  bool zeros = false;
  if (to.allocation != nullptr && from.allocation != nullptr) {
    const std::lock_guard lock(driver().mutex);
    const auto& pairs = driver().config.peer_zeros;
    zeros = std::find(pairs.begin(), pairs.end(),
                      std::pair{from.allocation->device, to.allocation->device}) != pairs.end();
  }
  enqueue_copy(stream, function, std::move(to), std::move(from), size, wait, zeros);
}

void fill(Stream& stream, const char* function, Range to, uint32_t value, uint32_t width, uint64_t count,
          bool wait) {
  Context* context = stream.context;
  const auto work = [=, name = std::string(function)] {
    if (!alive(to)) {
      report(name + ": memory was freed before it was filled");
      context->fail(CUDA_ERROR_ILLEGAL_ADDRESS);
      return;
    }
    for (uint64_t i = 0; i < count; ++i) std::memcpy(to.host + i * width, &value, width);
    if (to.initialized != nullptr) std::memset(to.initialized, 1, count * width);
  };
  const uint64_t position = submit(stream, work);
  if (wait) stream.wait(position);
}

}  // namespace cuda_double
