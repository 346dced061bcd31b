// SPDX-License-Identifier: Apache-2.0
//
// The caching allocator over one device's plain allocate and free.
//
// Sizes are rounded up to classes (64 bytes, then eight steps to each doubling). Small blocks are carved from
// slabs where the plugin's buffers take offsets; large ones are buffers of their own. A freed block is kept
// for reuse, with the uses of it that are still queued: the stream of such a use may have the block again at
// once, as its work is in order; any other only once they are done. When the device, or the limit, has no
// room, cached blocks are given back and the request is tried once more. Thread-safe. No lock is held while
// the device is waited for.
#ifndef BACKPLANE_SRC_MEMORY_POOL_H_
#define BACKPLANE_SRC_MEMORY_POOL_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "backplane/device.h"
#include "backplane/plugin/interfaces.h"
#include "stream/use.h"

namespace backplane::internal {

struct DeviceState;
struct StreamState;

// A piece of device memory, with what a launch needs to address it.
struct Block {
  plugin::Buffer* buffer = nullptr;
  uint64_t offset = 0;   // bytes from the buffer's start
  uint64_t size = 0;     // bytes, the class's
  uint64_t address = 0;  // buffer->address() + offset, or 0
  char* host = nullptr;  // buffer->host_pointer() + offset, or null
  bool carved = false;   // part of a slab
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

 private:
  struct Cached {
    Block block;
    UseList uses;
  };
  struct SizeClass {
    std::vector<Cached> blocks;  // most recently freed last
  };

  bool take_cached(uint64_t size, StreamState& stream, Block* block);
  plugin::Status carve(uint64_t size, Block* block);
  plugin::Status allocate_buffer(uint64_t size, plugin::Buffer** buffer);
  plugin::Status allocate_new(uint64_t size, Block* block);
  [[noreturn]] void out_of_memory(uint64_t bytes, const plugin::Status& status);

  DeviceState& device_;
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, SizeClass> classes_;
  std::vector<plugin::Buffer*> slabs_;
  Block slab_rest_;    // what is not yet carved of the newest slab
  uint64_t held_ = 0;  // bytes taken from the device
  MemoryStats stats_;
};

// The class that a request belongs to. A multiple of 64 that is never more than an eighth above `bytes`, but
// for the first.
uint64_t size_class(uint64_t bytes) noexcept;

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_MEMORY_POOL_H_
