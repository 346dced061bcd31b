// SPDX-License-Identifier: Apache-2.0
//
// The parts of Device that concern its pool and its streams.
#include "backplane/device.h"
#include "memory/pinned.h"
#include "memory/pool.h"
#include "memory/storage.h"
#include "stream/stream_state.h"

namespace backplane::inline v0 {

void Device::synchronize(std::chrono::nanoseconds timeout) const {
  state_->ensure_ready();
  const auto deadline = std::chrono::steady_clock::now() +
                        std::min<std::chrono::nanoseconds>(timeout, std::chrono::hours(24 * 365));
  for (internal::StreamState* stream : internal::all_streams(*state_)) {
    const auto left = deadline - std::chrono::steady_clock::now();
    stream->synchronize(timeout == std::chrono::nanoseconds::max()
                            ? timeout
                            : std::chrono::duration_cast<std::chrono::nanoseconds>(left));
  }
  internal::PendingError::check_watched(*state_);
}

MemoryStats Device::memory_stats() const {
  state_->ensure_ready();
  return state_->pool->stats();
}

void Device::empty_cache() const {
  state_->ensure_ready();
  state_->pinned->release();
  state_->pool->release_cached();
}

void Device::set_memory_limit(uint64_t bytes) const {
  state_->ensure_ready();
  state_->memory_limit.store(bytes);
  state_->pool->set_limit(bytes);
}

}  // namespace backplane::inline v0
