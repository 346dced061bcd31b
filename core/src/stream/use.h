// SPDX-License-Identifier: Apache-2.0
//
// A point in a stream's work at which some memory is used.
#ifndef BACKPLANE_SRC_STREAM_USE_H_
#define BACKPLANE_SRC_STREAM_USE_H_

#include <cstdint>
#include <vector>

namespace backplane::internal {

struct StreamState;

struct Use {
  StreamState* stream = nullptr;  // streams' states are never freed
  uint64_t ticket = 0;            // the stream's count of queued work, that work included
};

using UseList = std::vector<Use>;

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_STREAM_USE_H_
