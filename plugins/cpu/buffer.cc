// SPDX-License-Identifier: Apache-2.0
#include "cpu/buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "cpu/host.h"

namespace backplane::cpu {
namespace {

using plugin::make_status;
using plugin::Status;
using plugin::StatusCode;

constexpr uint64_t kHugePage = uint64_t{2} << 20;
// From here on a block is mapped by itself: it starts on a huge page, and goes back to the system when freed.
constexpr uint64_t kMapped = 2 * kHugePage;
// Asking the kernel how much memory there is costs some 20 us: only for blocks whose pages cost more than
// that.
constexpr uint64_t kChecked = uint64_t{1} << 20;
// No address space is larger than this; keeps the sums below from overflowing.
constexpr uint64_t kAbsurd = uint64_t{1} << 56;

constexpr uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// A block of whole huge pages at a multiple of their size, or null.
void* map_huge(uint64_t bytes) noexcept {
  const uint64_t padded = bytes + kHugePage;
  void* const raw =
      mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(raw);
  const uint64_t head =
      round_up(reinterpret_cast<uintptr_t>(raw), kHugePage) - reinterpret_cast<uintptr_t>(raw);
  if (head > 0) munmap(begin, head);
  if (kHugePage > head) munmap(begin + head + bytes, kHugePage - head);
  // A kernel without huge pages refuses; small pages do as well.
  static_cast<void>(madvise(begin + head, bytes, MADV_HUGEPAGE));
  return begin + head;
}

void* allocate_pages(uint64_t bytes) noexcept {
  if (bytes >= kMapped) return map_huge(round_up(bytes, kHugePage));
  return std::aligned_alloc(kMinAlignment, round_up(bytes, kMinAlignment));
}

void free_pages(void* pointer, uint64_t bytes) noexcept {
  if (bytes >= kMapped) {
    munmap(pointer, round_up(bytes, kHugePage));
  } else {
    std::free(pointer);
  }
}

Status out_of_memory(uint64_t asked, uint64_t available) noexcept {
  return make_status(StatusCode::OutOfMemory, 0, "%llu bytes of host memory asked, %llu available",
                     static_cast<unsigned long long>(asked), static_cast<unsigned long long>(available));
}

}  // namespace

Status MemoryAccount::reserve(uint64_t bytes) noexcept {
  return plugin::guard([&] {
    const uint64_t reserved = reserved_.load(std::memory_order_relaxed);
    if (bytes >= kChecked) {
      const auto memory = read_memory();
      // What is reserved and not resident is still counted as available.
      const uint64_t promised = memory && reserved > memory->process ? reserved - memory->process : 0;
      const uint64_t available = memory && memory->available > promised ? memory->available - promised : 0;
      if (bytes >= kAbsurd || (memory && bytes > available)) return out_of_memory(bytes, available);
    }
    reserved_.fetch_add(bytes, std::memory_order_relaxed);
    return plugin::kOk;
  });
}

Status CpuBuffer::allocate(MemoryAccount& account, uint64_t bytes, plugin::Buffer** buffer) {
  if (bytes == 0) return make_status(StatusCode::InvalidArgument, 0, "an allocation of 0 bytes");
  if (Status status = account.reserve(bytes); !status.ok()) return status;
  void* const pointer = allocate_pages(bytes);
  CpuBuffer* const made =
      pointer == nullptr ? nullptr : new (std::nothrow) CpuBuffer(pointer, bytes, &account);
  if (made == nullptr) {
    if (pointer != nullptr) free_pages(pointer, bytes);
    account.release(bytes);
    return make_status(StatusCode::OutOfMemory, 0, "the system refused %llu bytes of host memory",
                       static_cast<unsigned long long>(bytes));
  }
  *buffer = made;
  return plugin::kOk;
}

Status CpuBuffer::wrap(void* pointer, uint64_t bytes, plugin::Buffer** buffer) {
  if (pointer == nullptr)
    return make_status(StatusCode::InvalidArgument, 0, "a null pointer cannot be wrapped");
  *buffer = new CpuBuffer(pointer, bytes, nullptr);
  return plugin::kOk;
}

void CpuBuffer::destroy() noexcept {
  if (account_ != nullptr) {
    free_pages(pointer_, size_);
    account_->release(size_);
  }
  delete this;
}

Status CpuBuffer::map(uint32_t, uint64_t offset, uint64_t size, void** pointer) noexcept {
  if (Status status = check_range("map", size_, offset, size); !status.ok()) return status;
  *pointer = static_cast<char*>(pointer_) + offset;
  return plugin::kOk;
}

Status CpuBuffer::native_handle(void** handle) noexcept {
  *handle = pointer_;
  return plugin::kOk;
}

Status check_range(const char* what, uint64_t size, uint64_t offset, uint64_t bytes) noexcept {
  if (offset <= size && bytes <= size - offset) return plugin::kOk;
  return make_status(StatusCode::InvalidArgument, 0,
                     "%s of %llu bytes at offset %llu leaves the buffer of %llu bytes", what,
                     static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(offset),
                     static_cast<unsigned long long>(size));
}

}  // namespace backplane::cpu
