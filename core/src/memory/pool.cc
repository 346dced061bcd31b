// SPDX-License-Identifier: Apache-2.0
#include "memory/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "backplane/error.h"
#include "device/device_state.h"
#include "stream/stream_state.h"

namespace backplane::internal {
namespace {

constexpr uint64_t kUnit = 64;         // smallest class; a cache line
constexpr uint64_t kSmall = 1u << 18;  // blocks up to this are carved from slabs
constexpr uint64_t kSlab = 4u << 20;   // bytes of a slab
constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

bool usable(const UseList& uses, const StreamState& stream) {
  return std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
    return use.stream == &stream || use.stream->complete(use.ticket);
  });
}

}  // namespace

uint64_t size_class(uint64_t bytes) noexcept {
  if (bytes <= kUnit) return kUnit;
  const uint64_t step = std::max(kUnit, std::bit_floor(bytes - 1) >> 3);
  return (bytes + step - 1) / step * step;
}

Pool::Pool(DeviceState& device) : device_(device) {
  stats_.limit = kNoLimit;
  set_limit(device.memory_limit.load());
}

Pool::~Pool() {
  // Only at shutdown, after every stream has been drained.
  for (auto& [size, size_class] : classes_)
    for (Cached& cached : size_class.blocks)
      if (!cached.block.carved) cached.block.buffer->destroy();
  for (plugin::Buffer* slab : slabs_) slab->destroy();
}

void Pool::set_limit(uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  stats_.limit = bytes == 0 ? kNoLimit : bytes;
}

MemoryStats Pool::stats() const {
  const std::lock_guard lock(mutex_);
  MemoryStats stats = stats_;
  stats.cached = held_ - stats.in_use;
  return stats;
}

// Prefers the most recently freed block, which is the likeliest to be in a cache.
bool Pool::take_cached(uint64_t size, StreamState& stream, Block* block) {
  const auto found = classes_.find(size);
  if (found == classes_.end()) return false;
  auto& blocks = found->second.blocks;
  for (size_t i = blocks.size(); i-- > 0;) {
    if (!usable(blocks[i].uses, stream)) continue;
    *block = blocks[i].block;
    if (i + 1 != blocks.size()) blocks[i] = std::move(blocks.back());
    blocks.pop_back();
    return true;
  }
  return false;
}

plugin::Status Pool::allocate_buffer(uint64_t size, plugin::Buffer** buffer) {
  if (size > stats_.limit || held_ > stats_.limit - size)
    return {plugin::StatusCode::OutOfMemory, 0, "the pool's limit is reached"};
  const plugin::Status status = device_.device->allocate(size, buffer);
  if (status.ok()) held_ += size;
  return status;
}

plugin::Status Pool::carve(uint64_t size, Block* block) {
  if (slab_rest_.size < size) {
    plugin::Buffer* slab = nullptr;
    const plugin::Status status = allocate_buffer(kSlab, &slab);
    if (!status.ok()) return status;
    slabs_.push_back(slab);
    // What was left of the previous slab stays unused: less than one small block of each slab.
    slab_rest_ = {slab, 0, kSlab, slab->address(), static_cast<char*>(slab->host_pointer()), true};
  }
  *block = slab_rest_;
  block->size = size;
  slab_rest_.offset += size;
  slab_rest_.size -= size;
  if (slab_rest_.address != 0) slab_rest_.address += size;
  if (slab_rest_.host != nullptr) slab_rest_.host += size;
  return plugin::kOk;
}

plugin::Status Pool::allocate_new(uint64_t size, Block* block) {
  if (device_.buffer_offsets && size <= kSmall) {
    const plugin::Status status = carve(size, block);
    if (status.code != plugin::StatusCode::OutOfMemory) return status;
  }
  plugin::Buffer* buffer = nullptr;
  const plugin::Status status = allocate_buffer(size, &buffer);
  if (status.ok())
    *block = {buffer, 0, size, buffer->address(), static_cast<char*>(buffer->host_pointer()), false};
  return status;
}

Block Pool::allocate(uint64_t bytes, StreamState& stream) {
  const uint64_t size = size_class(std::max<uint64_t>(bytes, 1));
  Block block;
  plugin::Status status = plugin::kOk;
  {
    const std::lock_guard lock(mutex_);
    ++stats_.allocations;
    if (take_cached(size, stream, &block))
      ++stats_.hits;
    else
      status = allocate_new(size, &block);
    if (status.ok()) stats_.peak = std::max(stats_.peak, stats_.in_use += size);
  }
  if (status.ok()) return block;
  if (status.code != plugin::StatusCode::OutOfMemory) device_.fail(status, "allocate");
  release_cached();
  {
    const std::lock_guard lock(mutex_);
    status = allocate_new(size, &block);
    if (status.ok())
      stats_.peak = std::max(stats_.peak, stats_.in_use += size);
    else
      ++stats_.failures;
  }
  if (!status.ok()) out_of_memory(bytes, status);
  return block;
}

void Pool::free(const Block& block, UseList&& uses) noexcept {
  const std::lock_guard lock(mutex_);
  stats_.in_use -= block.size;
  classes_[block.size].blocks.push_back({block, std::move(uses)});
}

void Pool::release_cached() {
  std::vector<Cached> taken;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [size, size_class] : classes_) {
      auto& blocks = size_class.blocks;
      const auto carved =
          std::partition(blocks.begin(), blocks.end(), [](const Cached& c) { return c.block.carved; });
      std::move(carved, blocks.end(), std::back_inserter(taken));
      blocks.erase(carved, blocks.end());
    }
  }
  uint64_t freed = 0;
  for (Cached& cached : taken) {
    try {
      for (const Use& use : cached.uses) use.stream->synchronize(use.ticket);
    } catch (const Error&) {
      // The work failed or the device is lost: either way it no longer uses the block.
    }
    cached.block.buffer->destroy();
    freed += cached.block.size;
  }
  const std::lock_guard lock(mutex_);
  held_ -= freed;
}

void Pool::out_of_memory(uint64_t bytes, const plugin::Status& status) {
  const std::string reason = status.message == nullptr ? "" : status.message;
  plugin::Telemetry telemetry{};
  telemetry.struct_size = sizeof telemetry;
  const bool known =
      device_.device->telemetry(&telemetry).ok() && (telemetry.has & plugin::kHasMemoryFree) != 0;
  const MemoryStats now = stats();
  const std::string limit = now.limit == kNoLimit ? "" : fmt::format(", limit {}", now.limit);
  throw Error(ErrorCode::OutOfMemory,
              fmt::format("{}: out of memory: asked for {} bytes, free {}, in use {}, cached {}{} ({})",
                          device_.name, bytes, known ? std::to_string(telemetry.memory_free) : "n/a",
                          now.in_use, now.cached, limit, reason),
              status.vendor_code);
}

}  // namespace backplane::internal
