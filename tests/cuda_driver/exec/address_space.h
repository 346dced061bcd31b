// SPDX-License-Identifier: Apache-2.0
// One process-wide space of device addresses, as unified addressing gives. A device address is not a host
// address: the range is reserved with no access, so that a host that dereferences it crashes as it would with
// real hardware. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

namespace cuda_double {

enum class MemoryKind : uint8_t { kDevice, kHost, kRegistered, kModule };

struct Allocation {
  ~Allocation();
  uint64_t base = 0;
  uint64_t size = 0;
  uint8_t* host = nullptr;  // where its bytes are
  int device = 0;
  MemoryKind kind = MemoryKind::kDevice;
  bool mapped = false;                     // `host` was mapped for it, and is unmapped with it
  bool read_only = false;                  // .const variables
  std::unique_ptr<uint8_t[]> initialized;  // one byte a byte; null where not tracked
  uint64_t context = 0;
};

class AddressSpace {
 public:
  static AddressSpace& instance();

  // Null where the host has no memory left. Fresh memory holds a pattern, never zeros.
  std::shared_ptr<Allocation> allocate(uint64_t size, int device, MemoryKind kind, bool track_initialized);
  // Makes host memory known under its own address. Null where it overlaps memory that is known already.
  std::shared_ptr<Allocation> register_host(void* memory, uint64_t size, MemoryKind kind, int device);
  bool release(uint64_t base);

  // The allocation that holds `address`, or null.
  std::shared_ptr<Allocation> find(uint64_t address) const;
  // Says what is near an address that belongs to no live allocation.
  std::string describe(uint64_t address) const;
  bool is_device_range(uint64_t address) const;

  // Grows whenever an allocation ends: what was looked up under an older value must be looked up again.
  uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

  uint64_t shared_window() const { return shared_window_; }
  uint64_t local_window() const { return local_window_; }
  uint64_t parameter_window() const { return parameter_window_; }
  static constexpr uint64_t kWindowSize = 1ull << 32;

  // The address of the code of a function; never readable.
  uint64_t next_code_address();

 private:
  AddressSpace();
  uint64_t place(uint64_t size);

  mutable std::shared_mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Allocation>> by_base_;
  std::map<uint64_t, uint64_t> released_;  // base → size, of ranges not handed out again
  std::atomic<uint64_t> epoch_{1};
  uint64_t reserve_ = 0, reserve_end_ = 0, next_ = 0, next_code_ = 0;
  uint64_t shared_window_ = 0, local_window_ = 0, parameter_window_ = 0;
};

}  // namespace cuda_double
