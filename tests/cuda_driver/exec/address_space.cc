// SPDX-License-Identifier: Apache-2.0
#include "exec/address_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace cuda_double {
namespace {

constexpr uint64_t kReserve = 256ull << 30;
constexpr uint64_t kAlignment = 512;  // of every device allocation; hardware gives at least 256
constexpr uint64_t kGuard = 4096;     // between allocations, so that a small overrun hits no neighbour
constexpr uint64_t kPoisonLimit = 8ull << 20;
constexpr int kPoison = 0xAB;  // as float: -1.2e-12; as float16: -0.06; as int32: -1414812757

uint8_t* map_memory(uint64_t size) {
  void* memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
}

}  // namespace

Allocation::~Allocation() {
  if (mapped && host != nullptr) munmap(host, std::max<uint64_t>(size, 1));
}

AddressSpace& AddressSpace::instance() {
  static AddressSpace* space = new AddressSpace;  // never destroyed: streams may outlive main
  return *space;
}

AddressSpace::AddressSpace() {
  void* memory = mmap(nullptr, kReserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::fprintf(stderr, "CUDA test double: cannot reserve device addresses\n");
    std::abort();
  }
  reserve_ = reinterpret_cast<uint64_t>(memory);
  reserve_end_ = reserve_ + kReserve;
  shared_window_ = (reserve_ + kWindowSize - 1) & ~(kWindowSize - 1);
  local_window_ = shared_window_ + kWindowSize;
  parameter_window_ = local_window_ + kWindowSize;
  next_code_ = parameter_window_ + kWindowSize;
  next_ = next_code_ + kWindowSize;
}

uint64_t AddressSpace::next_code_address() {
  const std::unique_lock lock(mutex_);
  return next_code_ += 16;
}

uint64_t AddressSpace::place(uint64_t size) {
  const uint64_t start = parameter_window_ + 2 * kWindowSize;
  const uint64_t need = ((size + kGuard + kAlignment - 1) & ~(kAlignment - 1));
  if (next_ + need > reserve_end_) {  // every address was used once: begin again, in gaps
    next_ = start;
    released_.clear();
  }
  for (;;) {
    auto after = by_base_.upper_bound(next_);
    if (after != by_base_.begin()) {
      const auto& before = *std::prev(after)->second;
      const uint64_t end = (before.base + before.size + kGuard + kAlignment - 1) & ~(kAlignment - 1);
      if (before.base >= start && end > next_) next_ = end;
    }
    after = by_base_.lower_bound(next_);
    if (next_ + need > reserve_end_) return 0;
    if (after == by_base_.end() || after->first >= reserve_end_ || after->first >= next_ + need) break;
    next_ = (after->second->base + after->second->size + kGuard + kAlignment - 1) & ~(kAlignment - 1);
  }
  const uint64_t base = next_;
  next_ += need;
  return base;
}

std::shared_ptr<Allocation> AddressSpace::allocate(uint64_t size, int device, MemoryKind kind, bool track) {
  auto allocation = std::make_shared<Allocation>();
  allocation->host = map_memory(std::max<uint64_t>(size, 1));
  if (allocation->host == nullptr) return nullptr;
  allocation->mapped = true;
  allocation->size = size;
  allocation->device = device;
  allocation->kind = kind;
  if (size <= kPoisonLimit) std::memset(allocation->host, kPoison, size);
  if (track) allocation->initialized = std::make_unique<uint8_t[]>(size);
  const std::unique_lock lock(mutex_);
  allocation->base = place(size);
  if (allocation->base == 0) return nullptr;
  by_base_[allocation->base] = allocation;
  return allocation;
}

std::shared_ptr<Allocation> AddressSpace::register_host(void* memory, uint64_t size, MemoryKind kind,
                                                        int device) {
  auto allocation = std::make_shared<Allocation>();
  allocation->base = reinterpret_cast<uint64_t>(memory);
  allocation->host = static_cast<uint8_t*>(memory);
  allocation->size = size;
  allocation->device = device;
  allocation->kind = kind;
  const std::unique_lock lock(mutex_);
  const auto after = by_base_.lower_bound(allocation->base);
  if (after != by_base_.end() && after->first < allocation->base + size) return nullptr;
  if (after != by_base_.begin()) {
    const auto& before = *std::prev(after)->second;
    if (before.base + before.size > allocation->base) return nullptr;
  }
  by_base_[allocation->base] = allocation;
  return allocation;
}

bool AddressSpace::release(uint64_t base) {
  const std::unique_lock lock(mutex_);
  const auto found = by_base_.find(base);
  if (found == by_base_.end()) return false;
  if (base >= reserve_ && base < reserve_end_) released_[base] = found->second->size;
  by_base_.erase(found);
  epoch_.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

std::shared_ptr<Allocation> AddressSpace::find(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  auto after = by_base_.upper_bound(address);
  if (after == by_base_.begin()) return nullptr;
  const auto& candidate = std::prev(after)->second;
  const bool inside =
      address - candidate->base < candidate->size || (candidate->size == 0 && address == candidate->base);
  return inside ? candidate : nullptr;
}

bool AddressSpace::is_device_range(uint64_t address) const {
  return address >= reserve_ && address < reserve_end_;
}

std::string AddressSpace::describe(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto inside_of = [&](uint64_t base, uint64_t size) {
    return "offset " + std::to_string(static_cast<int64_t>(address - base)) + " of " + std::to_string(size) +
           " bytes";
  };
  if (auto freed = released_.upper_bound(address); freed != released_.begin()) {
    freed = std::prev(freed);
    if (address - freed->first < std::max<uint64_t>(freed->second, 1)) {
      return "in freed memory (" + inside_of(freed->first, freed->second) + ")";
    }
  }
  if (address < 65536) return "near the null address";
  auto after = by_base_.upper_bound(address);
  if (after != by_base_.begin()) {
    const auto& before = *std::prev(after)->second;
    if (address - before.base - before.size < kGuard) {
      return "past the end of an allocation (" + inside_of(before.base, before.size) + ")";
    }
  }
  if (after != by_base_.end() && after->first - address <= kGuard) {
    return "before the start of an allocation (" + inside_of(after->first, after->second->size) + ")";
  }
  return "in no allocation";
}

}  // namespace cuda_double
