// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_SRC_STREAM_FINISH_H_
#define BACKPLANE_SRC_STREAM_FINISH_H_

#include <cstdint>

#include "backplane/error.h"
#include "stream/stream_state.h"

namespace backplane::internal {

// StreamState::synchronize for work whose memory goes away next: where it is the waiting that failed, and not
// the work, the stream is waited for in another way before the failure is thrown.
inline void finish(StreamState& stream, uint64_t ticket) {
  try {
    stream.synchronize(ticket);
  } catch (const Error&) {
    if (stream.stream != nullptr && !stream.is_known_done(ticket)) stream.stream->synchronize(UINT64_MAX);
    throw;
  }
}

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_STREAM_FINISH_H_
