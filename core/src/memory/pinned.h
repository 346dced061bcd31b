// SPDX-License-Identifier: Apache-2.0
//
// Pinned host memory of one device for copies that go through the host, kept for reuse. Where the device has
// none, plain memory. Thread-safe.
#ifndef BACKPLANE_SRC_MEMORY_PINNED_H_
#define BACKPLANE_SRC_MEMORY_PINNED_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backplane/plugin/interfaces.h"
#include "stream/use.h"

namespace backplane::internal {

struct DeviceState;

struct PinnedBlock {
  char* data = nullptr;
  uint64_t size = 0;
  plugin::Buffer* buffer = nullptr;  // null for plain memory
};

class PinnedCache {
 public:
  explicit PinnedCache(DeviceState& device) : device_(device) {}
  ~PinnedCache();  // after all streams of all devices have been drained
  PinnedCache(const PinnedCache&) = delete;
  PinnedCache& operator=(const PinnedCache&) = delete;

  // Exactly `size` bytes that nothing queued uses; false where the device has no pinned memory.
  bool take(uint64_t size, PinnedBlock* block);
  PinnedBlock take_plain(uint64_t size);

  // Takes a block back; it is not handed out while any of `uses` is queued.
  void give(const PinnedBlock& block, UseList&& uses) noexcept;

  // Frees what is kept, waiting for queued uses of it.
  void release() noexcept;

 private:
  struct Kept {
    PinnedBlock block;
    UseList uses;
  };

  void make_room();
  bool take_kept(uint64_t size, bool pinned, PinnedBlock* block);
  static void destroy(const PinnedBlock& block) noexcept;

  DeviceState& device_;
  std::mutex mutex_;
  std::vector<Kept> kept_;
  std::vector<PinnedBlock> lent_;
};

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_MEMORY_PINNED_H_
