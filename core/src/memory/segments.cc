// SPDX-License-Identifier: Apache-2.0
#include "memory/segments.h"

#include <algorithm>
#include <iterator>

#include "stream/stream_state.h"

namespace backplane::internal {
namespace {

// What is cut off is worth keeping only if another large block fits in.
constexpr uint64_t kSmallestRest = 1u << 18;
constexpr uint64_t kMostShares = 8;

uint64_t largest_fit(uint64_t size, Segments::Fit fit) {
  if (fit == Segments::Fit::Whole) return size + size / 4;
  if (fit == Segments::Fit::Share && size <= UINT64_MAX / kMostShares) return size * kMostShares;
  return UINT64_MAX;
}

Block block_at(Segment& segment, uint64_t offset, uint64_t size) {
  const uint64_t address = segment.buffer->address();
  char* const host = static_cast<char*>(segment.buffer->host_pointer());
  return {segment.buffer,
          offset,
          size,
          address == 0 ? 0 : address + offset,
          host == nullptr ? nullptr : host + offset,
          nullptr,
          &segment};
}

}  // namespace

bool take_uses(UseList& uses, const StreamState* stream, UseList* pending) {
  const auto later = std::partition(uses.begin(), uses.end(),
                                    [](const Use& use) { return use.stream->complete(use.ticket); });
  if (!std::all_of(later, uses.end(), [&](const Use& use) { return use.stream == stream; })) return false;
  pending->assign(later, uses.end());
  return true;
}

void merge_uses(UseList& into, const UseList& more) {
  for (const Use& use : more) {
    const auto same =
        std::find_if(into.begin(), into.end(), [&](const Use& u) { return u.stream == use.stream; });
    if (same == into.end())
      into.push_back(use);
    else
      same->ticket = std::max(same->ticket, use.ticket);
  }
}

bool Segments::take(uint64_t size, Fit fit, StreamState* stream, Block* block, UseList* pending) {
  if (fit != Fit::Whole && !divisible_) return false;
  const uint64_t most = largest_fit(size, fit);
  for (auto found = free_.lower_bound({size, nullptr, 0}); found != free_.end() && found->size <= most;
       ++found) {
    Segment& segment = *found->segment;
    const auto piece = segment.pieces.find(found->offset);
    if (!take_uses(piece->second.uses, stream, pending)) continue;
    free_.erase(found);
    piece->second.free = false;
    piece->second.uses.clear();
    if (fit != Fit::Whole && piece->second.size - size >= kSmallestRest) {
      cut(segment, piece, size);
      merge_uses(std::next(piece)->second.uses, *pending);
    }
    *block = block_at(segment, piece->first, piece->second.size);
    return true;
  }
  return false;
}

void Segments::cut(Segment& segment, Pieces::iterator piece, uint64_t size) {
  const uint64_t rest = piece->second.size - size;
  const uint64_t offset = piece->first + size;
  piece->second.size = size;
  segment.pieces.emplace(offset, Piece{rest, true, {}});
  free_.insert({rest, &segment, offset});
}

Block Segments::add(plugin::Buffer* buffer, uint64_t size) {
  auto owned = std::make_unique<Segment>();
  Segment* segment = owned.get();
  segment->buffer = buffer;
  segment->size = size;
  segment->pieces.emplace(0, Piece{size, false, {}});
  segments_.emplace(segment, std::move(owned));
  return block_at(*segment, 0, size);
}

void Segments::keep(const Block& block, UseList&& uses) {
  Segment& segment = *block.segment;
  auto piece = segment.pieces.find(block.offset);
  piece->second.free = true;
  piece->second.uses = std::move(uses);
  const auto join = [&](Pieces::iterator left, Pieces::iterator right) {
    left->second.size += right->second.size;
    merge_uses(left->second.uses, right->second.uses);
    segment.pieces.erase(right);
  };
  if (const auto next = std::next(piece); next != segment.pieces.end() && next->second.free) {
    free_.erase({next->second.size, &segment, next->first});
    join(piece, next);
  }
  if (piece != segment.pieces.begin() && std::prev(piece)->second.free) {
    const auto previous = std::prev(piece);
    free_.erase({previous->second.size, &segment, previous->first});
    join(previous, piece);
    piece = previous;
  }
  free_.insert({piece->second.size, &segment, piece->first});
}

std::vector<std::unique_ptr<Segment>> Segments::take_free() {
  std::vector<std::unique_ptr<Segment>> taken;
  for (auto next = segments_.begin(); next != segments_.end();) {
    const auto here = next++;
    Segment& segment = *here->second;
    if (segment.pieces.size() != 1 || !segment.pieces.begin()->second.free) continue;
    free_.erase({segment.size, &segment, 0});
    taken.push_back(std::move(here->second));
    segments_.erase(here);
  }
  return taken;
}

}  // namespace backplane::internal
