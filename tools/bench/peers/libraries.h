// SPDX-License-Identifier: Apache-2.0
//
// Libraries called directly, with threads of their own, where they are installed.
#ifndef BACKPLANE_TOOLS_BENCH_PEERS_LIBRARIES_H_
#define BACKPLANE_TOOLS_BENCH_PEERS_LIBRARIES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace backplane::bench {

// c = a * b, row-major n x n float32.
struct Gemm {
  std::string name;
  std::function<void(int64_t n, const float* a, const float* b, float* c)> run;
};

// oneDNN and OpenBLAS, those that are there: with threads of their own where they have them, and called from
// one thread a core, each making its share of the rows. OPENBLAS_CORETYPE is the caller's to set.
std::vector<Gemm> gemm_peers();

// c = a * b, row-major n x n, of int8 with int32 results, by oneDNN; null without it.
using IntegerGemm = void (*)(int64_t n, const int8_t* a, const int8_t* b, int32_t* c);
IntegerGemm integer_gemm_peer();

// `count` independent products by oneDNN's matmul primitive; null without it.
using BatchedMatmul = void (*)(int64_t count, int64_t n, const float* a, const float* b, float* c);
BatchedMatmul batched_matmul_peer();

// c = a * b, row-major n x n, int8 operands and an int32 result, by oneDNN; null without it.
using Int8Matmul = void (*)(int64_t n, const int8_t* a, const int8_t* b, int32_t* c);
Int8Matmul int8_matmul_peer();

}  // namespace backplane::bench

#endif  // BACKPLANE_TOOLS_BENCH_PEERS_LIBRARIES_H_
