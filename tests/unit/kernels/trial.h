// SPDX-License-Identifier: Apache-2.0
//
// A kernel in OpenCL C and CUDA C++ that takes the formulas through the compiler: every function is declared
// and checked by including them; a few are called, so that code comes of it.
#include "backplane/kernels/random.h"
#include "backplane/kernels/reduce.h"
#include "backplane/kernels/scalar.h"

#if defined(__OPENCL_C_VERSION__)
#define TRIAL_KERNEL __kernel void
#define TRIAL_GLOBAL __global
#else
#define TRIAL_KERNEL extern "C" __global__ void
#define TRIAL_GLOBAL
#endif

TRIAL_KERNEL trial(TRIAL_GLOBAL float* out, TRIAL_GLOBAL const float* in,
                   TRIAL_GLOBAL const unsigned short* halves, int n) {
  for (int i = 0; i < n; ++i) {
    float narrow = bp_load_f16(halves[i]);
    float sum = bp_logaddexp_f32(in[i], bp_floor_divide_f32(in[i], narrow));
    out[i] =
        bp_where_f32(bp_less_i32(bp_cast_f32_i32(sum), 3), bp_normal_f32(bp_random_word(1, 2, i), 0.0f, 1.0f),
                     bp_nextafter_bf16(bp_cast_i64_bf16(i), 0.0f));
    out[i] = bp_argmax_takes_f32(out[i], 0, in[i], i) ? out[i] : in[i];
  }
}
