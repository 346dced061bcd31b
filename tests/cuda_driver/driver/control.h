// SPDX-License-Identifier: Apache-2.0
// What a test may ask of the double in its own process, besides the environment. C functions of libcuda.so.1;
// look them up with dlsym: the real driver has none of them. Thread-safe.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// How many misuses and kernel faults have been reported, and the text of the i-th; null beyond the end. The
// text is valid until this thread's next call.
size_t cudaDoubleReportCount(void);
const char* cudaDoubleReport(size_t i);
void cudaDoubleClearReports(void);

// Bytes of device memory in use, module variables included.
uint64_t cudaDoubleBytesInUse(int device);
// The same by the device's position in the configuration, whatever CUDA_VISIBLE_DEVICES makes of it.
uint64_t cudaDoubleBytesInUseByNumber(int number);

// Same text as CUDA_DOUBLE_FAIL and CUDA_DOUBLE_PEER_ZEROS; replaces what was asked for before.
// Counting starts anew.
void cudaDoubleFail(const char* rules);
void cudaDoublePeerZeros(const char* pairs);

// How often a function has been called since the last cudaDoubleFail; the name as exported (cuMemAlloc_v2).
uint64_t cudaDoubleCallCount(const char* function);

// The optional checks of kernels launched from now on.
void cudaDoubleCheck(int uninitialized, int races);

// Most microseconds of random delay before each piece of work, in streams created from now on, and the seed.
void cudaDoubleDelay(uint32_t microseconds, uint64_t seed);

#ifdef __cplusplus
}
#endif
