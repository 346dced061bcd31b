// SPDX-License-Identifier: Apache-2.0
//
// Copies between devices that share nothing: through pinned host memory, in chunks.
#ifndef BACKPLANE_SRC_COPY_STAGED_H_
#define BACKPLANE_SRC_COPY_STAGED_H_

#include <cstdint>

#include "memory/storage.h"

namespace backplane::internal {

// A copy between two storages; offsets and bytes as given to copy_bytes.
struct Transfer {
  Storage& dst;
  uint64_t dst_offset;
  Storage& src;
  uint64_t src_offset;
  uint64_t bytes;

  uint64_t dst_at() const { return dst.block().offset + dst_offset; }
  uint64_t src_at() const { return src.block().offset + src_offset; }

  // Of what `dst` will hold once this has been done on `stream`; see Storage::add_origins.
  UseList origins(const StreamState& stream) const;
};

// Queues the downloads on the source's stream and the uploads on the destination's, each waiting for the
// other where it must, so that both legs run at once. The host waits only for a side whose stream is
// synchronous or whose plugin has no host events, and then for one chunk at a time.
void copy_staged(const Transfer& transfer);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_COPY_STAGED_H_
