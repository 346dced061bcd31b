// SPDX-License-Identifier: Apache-2.0
//
// A piece of device memory, and when another stream may have it.
#ifndef BACKPLANE_SRC_MEMORY_BLOCK_H_
#define BACKPLANE_SRC_MEMORY_BLOCK_H_

#include <cstdint>

#include "backplane/plugin/interfaces.h"
#include "stream/use.h"

namespace backplane::internal {

struct Segment;

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
  uint64_t offset = 0;         // bytes from the buffer's start
  uint64_t size = 0;           // bytes, the class's
  uint64_t address = 0;        // buffer->address() + offset, or 0
  char* host = nullptr;        // buffer->host_pointer() + offset, or null
  Slab* slab = nullptr;        // that it was carved from, or
  Segment* segment = nullptr;  // that it is a piece of; neither for memory of somebody else's
};

// Whether `stream` may have memory with these uses now: all are done, or come before its own later work.
// Without a stream all must be done. Those that are not yet done are moved to `pending`: work on any other
// stream has to wait for them.
bool take_uses(UseList& uses, const StreamState* stream, UseList* pending);

// Adds uses to a list, one for each stream.
void merge_uses(UseList& into, const UseList& more);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_MEMORY_BLOCK_H_
