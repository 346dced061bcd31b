// SPDX-License-Identifier: Apache-2.0
//
// Device buffers that large blocks are cut from, and put together again when neighbours are both free. Where
// the plugin's buffers take no offsets a segment is one block. Not thread-safe: the pool's own lock guards
// it.
#ifndef BACKPLANE_SRC_MEMORY_SEGMENTS_H_
#define BACKPLANE_SRC_MEMORY_SEGMENTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "memory/block.h"

namespace backplane::internal {

// A part of a segment, handed out or free.
struct Piece {
  uint64_t size = 0;
  bool free = false;
  UseList uses;  // still queued when it was freed
};

struct Segment {
  plugin::Buffer* buffer = nullptr;
  uint64_t size = 0;
  std::map<uint64_t, Piece> pieces;  // by offset; they cover the segment
};

class Segments {
 public:
  // How much larger than asked for a free piece may be, and what becomes of the rest.
  enum class Fit {
    Whole,     // at most a quarter larger; none of it is cut off
    Share,     // at most eight times as large; the rest stays free
    Anything,  // of any size; the rest stays free
  };

  explicit Segments(bool divisible) : divisible_(divisible) {}

  // A free piece for use on `stream`, by size and then by address; see take_uses.
  bool take(uint64_t size, Fit fit, StreamState* stream, Block* block, UseList* pending);

  // A new segment over a buffer of `size` bytes, handed out whole.
  Block add(plugin::Buffer* buffer, uint64_t size);

  // Takes a block of a segment back, and joins it with its free neighbours.
  void keep(const Block& block, UseList&& uses);

  // Moves out the segments that are free as a whole.
  std::vector<std::unique_ptr<Segment>> take_free();

 private:
  struct Place {
    uint64_t size;
    Segment* segment;
    uint64_t offset;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a 0 here
    auto operator<=>(const Place&) const = default;
  };
  using Pieces = std::map<uint64_t, Piece>;

  void cut(Segment& segment, Pieces::iterator piece, uint64_t size);

  const bool divisible_;
  std::map<Segment*, std::unique_ptr<Segment>> segments_;
  std::set<Place> free_;
};

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_MEMORY_SEGMENTS_H_
