// SPDX-License-Identifier: Apache-2.0
//
// The prelude of the language at hand.
#if defined(__OPENCL_C_VERSION__) || defined(__OPENCL_VERSION__)
#include "backplane/kernels/prelude_opencl.h"
#elif defined(__CUDACC__) || defined(__CUDACC_RTC__)
#include "backplane/kernels/prelude_cuda.h"
#else
#include "backplane/kernels/prelude_cpp.h"
#endif
