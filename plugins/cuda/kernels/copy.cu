// SPDX-License-Identifier: Apache-2.0
//
// What moves bits and computes nothing: strided copies, transposition, fills, where, and iota.
#include "heavy.cuh"
#include "walk.cuh"

namespace backplane::cuda {

template <typename Word>
BPC_DEVICE void copy(const CopyParams& p) {
  const Word* in = reinterpret_cast<const Word*>(p.in.address);
  Word* out = reinterpret_cast<Word*>(p.out.address);
  const i64* const strides[2] = {p.out.strides, p.in.strides};
  for (i64 point = thread_index(); point < p.space.count; point += thread_count()) {
    i64 offsets[2] = {0, 0};
    locate<2>(p.space, point, strides, offsets);
    out[offsets[0]] = in[offsets[1]];
  }
}

constexpr int kTile = 32;
constexpr int kTileRows = kBlockThreads / kTile;

// Rows of the output are columns of the input; a tile goes through shared memory so that both are read and
// written along their contiguous dimension. One column of padding keeps the banks apart.
template <typename Word>
BPC_DEVICE void transpose(const TransposeParams& p) {
  __shared__ Word tile[kTile][kTile + 1];
  const int x = threadIdx.x % kTile, y = threadIdx.x / kTile;
  const i64 tiles_across = (p.columns + kTile - 1) / kTile;
  const i64 tiles = tiles_across * ((p.rows + kTile - 1) / kTile);
  for (i64 item = blockIdx.x; item < tiles * p.batch.count; item += gridDim.x) {
    const i64 batch = item / tiles, place = item % tiles;
    const i64 row = place / tiles_across * kTile, column = place % tiles_across * kTile;
    const Word* in = reinterpret_cast<const Word*>(p.in.address) + locate(p.batch, batch, p.in);
    Word* out = reinterpret_cast<Word*>(p.out.address) + locate(p.batch, batch, p.out);
    for (int j = y; j < kTile; j += kTileRows)
      if (column + j < p.columns && row + x < p.rows) tile[j][x] = in[(column + j) * p.in_column + row + x];
    __syncthreads();
    for (int j = y; j < kTile; j += kTileRows)
      if (row + j < p.rows && column + x < p.columns) out[(row + j) * p.out_row + column + x] = tile[x][j];
    __syncthreads();
  }
}

template <typename Word>
BPC_DEVICE Word pick(const ElementwiseParams& p, const Input& in, i64 point) {
  if (in.mode == kModeScalar) return static_cast<Word>(in.bits);
  const i64 index = in.mode == kModeStrided ? locate(p.space, point, in.view)
                    : in.mode == kModeOne   ? 0
                                            : point;
  return reinterpret_cast<const Word*>(in.view.address)[index];
}

template <typename Word>
BPC_DEVICE void where(const ElementwiseParams& p) {
  Word* out = reinterpret_cast<Word*>(p.out.address);
  for (i64 point = thread_index(); point < p.space.count; point += thread_count()) {
    const bool chosen = pick<bp_bool>(p, p.in[0], point) != 0;
    const Word value = chosen ? pick<Word>(p, p.in[1], point) : pick<Word>(p, p.in[2], point);
    out[p.out_contiguous ? point : locate(p.space, point, p.out)] = value;
  }
}

}  // namespace backplane::cuda

using namespace backplane::cuda;

#define BPC_KERNEL extern "C" __global__ void __launch_bounds__(kBlockThreads)
#define BPC_WORD(BITS)                                                                                 \
  BPC_KERNEL copy_##BITS(const __grid_constant__ CopyParams p) { copy<bp_u##BITS>(p); }                \
  BPC_KERNEL transpose_##BITS(const __grid_constant__ TransposeParams p) { transpose<bp_u##BITS>(p); } \
  BPC_KERNEL where_##BITS(const __grid_constant__ ElementwiseParams p) { where<bp_u##BITS>(p); }
BPC_WORD(8)
BPC_WORD(16)
BPC_WORD(32)
BPC_WORD(64)

// 16 bytes a thread: the bulk of a contiguous copy. `count` is in units of 16 bytes.
BPC_KERNEL copy_vector(const __grid_constant__ CopyParams p) {
  const uint4* in = reinterpret_cast<const uint4*>(p.in.address);
  uint4* out = reinterpret_cast<uint4*>(p.out.address);
  for (i64 point = thread_index(); point < p.space.count; point += thread_count()) out[point] = in[point];
}

BPC_KERNEL fill_64(const __grid_constant__ FillParams p) {
  for (i64 i = thread_index(); i < p.count; i += thread_count())
    reinterpret_cast<u64*>(p.address)[i] = p.bits;
}

BPC_KERNEL iota(const __grid_constant__ ElementwiseParams p) {
  for (i64 point = thread_index(); point < p.space.count; point += thread_count())
    store_as<type_i64>(p.out_type, p.out.address, p.out_contiguous ? point : locate(p.space, point, p.out),
                       point);
}
