// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_SRC_COPY_TRACED_H_
#define BACKPLANE_SRC_COPY_TRACED_H_

#include <cstdint>
#include <string>

#include "trace/trace.h"

namespace backplane::internal {

// What a trace says of a copy; the subject of a TraceNote. `bytes` are those of the whole copy, of which a
// staged one makes several pieces of work.
struct TracedCopy {
  const char* from;
  const char* to;
  uint64_t bytes;
  const char* route = nullptr;  // null for the host's own memory
};

void write_copy_args(const void* copy, std::string& args);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_COPY_TRACED_H_
