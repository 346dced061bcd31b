// SPDX-License-Identifier: Apache-2.0
//
// Matrix products where cuBLAS is not there or does not do the types, compiled once a class of sums
// (BPC_TYPE: f32, f64, i32 or i64). A block makes a tile of 64 x 64 results, a thread 4 x 4 of them, from
// tiles of 16 columns of `a` and 16 rows of `b` in shared memory. Products are summed in the order of k, with
// one rounding each for floats (fma).
#include "domains.cuh"
#include "heavy.cuh"
#include "walk.cuh"

namespace backplane::cuda {

using Class = BPC_PASTE(type, _, BPC_TYPE);
using Value = Class::Value;

constexpr int kTile = 64;
constexpr int kDepth = 16;
constexpr int kEdge = 4;
constexpr int kAcross = kTile / kEdge;
static_assert(kAcross * kAcross == static_cast<int>(kBlockThreads));

BPC_DEVICE bp_f32 multiply_add(bp_f32 a, bp_f32 b, bp_f32 sum) { return __fmaf_rn(a, b, sum); }
BPC_DEVICE bp_f64 multiply_add(bp_f64 a, bp_f64 b, bp_f64 sum) { return __fma_rn(a, b, sum); }
BPC_DEVICE bp_i32 multiply_add(bp_i32 a, bp_i32 b, bp_i32 sum) {
  return static_cast<bp_i32>(static_cast<bp_u32>(a) * static_cast<bp_u32>(b) + static_cast<bp_u32>(sum));
}
BPC_DEVICE bp_i64 multiply_add(bp_i64 a, bp_i64 b, bp_i64 sum) {
  return static_cast<bp_i64>(static_cast<bp_u64>(a) * static_cast<bp_u64>(b) + static_cast<bp_u64>(sum));
}

// A matrix seen with `deep` along k and `wide` along m or n.
struct Matrix {
  u64 address;
  i64 origin;
  i64 wide_stride, deep_stride;
  i64 wide_count, deep_count;
};

// Neighbouring threads read along whichever dimension is contiguous. What lies outside is 0.
template <typename Type>
BPC_DEVICE void load_tile(const Matrix& matrix, i64 wide, i64 deep, Value (&tile)[kDepth][kTile]) {
  constexpr int kRounds = kTile * kDepth / static_cast<int>(kBlockThreads);
  const bool along_deep = matrix.deep_stride == 1 && matrix.wide_stride != 1;
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int place = static_cast<int>(threadIdx.x) + round * static_cast<int>(kBlockThreads);
    const int w = along_deep ? place / kDepth : place % kTile;
    const int d = along_deep ? place % kDepth : place / kTile;
    Value value = 0;
    if (wide + w < matrix.wide_count && deep + d < matrix.deep_count) {
      const i64 index = matrix.origin + (wide + w) * matrix.wide_stride + (deep + d) * matrix.deep_stride;
      value = cast(Type{}, Class{}, load_at<Type>(matrix.address, index));
    }
    tile[d][w] = value;
  }
}

BPC_DEVICE void load_tile_of(u32 type, const Matrix& matrix, i64 wide, i64 deep,
                             Value (&tile)[kDepth][kTile]) {
  if (type == Class::kId) {
    load_tile<Class>(matrix, wide, deep, tile);
  } else {
    with_type(type, [&](auto tag) { load_tile<decltype(tag)>(matrix, wide, deep, tile); });
  }
}

BPC_DEVICE void write_tile(const MatmulParams& p, i64 origin, i64 row, i64 column,
                           const Value (&sums)[kEdge][kEdge]) {
  with_type(p.out_type, [&](auto type) {
    using Type = decltype(type);
#pragma unroll
    for (int i = 0; i < kEdge; ++i)
#pragma unroll
      for (int j = 0; j < kEdge; ++j) {
        if (row + i >= p.m || column + j >= p.n) continue;
        const Value value = rounded<Class>(p.compute_type, sums[i][j]);
        store_at<Type>(p.out.address, origin + (row + i) * p.out_m + (column + j) * p.out_n,
                       cast(Class{}, type, value));
      }
  });
}

BPC_DEVICE void multiply_tile(const MatmulParams& p, i64 batch, i64 row, i64 column) {
  __shared__ Value a_tile[kDepth][kTile], b_tile[kDepth][kTile];
  const int x = threadIdx.x % kAcross * kEdge, y = threadIdx.x / kAcross * kEdge;
  const Matrix a{p.a.address, locate(p.batch, batch, p.a), p.a_m, p.a_k, p.m, p.k};
  const Matrix b{p.b.address, locate(p.batch, batch, p.b), p.b_n, p.b_k, p.n, p.k};
  Value sums[kEdge][kEdge] = {};
  for (i64 deep = 0; deep < p.k; deep += kDepth) {
    load_tile_of(p.a_type, a, row, deep, a_tile);
    load_tile_of(p.b_type, b, column, deep, b_tile);
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; ++d)
#pragma unroll
      for (int i = 0; i < kEdge; ++i)
#pragma unroll
        for (int j = 0; j < kEdge; ++j)
          sums[i][j] = multiply_add(a_tile[d][y + i], b_tile[d][x + j], sums[i][j]);
    __syncthreads();
  }
  write_tile(p, locate(p.batch, batch, p.out), row + y, column + x, sums);
}

}  // namespace backplane::cuda

using namespace backplane::cuda;

extern "C" __global__ void __launch_bounds__(kBlockThreads) matmul(const __grid_constant__ MatmulParams p) {
  const i64 across = (p.n + kTile - 1) / kTile, down = (p.m + kTile - 1) / kTile;
  for (i64 item = blockIdx.x; item < across * down * p.batch.count; item += gridDim.x) {
    const i64 place = item % (across * down);
    multiply_tile(p, item / (across * down), place / across * kTile, place % across * kTile);
  }
}
