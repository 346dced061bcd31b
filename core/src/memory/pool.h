// SPDX-License-Identifier: Apache-2.0
//
// The caching allocator over one device's plain allocate and free.
//
// Sizes are rounded up to classes: multiples of 64 bytes up to 512, then eight steps to each doubling. Small
// blocks are carved from slabs where the plugin's buffers take offsets; large ones are buffers of their own.
// A freed block is kept for reuse, with the uses of it that are still queued: the stream of such a use may
// have the block again at once, as its work is in order; any other only once they are done. A large request
// also takes a cached block up to a quarter larger. When the device, or the limit, has no room, cached blocks
// and empty slabs are given back and the request is tried once more. On a device that works in the calling
// thread each thread keeps a few of the smallest blocks (magazine.h) and takes no lock for them.
// Thread-safe. No lock is held while the device is waited for.
#ifndef BACKPLANE_SRC_MEMORY_POOL_H_
#define BACKPLANE_SRC_MEMORY_POOL_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "backplane/device.h"
#include "backplane/plugin/interfaces.h"
#include "stream/use.h"

namespace backplane::internal {

struct DeviceState;
struct StreamState;
struct Magazine;

// A large buffer that small blocks are carved from, one after the other.
struct Slab {
  plugin::Buffer* buffer = nullptr;
  uint64_t address = 0;
  char* host = nullptr;
  uint64_t carved = 0;  // bytes
  uint64_t free = 0;    // bytes of them that are cached
};

// A piece of device memory, with what a launch needs to address it.
struct Block {
  plugin::Buffer* buffer = nullptr;
  uint64_t offset = 0;   // bytes from the buffer's start
  uint64_t size = 0;     // bytes, the class's
  uint64_t address = 0;  // buffer->address() + offset, or 0
  char* host = nullptr;  // buffer->host_pointer() + offset, or null
  Slab* slab = nullptr;  // that it was carved from
};

class Pool {
 public:
  explicit Pool(DeviceState& device);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // At least `bytes` bytes for use on `stream`. OutOfMemory says how much was asked for, is free, in use and
  // cached.
  Block allocate(uint64_t bytes, StreamState& stream);

  // Takes a block back; it is not handed out while any of `uses` is queued.
  void free(const Block& block, UseList&& uses) noexcept;

  MemoryStats stats() const;
  void set_limit(uint64_t bytes) noexcept;

  // Gives all cached memory back to the device, waiting for queued uses of it.
  void release_cached();

  // A magazine of this pool, refilled from and emptied into the shared classes; see magazine.h.
  void attach(Magazine& magazine);
  void detach(Magazine& magazine) noexcept;
  void refill(Magazine& magazine, uint32_t small_class, StreamState& stream);
  void spill(Magazine& magazine, uint32_t small_class) noexcept;

 private:
  struct Cached {
    Block block;
    UseList uses;
  };
  using Blocks = std::vector<Cached>;  // most recently freed last

  Block allocate_shared(uint64_t size, uint64_t asked, StreamState& stream);
  bool take_cached(uint64_t size, StreamState& stream, Block* block);
  bool take_from(Blocks& blocks, StreamState& stream, Block* block);
  void keep(const Block& block, UseList&& uses);
  plugin::Status carve(uint64_t size, Block* block);
  plugin::Status allocate_buffer(uint64_t size, plugin::Buffer** buffer);
  plugin::Status allocate_new(uint64_t size, Block* block);
  void take_releasable(std::vector<Cached>* taken, std::vector<std::unique_ptr<Slab>>* slabs);
  void trace_usage() const noexcept;  // where the mutex is held
  [[noreturn]] void out_of_memory(uint64_t bytes, const plugin::Status& status);

  DeviceState& device_;
  const bool magazines_;
  mutable std::mutex mutex_;
  std::map<uint64_t, Blocks> cached_;         // by size
  std::vector<std::unique_ptr<Slab>> slabs_;  // the last one is being carved
  std::vector<Magazine*> attached_;
  std::unordered_set<plugin::Buffer*> buffers_;  // all that the device gave and has not got back
  uint64_t held_ = 0;                            // bytes taken from the device
  MemoryStats stats_;                            // without what attached magazines count
};

// The class that a request belongs to: never more than an eighth above `bytes`, but for multiples of 64 below
// 512.
uint64_t size_class(uint64_t bytes) noexcept;

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_MEMORY_POOL_H_
