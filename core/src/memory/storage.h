// SPDX-License-Identifier: Apache-2.0
//
// Storage: one allocation on one device, shared by the tensors that view it, with the uses of it that may
// still be queued.
#ifndef BACKPLANE_SRC_MEMORY_STORAGE_H_
#define BACKPLANE_SRC_MEMORY_STORAGE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "memory/pool.h"
#include "stream/stream_state.h"

namespace backplane::internal {

// A data-dependent failure that the device reports in an error word, known only when that work is done.
class PendingError;
using ErrorList = std::vector<std::shared_ptr<PendingError>>;

class Storage {
 public:
  // From the device's pool, for use on the current stream.
  static Storage* allocate(DeviceState& device, uint64_t bytes);

  // Memory of somebody else's; `release` runs once, when the last tensor is gone and all its work is done.
  static Storage* wrap(DeviceState& device, plugin::Buffer* buffer, uint64_t bytes,
                       std::function<void()> release, bool read_only);

  // Made and freed with every result: taken from the thread's spare ones.
  static void* operator new(size_t size);
  static void operator delete(void* memory, size_t size) noexcept;

  void retain() noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    // Whoever holds the only reference needs no locked instruction: nobody else can add one.
    if (refs_.load(std::memory_order_acquire) == 1 || refs_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy();
  }

  DeviceState& device() const noexcept { return *device_; }
  const Block& block() const noexcept { return block_; }
  uint64_t bytes() const noexcept { return bytes_; }
  bool read_only() const noexcept { return read_only_; }

  // Makes `stream` wait for what a read, or a write, of this storage must come after; then, once the work is
  // queued, notes it.
  void order_read(StreamState& stream) {
    if (flags() & kTracked) order(stream, false);
  }
  void order_write(StreamState& stream) {
    if (flags() & kTracked) order(stream, true);
  }
  void note_read(StreamState& stream, uint64_t ticket) {
    if (ticket != 0) note(stream, ticket);
  }
  // A write is followed whether or not it covers all of the memory; it hands on the failures of `origins`.
  void note_write(StreamState& stream, uint64_t ticket, const UseList& origins = {}) {
    if (ticket != 0 || needs_care() || !origins.empty()) note_written(stream, ticket, origins);
  }

  // Adds the writes whose failure a result that is made from these contents on `stream` has to report: those
  // that failed, and those of other streams that may yet.
  void add_origins(const StreamState& stream, UseList* origins) const {
    if (flags() & (kTracked | kDerived)) collect_origins(stream, origins);
  }

  // Blocks the host until it may read, or write, this storage.
  void wait_for_host(bool write);

  // The last write that may still be queued; without a stream if there is none.
  Use last_write() const;

  // Whether no queued work uses this storage, without blocking.
  bool idle();

  // Whether there may be uses to wait for or failures to hand on: nearly never, for a device that works in
  // the calling thread.
  bool needs_care() const noexcept { return flags() != 0; }

  // Data-dependent failures of the work that made these contents. `poison` adds to them; `overwrite_errors`
  // puts others in their place, as nothing is left of the old contents.
  bool poisoned() const noexcept { return (flags() & kPoisoned) != 0; }
  ErrorList errors() const;
  void poison(const ErrorList& errors);
  void overwrite_errors(const ErrorList& errors);
  // Throws the first failure that is known to have happened, of this storage's last write, of what that was
  // made from, or data-dependent; the host has waited for this storage's writes.
  void throw_errors();

 private:
  static constexpr uint8_t kTracked = 1;   // write_ or reads_ may hold something
  static constexpr uint8_t kPoisoned = 2;  // errors_ is not empty
  static constexpr uint8_t kDerived = 4;   // origins_ is not empty

  Storage() = default;
  ~Storage() = default;
  uint8_t flags() const noexcept { return flags_.load(std::memory_order_acquire); }
  void destroy() noexcept;
  void order(StreamState& stream, bool write);
  void note(StreamState& stream, uint64_t ticket);
  void note_written(StreamState& stream, uint64_t ticket, const UseList& origins);
  void collect_origins(const StreamState& stream, UseList* origins) const;
  UseList pending(bool with_reads);

  std::atomic<uint32_t> refs_{1};
  std::atomic<uint8_t> flags_{0};
  bool read_only_ = false;
  bool pooled_ = true;
  DeviceState* device_ = nullptr;
  Block block_;
  uint64_t bytes_ = 0;
  mutable std::mutex mutex_;
  Use write_;
  UseList reads_;
  UseList origins_;  // of the last write
  ErrorList errors_;
  std::function<void()> release_;
};

// Adds the write `use` to the origins of a result on `stream`, unless it is known to be good or its failure
// is that stream's own.
void add_origin(const Use& use, const StreamState& stream, UseList* origins);

// One error word on a device and what to say when it is set.
class PendingError {
 public:
  PendingError(Storage* word, std::string message) : word_(word), message_(std::move(message)) {}
  ~PendingError();
  Storage& word() noexcept { return *word_; }

  // Reads the word (the host has waited for it) at the first call; throws InvalidArgument when it is set.
  void check();
  // Whether it is known, without blocking, that nothing failed.
  bool known_good();

  // Keeps `error` until the device is synchronised, so that it is reported even when its results are never
  // read.
  static void watch(const std::shared_ptr<PendingError>& error);
  // Throws the first watched failure of the device, whose work the host has waited for, and forgets them all.
  static void check_watched(DeviceState& device);

 private:
  enum class State { Unknown, Good, Failed };
  State read();

  std::mutex mutex_;
  State state_ = State::Unknown;
  Storage* word_;
  std::string message_;
  int64_t position_ = 0;
};

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_MEMORY_STORAGE_H_
