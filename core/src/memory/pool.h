// SPDX-License-Identifier: Apache-2.0
//
// The caching allocator over one device's plain allocate and free.
//
// Sizes are rounded up to classes: multiples of 64 bytes up to 512, then eight steps to each doubling. Small
// blocks are carved from slabs where the plugin's buffers take offsets; large ones are segments of their own.
// A freed block is kept for reuse, with the uses of it that are still queued: the stream of such a use may
// have the block again at once, as its work is in order; any other only once they are done. A large request
// also takes a cached block up to a quarter larger, or, where buffers take offsets, a part of one up to eight
// times as large; the parts join again when they are free. When the device, or the limit, has no room, a part
// of any cached block will do; then all that is cached is given back and the request is tried once more. On a
// device that works in the calling thread each thread keeps a few of the smallest blocks (magazine.h) and
// takes no lock for them; the last few blocks of any size that nothing queued uses are found again at once
// (recent.h). Thread-safe. No lock is held while the device is waited for, but among those who are out of
// memory.
#ifndef BACKPLANE_SRC_MEMORY_POOL_H_
#define BACKPLANE_SRC_MEMORY_POOL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "backplane/device.h"
#include "backplane/plugin/interfaces.h"
#include "memory/recent.h"
#include "memory/segments.h"

namespace backplane::internal {

struct DeviceState;
struct StreamState;
struct Magazine;

class Pool {
 public:
  explicit Pool(DeviceState& device);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // At least `bytes` bytes for use on `stream`. `pending` gets the uses, all of that stream, that other
  // streams must still wait for. OutOfMemory says how much was asked for, is free, in use and cached.
  Block allocate(uint64_t bytes, StreamState& stream, UseList* pending);

  // Takes a block back; it is not handed out while any of `uses` is queued.
  void free(const Block& block, UseList&& uses) noexcept;

  MemoryStats stats() const;
  void set_limit(uint64_t bytes) noexcept;

  // Gives all cached memory back to the device, waiting for queued uses of it.
  void release_cached();

  // A magazine of this pool, refilled from and emptied into the shared classes; see magazine.h.
  void attach(Magazine& magazine);
  void detach(Magazine& magazine) noexcept;
  void refill(Magazine& magazine, uint32_t small_class);
  void spill(Magazine& magazine, uint32_t small_class) noexcept;

 private:
  struct Cached {
    Block block;
    UseList uses;
  };
  using Blocks = std::vector<Cached>;  // most recently freed last

  Block allocate_shared(uint64_t size, uint64_t asked, StreamState* stream, UseList* pending);
  Block allocate_at_last(uint64_t size, uint64_t asked, StreamState* stream, UseList* pending);
  bool take_cached(uint64_t size, StreamState* stream, Block* block, UseList* pending);
  bool take_small(Blocks& blocks, StreamState* stream, Block* block, UseList* pending);
  void keep(const Block& block, UseList&& uses);
  void keep_recent();  // puts the blocks freed last among the others, where the mutex is held
  plugin::Status carve(uint64_t size, Block* block);
  plugin::Status allocate_buffer(uint64_t size, plugin::Buffer** buffer);
  plugin::Status allocate_new(uint64_t size, Block* block);
  struct Releasable {
    plugin::Buffer* buffer;
    uint64_t size;
    UseList uses;
  };
  std::vector<Releasable> take_releasable();
  void trace_usage() const noexcept;
  [[noreturn]] void out_of_memory(uint64_t bytes, const plugin::Status& status);

  DeviceState& device_;
  const bool magazines_;
  const bool quick_;  // blocks freed last are found at once: nobody wants to know of each
  Recent recent_;
  mutable std::mutex mutex_;
  std::mutex release_mutex_;           // taken before mutex_, by whoever is out of memory
  std::map<uint64_t, Blocks> cached_;  // pieces of slabs, by size
  Segments segments_;
  std::vector<std::unique_ptr<Slab>> slabs_;  // the last one is being carved
  std::vector<Magazine*> attached_;
  std::unordered_set<plugin::Buffer*> buffers_;  // all that the device gave and has not got back
  uint64_t held_ = 0;                            // bytes taken from the device
  MemoryStats stats_;                            // without what recent_ and attached magazines count
};

// The class that a request belongs to: never more than an eighth above `bytes`, but for multiples of 64 below
// 512.
uint64_t size_class(uint64_t bytes) noexcept;

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_MEMORY_POOL_H_
