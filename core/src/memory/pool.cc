// SPDX-License-Identifier: Apache-2.0
#include "memory/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "backplane/error.h"
#include "device/device_state.h"
#include "memory/magazine.h"
#include "stream/stream_state.h"
#include "trace/trace.h"

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

void write_size(const void* bytes, std::string& args) {
  args += fmt::format(R"("bytes": {})", *static_cast<const uint64_t*>(bytes));
}

}  // namespace

uint64_t size_class(uint64_t bytes) noexcept {
  if (bytes <= kUnit) return kUnit;
  const uint64_t step = std::max(kUnit, std::bit_floor(bytes - 1) >> 3);
  return (bytes + step - 1) / step * step;
}

Pool::Pool(DeviceState& device)
    : device_(device), magazines_(device.synchronous && device.buffer_offsets && !trace_on()) {
  stats_.limit = kNoLimit;
  set_limit(device.memory_limit.load());
}

// Only at shutdown, after every stream has been drained. Buffers in use by tensors that live on go too: the
// plugin was promised that all are destroyed before their device.
Pool::~Pool() {
  for (Magazine* magazine : attached_) magazine->pool = nullptr;
  for (plugin::Buffer* buffer : buffers_) buffer->destroy();
}

void Pool::set_limit(uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  stats_.limit = bytes == 0 ? kNoLimit : bytes;
}

MemoryStats Pool::stats() const {
  const std::lock_guard lock(mutex_);
  MemoryStats stats = stats_;
  for (const Magazine* magazine : attached_) {
    stats.in_use += static_cast<uint64_t>(magazine->in_use.get());
    stats.allocations += static_cast<uint64_t>(magazine->allocations.get());
    stats.hits += static_cast<uint64_t>(magazine->allocations.get());
  }
  stats.peak = std::max(stats.peak, stats.in_use);
  stats.cached = held_ - stats.in_use;
  return stats;
}

bool Pool::take_from(Blocks& blocks, StreamState& stream, Block* block) {
  for (size_t i = blocks.size(); i-- > 0;) {
    if (!usable(blocks[i].uses, stream)) continue;
    *block = blocks[i].block;
    if (i + 1 != blocks.size()) blocks[i] = std::move(blocks.back());
    blocks.pop_back();
    if (block->slab != nullptr) block->slab->free -= block->size;
    return true;
  }
  return false;
}

// Prefers the most recently freed block, which is the likeliest to be in a cache.
bool Pool::take_cached(uint64_t size, StreamState& stream, Block* block) {
  const uint64_t most = size <= kSmall ? size : size + size / 4;
  for (auto found = cached_.lower_bound(size); found != cached_.end() && found->first <= most; ++found)
    if (take_from(found->second, stream, block)) return true;
  return false;
}

void Pool::keep(const Block& block, UseList&& uses) {
  cached_[block.size].push_back({block, std::move(uses)});
  if (block.slab != nullptr) block.slab->free += block.size;
}

plugin::Status Pool::allocate_buffer(uint64_t size, plugin::Buffer** buffer) {
  if (size > stats_.limit || held_ > stats_.limit - size)
    return {plugin::StatusCode::OutOfMemory, 0, "the pool's limit is reached"};
  const TraceNote note("memory", &size, write_size);
  const TracedCall call(device_.trace_process, "memory", "allocate from the device");
  const plugin::Status status = device_.device->allocate(size, buffer);
  if (!status.ok()) return status;
  buffers_.insert(*buffer);
  held_ += size;
  return status;
}

// What is left of a slab when the next is begun stays unused: less than one small block.
plugin::Status Pool::carve(uint64_t size, Block* block) {
  if (slabs_.empty() || kSlab - slabs_.back()->carved < size) {
    auto slab = std::make_unique<Slab>();
    const plugin::Status status = allocate_buffer(kSlab, &slab->buffer);
    if (!status.ok()) return status;
    slab->address = slab->buffer->address();
    slab->host = static_cast<char*>(slab->buffer->host_pointer());
    slabs_.push_back(std::move(slab));
  }
  Slab& slab = *slabs_.back();
  const uint64_t at = slab.carved;
  *block = {slab.buffer,
            at,
            size,
            slab.address == 0 ? 0 : slab.address + at,
            slab.host == nullptr ? nullptr : slab.host + at,
            &slab};
  slab.carved += size;
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
    *block = {buffer, 0, size, buffer->address(), static_cast<char*>(buffer->host_pointer()), nullptr};
  return status;
}

Block Pool::allocate(uint64_t bytes, StreamState& stream) {
  if (magazines_ && bytes <= kMagazineBytes) {
    if (Magazine* magazine = magazine_for(*this)) {
      const uint32_t small_class = bytes == 0 ? 0 : small_class_of(bytes);
      if (magazine->count[small_class] == 0) [[unlikely]]
        refill(*magazine, small_class, stream);
      const Block& block = magazine->blocks[small_class][--magazine->count[small_class]];
      magazine->in_use.add(static_cast<int64_t>(block.size));
      magazine->allocations.add(1);
      return block;
    }
  }
  const TraceNote note("memory", &bytes, write_size);
  const TracedCall call(device_.trace_process, "memory", "allocate");
  Block block = allocate_shared(size_class(std::max<uint64_t>(bytes, 1)), bytes, stream);
  const std::lock_guard lock(mutex_);
  ++stats_.allocations;
  stats_.in_use += block.size;
  stats_.peak = std::max(stats_.peak, stats_.in_use);
  trace_usage();
  return block;
}

