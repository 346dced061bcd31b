// SPDX-License-Identifier: Apache-2.0
//
// Which operations have formulas too long to be repeated for every element of a vector. Host and kernels
// agree by this.
#ifndef BACKPLANE_PLUGINS_CUDA_KERNELS_HEAVY_CUH_
#define BACKPLANE_PLUGINS_CUDA_KERNELS_HEAVY_CUH_

#if defined(__CUDACC__)
#define BPC_BOTH __host__ __device__
#define BPC_METHOD __device__ __forceinline__
#else
#define BPC_BOTH
#endif

namespace backplane::cuda {

// positive, cast, iota and where: these move bits, and have kernels of their own.
BPC_BOTH constexpr bool is_special(int op) { return op <= 3; }

// floor_divide, remainder, pow, atan2, hypot, logaddexp; exp to lgamma; sigmoid, gelu, gelu_tanh, silu,
// softplus.
BPC_BOTH constexpr bool is_heavy(int op) {
  return (op >= 14 && op <= 16) || op == 19 || op == 20 || op == 22 || (op >= 80 && op <= 101) || op == 110 ||
         (op >= 113 && op <= 116);
}

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_KERNELS_HEAVY_CUH_
