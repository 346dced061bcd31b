// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_CPU_BUFFER_H_
#define BACKPLANE_CPU_BUFFER_H_

#include <atomic>
#include <cstdint>

#include "backplane/plugin/base.h"

namespace backplane::cpu {

// Every allocation starts at a multiple of this: a cache line, and the widest vector register.
inline constexpr uint32_t kMinAlignment = 64;

// Counts what this plugin has handed out, so that memory which was promised but never touched, and which the
// kernel therefore still calls available, is not promised twice.
class MemoryAccount {
 public:
  // Ok, or OutOfMemory where physical memory does not suffice; then nothing is counted.
  plugin::Status reserve(uint64_t bytes) noexcept;
  void release(uint64_t bytes) noexcept { reserved_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> reserved_{0};
};

// Host memory as a buffer; owned, or wrapped.
class CpuBuffer final : public plugin::BufferBase {
 public:
  // Contents are undefined. Large blocks lie on huge pages where the kernel has them.
  static plugin::Status allocate(MemoryAccount& account, uint64_t bytes, plugin::Buffer** buffer);
  static plugin::Status wrap(void* pointer, uint64_t bytes, plugin::Buffer** buffer);

  void destroy() noexcept override;
  uint64_t size() const noexcept override { return size_; }
  uint64_t address() const noexcept override { return reinterpret_cast<uintptr_t>(pointer_); }
  void* host_pointer() const noexcept override { return pointer_; }
  plugin::Status map(uint32_t flags, uint64_t offset, uint64_t size, void** pointer) noexcept override;
  plugin::Status unmap(void*) noexcept override { return plugin::kOk; }
  plugin::Status native_handle(void** handle) noexcept override;

 private:
  CpuBuffer(void* pointer, uint64_t size, MemoryAccount* account) noexcept
      : pointer_(pointer), size_(size), account_(account) {}
  ~CpuBuffer() = default;

  void* const pointer_;
  const uint64_t size_;
  MemoryAccount* const account_;  // null for wrapped memory
};

// Ok, or InvalidArgument where [offset, offset + bytes) is not inside a buffer of `size` bytes.
plugin::Status check_range(const char* what, uint64_t size, uint64_t offset, uint64_t bytes) noexcept;

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_BUFFER_H_
