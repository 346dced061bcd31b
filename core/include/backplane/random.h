// SPDX-License-Identifier: Apache-2.0
//
// Random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11), counter
// based, the same bits on every device and for every thread count. A draw is a function of (seed, first
// block, shape): element i does not depend on the number of elements. Definitions:
// backplane/kernels/random.h.
#ifndef BACKPLANE_RANDOM_H_
#define BACKPLANE_RANDOM_H_

#include <cstdint>

#include "backplane/tensor.h"

namespace backplane::inline v0 {

// Where in Philox's sequence a draw starts. `offset` counts blocks of four 32-bit words; draws whose ranges
// do not overlap are independent.
struct Seed {
  uint64_t seed = 0;
  uint64_t offset = 0;
  constexpr Seed(uint64_t s, uint64_t o = 0) noexcept : seed(s), offset(o) {}  // NOLINT: implicit on purpose
};

// Floating types. In [low, high): a value that would round to `high` becomes the value below it.
BACKPLANE_API Tensor uniform(const Shape& shape, Seed seed, double low = 0, double high = 1,
                             DType type = float32, const Device& device = {});
BACKPLANE_API const Tensor& uniform_out(const Tensor& result, Seed seed, double low = 0, double high = 1);

BACKPLANE_API Tensor normal(const Shape& shape, Seed seed, double mean = 0, double deviation = 1,
                            DType type = float32, const Device& device = {});
BACKPLANE_API const Tensor& normal_out(const Tensor& result, Seed seed, double mean = 0,
                                       double deviation = 1);

// Integers in [low, high).
BACKPLANE_API Tensor integers(const Shape& shape, Seed seed, int64_t low, int64_t high, DType type = int64,
                              const Device& device = {});
BACKPLANE_API const Tensor& integers_out(const Tensor& result, Seed seed, int64_t low, int64_t high);

// Bool: element i is true where element i of uniform(shape, seed) (float32) is below `probability`.
BACKPLANE_API Tensor bernoulli(const Shape& shape, Seed seed, double probability, const Device& device = {});
BACKPLANE_API const Tensor& bernoulli_out(const Tensor& result, Seed seed, double probability);

// The numbers 0 to n-1 (int64) in random order: argsort, stable, of n random 64-bit words (elements 2i low,
// 2i+1 high).
BACKPLANE_API Tensor permutation(int64_t n, Seed seed, const Device& device = {});

}  // namespace backplane::inline v0

#endif  // BACKPLANE_RANDOM_H_
