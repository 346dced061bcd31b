// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_CPU_VECTOR_RANDOM_H_
#define BACKPLANE_CPU_VECTOR_RANDOM_H_

#include <stdint.h>

#include "backplane/plugin/types.h"
#include "cpu/isa.h"

namespace backplane::cpu {

// The streams of numbers of kernels/random.h, in pieces: `words` are what `draw` made, one or two an element.
// Parameters are in register form (see vector_loops.h): low and high, mean and deviation, low and count.
struct RandomTable {
  // words[4 b + k] = word k of block `first_block` + b, for b < blocks.
  void (*draw)(uint32_t* words, uint64_t seed, uint64_t first_block, int64_t blocks);
  void (*uniform[plugin::kDTypeCount])(void* out, const uint32_t* words, const void* low, const void* high,
                                       int64_t n);
  void (*normal[plugin::kDTypeCount])(void* out, const uint32_t* words, const void* mean,
                                      const void* deviation, int64_t n);
  void (*integers[plugin::kDTypeCount])(void* out, const uint32_t* words, uint64_t low, uint64_t count,
                                        int64_t n);
};
BACKPLANE_CPU_TABLE(RandomTable, random_loops)

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_VECTOR_RANDOM_H_
