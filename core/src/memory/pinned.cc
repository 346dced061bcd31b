// SPDX-License-Identifier: Apache-2.0
#include "memory/pinned.h"

#include <algorithm>
#include <new>
#include <utility>

#include "device/device_state.h"
#include "memory/block.h"
#include "stream/finish.h"
#include "stream/stream_state.h"

namespace backplane::internal {
namespace {

// What one copy has in flight, twice: more is given back once it is idle.
constexpr size_t kMostKept = 16;
constexpr std::align_val_t kPage{4096};

}  // namespace

PinnedCache::~PinnedCache() {
  for (const Kept& kept : kept_) destroy(kept.block);
  for (const PinnedBlock& block : lent_) destroy(block);
}

void PinnedCache::destroy(const PinnedBlock& block) noexcept {
  if (block.buffer != nullptr)
    block.buffer->destroy();
  else
    ::operator delete(block.data, kPage);
}

bool PinnedCache::take_kept(uint64_t size, bool pinned, PinnedBlock* block) {
  UseList none;
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](Kept& kept) {
    return kept.block.size == size && (kept.block.buffer != nullptr) == pinned &&
           take_uses(kept.uses, nullptr, &none);
  });
  if (found == kept_.end()) return false;
  *block = found->block;
  kept_.erase(found);
  lent_.push_back(*block);
  return true;
}

// So that neither handing out nor taking back can fail half-way.
void PinnedCache::make_room() {
  lent_.reserve(lent_.size() + 1);
  kept_.reserve(kept_.size() + lent_.size() + 1);
}

bool PinnedCache::take(uint64_t size, PinnedBlock* block) {
  const std::lock_guard lock(mutex_);
  make_room();
  if (take_kept(size, true, block)) return true;
  plugin::Buffer* buffer = nullptr;
  if (!device_.device->alloc_host(size, &buffer).ok()) return false;
  *block = {static_cast<char*>(buffer->host_pointer()), size, buffer};
  lent_.push_back(*block);
  return true;
}

PinnedBlock PinnedCache::take_plain(uint64_t size) {
  const std::lock_guard lock(mutex_);
  make_room();
  PinnedBlock block;
  if (take_kept(size, false, &block)) return block;
  block = {static_cast<char*>(::operator new(size, kPage)), size, nullptr};
  lent_.push_back(block);
  return block;
}

void PinnedCache::give(const PinnedBlock& block, UseList&& uses) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(lent_, [&](const PinnedBlock& lent) { return lent.data == block.data; });
  kept_.push_back({block, std::move(uses)});
  UseList none;
  while (kept_.size() > kMostKept && take_uses(kept_.front().uses, nullptr, &none)) {
    destroy(kept_.front().block);
    kept_.erase(kept_.begin());
  }
}

void PinnedCache::release() noexcept {
  std::vector<Kept> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(kept_);
  }
  for (const Kept& kept : taken) {
    finish_all(kept.uses);
    destroy(kept.block);
  }
}

}  // namespace backplane::internal
