// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_SRC_STREAM_FINISH_H_
#define BACKPLANE_SRC_STREAM_FINISH_H_

#include <cstdint>

#include "backplane/error.h"
#include "stream/stream_state.h"
#include "stream/use.h"

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

// The same for every use of memory that goes away whatever became of the work: a stream that failed, or a
// lost device, no longer uses it.
inline void finish_all(const UseList& uses) {
  for (const Use& use : uses) {
    try {
      finish(*use.stream, use.ticket);
    } catch (const Error&) {
      // Whoever reads the work's results is told.
    }
  }
}

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_STREAM_FINISH_H_
