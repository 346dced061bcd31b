// SPDX-License-Identifier: Apache-2.0
//
// From a linear index to the elements of strided operands. Loops over dimensions are unrolled, so that
// nothing of the parameters is indexed at run time.
#ifndef BACKPLANE_PLUGINS_CUDA_KERNELS_WALK_CUH_
#define BACKPLANE_PLUGINS_CUDA_KERNELS_WALK_CUH_

#include "types.cuh"

namespace backplane::cuda {

template <typename Index, int N>
BPC_DEVICE void locate_with(const Space& space, i64 linear, const i64* const (&strides)[N],
                            i64 (&offsets)[N]) {
  Index rest = static_cast<Index>(linear);
#pragma unroll
  for (int d = kDims - 1; d >= 0; --d) {
    if (d >= static_cast<int>(space.rank)) continue;
    const Index extent = static_cast<Index>(space.shape[d]);
    const Index quotient = d == 0 ? 0 : rest / extent;
    const i64 coordinate = static_cast<i64>(rest - quotient * extent);
    rest = quotient;
#pragma unroll
    for (int n = 0; n < N; ++n) offsets[n] += coordinate * strides[n][d];
  }
}

// Adds to each of `offsets` the element that point `linear` has in that operand.
template <int N>
BPC_DEVICE void locate(const Space& space, i64 linear, const i64* const (&strides)[N], i64 (&offsets)[N]) {
  if (space.narrow) {
    locate_with<u32, N>(space, linear, strides, offsets);
  } else {
    locate_with<u64, N>(space, linear, strides, offsets);
  }
}

BPC_DEVICE i64 locate(const Space& space, i64 linear, const View& view) {
  const i64* const strides[1] = {view.strides};
  i64 offsets[1] = {0};
  locate<1>(space, linear, strides, offsets);
  return offsets[0];
}

BPC_DEVICE i64 thread_index() { return static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; }
BPC_DEVICE i64 thread_count() { return static_cast<i64>(gridDim.x) * blockDim.x; }

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_KERNELS_WALK_CUH_
