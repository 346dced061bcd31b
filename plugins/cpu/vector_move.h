// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_CPU_VECTOR_MOVE_H_
#define BACKPLANE_CPU_VECTOR_MOVE_H_

#include <cstdint>

#include "cpu/isa.h"

namespace backplane::cpu {

// Moving bytes with the widest registers. Any address, any size.
struct VectorMove {
  void (*stream)(char* dst, const char* src, int64_t bytes);  // past the caches
  void (*fill)(char* dst, uint64_t pattern, int64_t bytes);
  void (*stream_fill)(char* dst, uint64_t pattern, int64_t bytes);
};
BACKPLANE_CPU_TABLE(VectorMove, vector_move)

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_VECTOR_MOVE_H_
