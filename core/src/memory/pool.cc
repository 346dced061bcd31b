// SPDX-License-Identifier: Apache-2.0
#include "memory/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "backplane/error.h"
#include "device/device_state.h"
#include "memory/magazine.h"
#include "stream/finish.h"
#include "stream/stream_state.h"
#include "trace/trace.h"

namespace backplane::internal {
namespace {

constexpr uint64_t kUnit = 64;         // smallest class; a cache line
constexpr uint64_t kSmall = 1u << 18;  // blocks up to this are carved from slabs
constexpr uint64_t kSlab = 4u << 20;   // bytes of a slab
constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

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
    : device_(device),
      magazines_(device.synchronous && device.buffer_offsets && !trace_on()),
      quick_(!trace_on()),
      segments_(device.buffer_offsets) {
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
  const Recent::Counters counters = recent_.counters();
  MemoryStats stats = stats_;
  stats.in_use = static_cast<uint64_t>(counters.in_use);
  stats.peak = static_cast<uint64_t>(counters.peak);
  stats.allocations = counters.allocations;
  stats.hits += counters.hits;
  for (const Magazine* magazine : attached_) {
    stats.in_use += static_cast<uint64_t>(magazine->in_use.get());
    stats.allocations += static_cast<uint64_t>(magazine->allocations.get());
    stats.hits += static_cast<uint64_t>(magazine->allocations.get());
  }
  stats.peak = std::max(stats.peak, stats.in_use);
  stats.cached = held_ - stats.in_use;
  return stats;
}

// Prefers the most recently freed block, which is the likeliest to be in a cache.
bool Pool::take_small(Blocks& blocks, StreamState* stream, Block* block, UseList* pending) {
  for (size_t i = blocks.size(); i-- > 0;) {
    if (!take_uses(blocks[i].uses, stream, pending)) continue;
    *block = blocks[i].block;
    if (i + 1 != blocks.size()) blocks[i] = std::move(blocks.back());
    blocks.pop_back();
    block->slab->free -= block->size;
    return true;
  }
  return false;
}

bool Pool::take_cached(uint64_t size, StreamState* stream, Block* block, UseList* pending) {
  if (device_.buffer_offsets && size <= kSmall) {
    const auto found = cached_.find(size);
    if (found != cached_.end() && take_small(found->second, stream, block, pending)) return true;
  }
  return segments_.take(size, Segments::Fit::Whole, stream, block, pending) ||
         (size > kSmall && segments_.take(size, Segments::Fit::Share, stream, block, pending));
}

void Pool::keep(const Block& block, UseList&& uses) {
  if (block.segment != nullptr) return segments_.keep(block, std::move(uses));
  cached_[block.size].push_back({block, std::move(uses)});
  block.slab->free += block.size;
}

void Pool::keep_recent() {
  std::array<Block, Recent::kMost> blocks;
  const uint32_t count = recent_.take_all(&blocks);
  for (uint32_t i = 0; i < count; ++i) keep(blocks[i], {});
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
            &slab,
            nullptr};
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
  if (status.ok()) *block = segments_.add(buffer, size);
  return status;
}

Block Pool::allocate(uint64_t bytes, StreamState& stream, UseList* pending) {
  if (magazines_ && bytes <= kMagazineBytes) {
    if (Magazine* magazine = magazine_for(*this)) {
      const uint32_t small_class = bytes == 0 ? 0 : small_class_of(bytes);
      if (magazine->count[small_class] == 0) [[unlikely]]
        refill(*magazine, small_class);
      const Block& block = magazine->blocks[small_class][--magazine->count[small_class]];
      magazine->in_use.add(static_cast<int64_t>(block.size));
      magazine->allocations.add(1);
      return block;
    }
  }
  const uint64_t size = size_class(bytes);
  Block block;
  if (recent_.take(size, &block)) return block;
  const TraceNote note("memory", &bytes, write_size);
  const TracedCall call(device_.trace_process, "memory", "allocate");
  block = allocate_shared(size, bytes, &stream, pending);
  recent_.count_allocation(block.size);
  trace_usage();
  return block;
}

Block Pool::allocate_shared(uint64_t size, uint64_t asked, StreamState* stream, UseList* pending) {
  Block block;
  plugin::Status status = plugin::kOk;
  {
    const std::lock_guard lock(mutex_);
    keep_recent();
    if (take_cached(size, stream, &block, pending))
      ++stats_.hits;
    else
      status = allocate_new(size, &block);
  }
  if (status.ok()) return block;
  if (status.code != plugin::StatusCode::OutOfMemory) device_.fail(status, "allocate");
  return allocate_at_last(size, asked, stream, pending);
}

// One at a time: what one thread is about to give back would not be found by the next.
Block Pool::allocate_at_last(uint64_t size, uint64_t asked, StreamState* stream, UseList* pending) {
  const std::lock_guard release_lock(release_mutex_);
  Block block;
  {
    const std::lock_guard lock(mutex_);
    keep_recent();
    if (segments_.take(size, Segments::Fit::Anything, stream, &block, pending)) {
      ++stats_.hits;
      return block;
    }
  }
  release_cached();
  plugin::Status status = plugin::kOk;
  {
    const std::lock_guard lock(mutex_);
    keep_recent();
    // A part of a segment that could not go may do, now that nothing waits for it.
    if (segments_.take(size, Segments::Fit::Anything, stream, &block, pending)) return block;
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
  const bool quick = quick_ && uses.empty();
  if (quick && recent_.keep(block)) return;
  const TraceNote note("memory", &block.size, write_size);
  const TracedCall call(device_.trace_process, "memory", "free");
  {
    const std::lock_guard lock(mutex_);
    keep_recent();
    if (!quick || !recent_.keep(block)) {
      recent_.count_free(block.size);
      keep(block, std::move(uses));
    }
  }
  trace_usage();
}

void Pool::trace_usage() const noexcept {
  if (!trace_on()) [[likely]]
    return;
  const MemoryStats now = stats();
  trace_memory(device_.trace_process, now.in_use, now.cached);
}

void Pool::attach(Magazine& magazine) {
  const std::lock_guard lock(mutex_);
  attached_.push_back(&magazine);
}

void Pool::detach(Magazine& magazine) noexcept {
  for (uint32_t i = 0; i < kMagazineClasses; ++i)
    while (magazine.count[i] > 0) spill(magazine, i);
  const std::lock_guard lock(mutex_);
  recent_.count_magazine(magazine.in_use.get(), magazine.allocations.get());
  std::erase(attached_, &magazine);
}

// Half a magazine at a time, so that a thread at the edge does not come here with every call. Only blocks
// that nothing queued uses: they are handed out again without a look at the stream.
void Pool::refill(Magazine& magazine, uint32_t small_class) {
  const uint64_t size = small_class_size(small_class);
  UseList none;
  magazine.blocks[small_class][0] = allocate_shared(size, size, nullptr, &none);
  magazine.count[small_class] = 1;
  const std::lock_guard lock(mutex_);
  int64_t in_use = 0;
  for (const Magazine* other : attached_) in_use += other->in_use.get();
  recent_.count_peak(in_use);
  Block block;
  while (magazine.count[small_class] < kMagazineDepth / 2 && take_cached(size, nullptr, &block, &none))
    magazine.blocks[small_class][magazine.count[small_class]++] = block;
}

void Pool::spill(Magazine& magazine, uint32_t small_class) noexcept {
  const std::lock_guard lock(mutex_);
  for (uint32_t i = 0; i < kMagazineDepth / 2 && magazine.count[small_class] > 0; ++i)
    keep(magazine.blocks[small_class][--magazine.count[small_class]], {});
}

// Moves out of the pool what can go back to the device: segments, and slabs, of which every block is here.
std::vector<Pool::Releasable> Pool::take_releasable() {
  const std::lock_guard lock(mutex_);
  keep_recent();
  std::vector<Releasable> taken;
  for (const auto& segment : segments_.take_free())
    taken.push_back({segment->buffer, segment->size, std::move(segment->pieces.begin()->second.uses)});
  std::map<const Slab*, UseList> slab_uses;
  for (auto& [size, blocks] : cached_) {
    const auto staying = [](const Cached& c) { return c.block.slab->free != c.block.slab->carved; };
    const auto going = std::stable_partition(blocks.begin(), blocks.end(), staying);
    for (auto cached = going; cached != blocks.end(); ++cached)
      merge_uses(slab_uses[cached->block.slab], cached->uses);
    blocks.erase(going, blocks.end());
  }
  std::erase_if(slabs_, [&](const std::unique_ptr<Slab>& slab) {
    if (slab->free != slab->carved) return false;
    taken.push_back({slab->buffer, kSlab, std::move(slab_uses[slab.get()])});
    return true;
  });
  for (const Releasable& releasable : taken) buffers_.erase(releasable.buffer);
  return taken;
}

void Pool::release_cached() {
  uint64_t freed = 0;
  for (const Releasable& releasable : take_releasable()) {
    finish_all(releasable.uses);
    releasable.buffer->destroy();
    freed += releasable.size;
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
