// SPDX-License-Identifier: Apache-2.0
#include "copy/staged.h"

#include <algorithm>
#include <array>
#include <bit>

#include "memory/pinned.h"

namespace backplane::internal {
namespace {

// Chunks in flight: enough that one leg goes on while word of the other's progress is under way, and so many
// that the first and the last, which one leg does alone, count for little. Together they stay in a cache.
constexpr size_t kSlots = 8;
constexpr uint64_t kLargestChunk = 1u << 20;
constexpr uint64_t kSmallestChunk = 256u << 10;  // below this a chunk costs more in calls than in bytes
constexpr uint64_t kSmallestSlot = 64u << 10;

// Of few sizes, so that slots are found again.
uint64_t chunk_for(uint64_t bytes) {
  if (bytes <= kSmallestChunk) return std::max(kSmallestSlot, std::bit_ceil(bytes));
  return std::clamp(std::bit_ceil(bytes / (2 * kSlots)), kSmallestChunk, kLargestChunk);
}

// Host memory for a few chunks: the source's pinned memory, else the destination's, else plain.
class Slots {
 public:
  struct Slot {
    PinnedBlock block;
    PinnedCache* owner = nullptr;
    Use filled, emptied;
  };

  Slots(DeviceState& from, DeviceState& to, uint64_t chunk, uint64_t count) {
    for (; count_ < count; ++count_) {
      Slot& slot = slots_[count_];
      slot.owner = from.pinned.get();
      if (from.pinned->take(chunk, &slot.block)) continue;
      if (to.pinned->take(chunk, &slot.block))
        slot.owner = to.pinned.get();
      else
        slot.block = from.pinned->take_plain(chunk);
    }
  }
  ~Slots() {
    for (size_t i = 0; i < count_; ++i) {
      UseList uses;
      for (const Use& use : {slots_[i].filled, slots_[i].emptied})
        if (use.ticket != 0) uses.push_back(use);
      slots_[i].owner->give(slots_[i].block, std::move(uses));
    }
  }
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  Slot& operator[](size_t i) noexcept { return slots_[i % count_]; }

 private:
  std::array<Slot, kSlots> slots_;
  size_t count_ = 0;
};

}  // namespace

void copy_staged(const Transfer& t) {
  StreamState& src_stream = current_stream(t.src.device());
  StreamState& dst_stream = current_stream(t.dst.device());
  const uint64_t chunk = chunk_for(t.bytes);
  const uint64_t chunks = (t.bytes - 1) / chunk + 1;
  Slots slots(t.src.device(), t.dst.device(), chunk, std::min<uint64_t>(kSlots, chunks));
  t.src.order_read(src_stream);
  t.dst.order_write(dst_stream);
  const UseList before = t.origins(dst_stream);
  for (uint64_t i = 0; i < chunks; ++i) {
    const uint64_t at = i * chunk;
    const uint64_t bytes = std::min(chunk, t.bytes - at);
    Slots::Slot& slot = slots[i];
    if (slot.emptied.ticket != 0) src_stream.wait_for(slot.emptied);
    slot.filled = {&src_stream, src_stream.submit("copy", [&] {
                     return src_stream.stream->download(slot.block.data, t.src.block().buffer,
                                                        t.src_at() + at, bytes);
                   })};
    t.src.note_read(src_stream, slot.filled.ticket);
    if (slot.filled.ticket != 0) dst_stream.wait_for(slot.filled);
    slot.emptied = {&dst_stream, dst_stream.submit("copy", [&] {
                      return dst_stream.stream->upload(t.dst.block().buffer, t.dst_at() + at, slot.block.data,
                                                       bytes);
                    })};
    UseList origins = before;
    if (slot.filled.ticket != 0) add_origin(slot.filled, dst_stream, &origins);
    t.dst.note_write(dst_stream, slot.emptied.ticket, origins);
    // The download that takes this slot next must not wait for the uploads queued until then.
    if (chunks - i > kSlots) dst_stream.mark(slot.emptied.ticket);
  }
}

}  // namespace backplane::internal
