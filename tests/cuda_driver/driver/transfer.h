// SPDX-License-Identifier: Apache-2.0
// Copies and fills: their ranges are checked when they are asked for, and again when they are carried out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "driver/call.h"

namespace cuda_double {

struct Range {
  std::shared_ptr<Allocation> allocation;  // null: plain host memory
  uint64_t address = 0;
  uint8_t* host = nullptr;
  uint8_t* initialized = nullptr;
};

enum class RangeKind { kDevice, kHost, kEither };

// Misuse where [address, address + size) is not inside one live allocation of that kind.
Range range_of(uint64_t address, uint64_t size, RangeKind kind, const char* function);

// Enqueues, and waits where `wait`.
void copy(Stream& stream, const char* function, Range to, Range from, uint64_t size, bool wait);
// The same between devices; zeros arrive where a test has asked for that.
void copy_peer(Stream& stream, const char* function, Range to, Range from, uint64_t size, bool wait);
void fill(Stream& stream, const char* function, Range to, uint32_t value, uint32_t width, uint64_t count,
          bool wait);

}  // namespace cuda_double