Block Pool::allocate_shared(uint64_t size, uint64_t asked, StreamState& stream) {
  Block block;
  plugin::Status status = plugin::kOk;
  {
    const std::lock_guard lock(mutex_);
    if (take_cached(size, stream, &block))
      ++stats_.hits;
    else
      status = allocate_new(size, &block);
  }
  if (status.ok()) return block;
  if (status.code != plugin::StatusCode::OutOfMemory) device_.fail(status, "allocate");
  release_cached();
  {
    const std::lock_guard lock(mutex_);
    status = allocate_new(size, &block);
    if (!status.ok()) ++stats_.failures;
  }
  if (!status.ok()) out_of_memory(asked, status);
  return block;
}

void Pool::free(const Block& block, UseList&& uses) noexcept {
  if (magazines_ && block.size <= kMagazineBytes && uses.empty()) {
    if (Magazine* magazine = magazine_for(*this)) {
      const uint32_t small_class = small_class_of(block.size);
      if (magazine->count[small_class] == kMagazineDepth) [[unlikely]]
        spill(*magazine, small_class);
      magazine->blocks[small_class][magazine->count[small_class]++] = block;
      magazine->in_use.add(-static_cast<int64_t>(block.size));
      return;
    }
  }
  const TraceNote note("memory", &block.size, write_size);
  const TracedCall call(device_.trace_process, "memory", "free");
  const std::lock_guard lock(mutex_);
  stats_.in_use -= block.size;
  keep(block, std::move(uses));
  trace_usage();
}

void Pool::trace_usage() const noexcept {
  if (trace_on()) [[unlikely]]
    trace_memory(device_.trace_process, stats_.in_use, held_ - stats_.in_use);
}

void Pool::attach(Magazine& magazine) {
  const std::lock_guard lock(mutex_);
  attached_.push_back(&magazine);
}

void Pool::detach(Magazine& magazine) noexcept {
  for (uint32_t i = 0; i < kMagazineClasses; ++i)
    while (magazine.count[i] > 0) spill(magazine, i);
  const std::lock_guard lock(mutex_);
  stats_.in_use += static_cast<uint64_t>(magazine.in_use.get());
  stats_.allocations += static_cast<uint64_t>(magazine.allocations.get());
  stats_.hits += static_cast<uint64_t>(magazine.allocations.get());
  stats_.peak = std::max(stats_.peak, stats_.in_use);
  std::erase(attached_, &magazine);
}

// Half a magazine at a time, so that a thread at the edge does not come here with every call.
void Pool::refill(Magazine& magazine, uint32_t small_class, StreamState& stream) {
  const uint64_t size = small_class_size(small_class);
  magazine.blocks[small_class][0] = allocate_shared(size, size, stream);
  magazine.count[small_class] = 1;
  const std::lock_guard lock(mutex_);
  uint64_t in_use = stats_.in_use;
  for (const Magazine* other : attached_) in_use += static_cast<uint64_t>(other->in_use.get());
  stats_.peak = std::max(stats_.peak, in_use);
  Block block;
  while (magazine.count[small_class] < kMagazineDepth / 2 && take_cached(size, stream, &block))
    magazine.blocks[small_class][magazine.count[small_class]++] = block;
}

void Pool::spill(Magazine& magazine, uint32_t small_class) noexcept {
  const std::lock_guard lock(mutex_);
  for (uint32_t i = 0; i < kMagazineDepth / 2 && magazine.count[small_class] > 0; ++i)
    keep(magazine.blocks[small_class][--magazine.count[small_class]], {});
}

// Moves out of the pool what can go back to the device: buffers of their own, and slabs of which every block
// is here.
void Pool::take_releasable(std::vector<Cached>* taken, std::vector<std::unique_ptr<Slab>>* slabs) {
  const std::lock_guard lock(mutex_);
  for (auto& [size, blocks] : cached_) {
    const auto staying = [](const Cached& c) {
      return c.block.slab != nullptr && c.block.slab->free != c.block.slab->carved;
    };
    const auto going = std::stable_partition(blocks.begin(), blocks.end(), staying);
    std::move(going, blocks.end(), std::back_inserter(*taken));
    blocks.erase(going, blocks.end());
  }
  const auto used = [](const auto& slab) { return slab->free != slab->carved; };
  const auto going = std::stable_partition(slabs_.begin(), slabs_.end(), used);
  std::move(going, slabs_.end(), std::back_inserter(*slabs));
  slabs_.erase(going, slabs_.end());
  for (const Cached& cached : *taken)
    if (cached.block.slab == nullptr) buffers_.erase(cached.block.buffer);
  for (const auto& slab : *slabs) buffers_.erase(slab->buffer);
}

void Pool::release_cached() {
  std::vector<Cached> taken;
  std::vector<std::unique_ptr<Slab>> slabs;
  take_releasable(&taken, &slabs);
  uint64_t freed = slabs.size() * kSlab;
  for (Cached& cached : taken) {
    try {
      for (const Use& use : cached.uses) use.stream->synchronize(use.ticket);
    } catch (const Error&) {
      // The work failed or the device is lost: either way it no longer uses the block.
    }
    if (cached.block.slab != nullptr) continue;
    cached.block.buffer->destroy();
    freed += cached.block.size;
  }
  for (const auto& slab : slabs) slab->buffer->destroy();
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
