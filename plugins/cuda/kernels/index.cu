// SPDX-License-Identifier: Apache-2.0
//
// gather, scatter and nonzero. An index out of range touches nothing and leaves 1 + its point in the error
// word, the smallest such point winning.
#include "heavy.cuh"
#include "walk.cuh"

namespace backplane::cuda {

BPC_DEVICE void report(const IndexParams& p, i64 point) {
  if (p.error == 0) return;
  u64* word = reinterpret_cast<u64*>(p.error);
  const u64 mine = static_cast<u64>(point) + 1;
  u64 seen = 0;
  do {
    const u64 before = atomicCAS(word, seen, mine);
    if (before == seen) return;
    seen = before;
  } while (seen == 0 || mine < seen);
}

// The index at an offset, counted from the front; -1 when it is out of range.
BPC_DEVICE i64 read_index(const IndexParams& p, i64 offset) {
  const i64 index = p.wide ? reinterpret_cast<const bp_i64*>(p.index.address)[offset]
                           : static_cast<i64>(reinterpret_cast<const bp_i32*>(p.index.address)[offset]);
  const i64 place = index < 0 ? index + p.axis_size : index;
  return index >= -p.axis_size && index < p.axis_size ? place : -1;
}

template <typename Word>
BPC_DEVICE void gather(const IndexParams& p) {
  const i64* const strides[3] = {p.out.strides, p.index.strides, p.data.strides};
  for (i64 point = thread_index(); point < p.space.count; point += thread_count()) {
    i64 offsets[3] = {0, 0, 0};
    locate<3>(p.space, point, strides, offsets);
    const i64 place = read_index(p, offsets[1]);
    if (place < 0) {
      report(p, point);
    } else {
      reinterpret_cast<Word*>(p.out.address)[offsets[0]] =
          reinterpret_cast<const Word*>(p.data.address)[offsets[2] + p.axis_stride * place];
    }
  }
}

// Every point bids for its place; the last in row-major order wins and alone writes.
BPC_DEVICE void bid(const IndexParams& p) {
  const i64* const strides[2] = {p.out.strides, p.index.strides};
  for (i64 point = thread_index(); point < p.space.count; point += thread_count()) {
    i64 offsets[2] = {0, 0};
    locate<2>(p.space, point, strides, offsets);
    const i64 place = read_index(p, offsets[1]);
    if (place < 0) {
      report(p, point);
    } else {
      atomicMax(reinterpret_cast<u64*>(p.winners) + (offsets[0] + p.axis_stride * place - p.lowest),
                static_cast<u64>(point) + 1);
    }
  }
}

template <typename Word>
BPC_DEVICE void scatter(const IndexParams& p) {
  const i64* const strides[3] = {p.out.strides, p.index.strides, p.data.strides};
  for (i64 point = thread_index(); point < p.space.count; point += thread_count()) {
    i64 offsets[3] = {0, 0, 0};
    locate<3>(p.space, point, strides, offsets);
    const i64 place = read_index(p, offsets[1]);
    if (place < 0) continue;
    const i64 target = offsets[0] + p.axis_stride * place;
    if (reinterpret_cast<const u64*>(p.winners)[target - p.lowest] != static_cast<u64>(point) + 1) continue;
    reinterpret_cast<Word*>(p.out.address)[target] =
        reinterpret_cast<const Word*>(p.data.address)[offsets[2]];
  }
}

constexpr u32 kItems = kNonzeroChunk / kBlockThreads;

// How many of a thread's elements, `first` on, are true; and, in shared memory, the sums up to each thread of
// the block.
BPC_DEVICE u32 count_true(const NonzeroParams& p, i64 first) {
  u32 count = 0;
  for (u32 k = 0; k < kItems; ++k)
    if (first + k < p.count) count += reinterpret_cast<const bp_bool*>(p.in)[first + k] != 0;
  return count;
}

template <typename Count>
BPC_DEVICE Count sum_up_to(Count mine) {
  __shared__ Count sums[2][kBlockThreads];
  u32 now = 0;
  sums[0][threadIdx.x] = mine;
  __syncthreads();
  for (u32 step = 1; step < kBlockThreads; step *= 2) {
    Count sum = sums[now][threadIdx.x];
    if (threadIdx.x >= step) sum += sums[now][threadIdx.x - step];
    now ^= 1;
    sums[now][threadIdx.x] = sum;
    __syncthreads();
  }
  const Count sum = sums[now][threadIdx.x];
  __syncthreads();
  return sum;
}

}  // namespace backplane::cuda

using namespace backplane::cuda;

#define BPC_KERNEL extern "C" __global__ void __launch_bounds__(kBlockThreads)
#define BPC_WORD(BITS)                                                                       \
  BPC_KERNEL gather_##BITS(const __grid_constant__ IndexParams p) { gather<bp_u##BITS>(p); } \
  BPC_KERNEL scatter_##BITS(const __grid_constant__ IndexParams p) { scatter<bp_u##BITS>(p); }
BPC_WORD(8)
BPC_WORD(16)
BPC_WORD(32)
BPC_WORD(64)
BPC_KERNEL scatter_bid(const __grid_constant__ IndexParams p) { bid(p); }

// Counts every chunk's true elements.
BPC_KERNEL nonzero_count(const __grid_constant__ NonzeroParams p) {
  for (i64 chunk = blockIdx.x; chunk < p.chunks; chunk += gridDim.x) {
    const u32 sum = sum_up_to(count_true(p, chunk * kNonzeroChunk + threadIdx.x * kItems));
    if (threadIdx.x == kBlockThreads - 1) reinterpret_cast<i64*>(p.scratch)[chunk] = sum;
  }
}

// Turns the counts into where each chunk's positions begin, and stores the total. One block.
BPC_KERNEL nonzero_begin(const __grid_constant__ NonzeroParams p) {
  __shared__ i64 carried;
  if (threadIdx.x == 0) carried = 0;
  __syncthreads();
  i64* counts = reinterpret_cast<i64*>(p.scratch);
  for (i64 base = 0; base < p.chunks; base += kBlockThreads) {
    const i64 chunk = base + threadIdx.x;
    const i64 mine = chunk < p.chunks ? counts[chunk] : 0;
    const i64 carry = carried;
    const i64 sum = sum_up_to(mine);
    if (chunk < p.chunks) counts[chunk] = carry + sum - mine;
    if (threadIdx.x == kBlockThreads - 1) carried = carry + sum;
    __syncthreads();
  }
  if (threadIdx.x == 0) *reinterpret_cast<i64*>(p.total) = carried;
}

BPC_KERNEL nonzero_write(const __grid_constant__ NonzeroParams p) {
  for (i64 chunk = blockIdx.x; chunk < p.chunks; chunk += gridDim.x) {
    const i64 first = chunk * kNonzeroChunk + threadIdx.x * kItems;
    const u32 mine = count_true(p, first);
    i64 at = reinterpret_cast<const i64*>(p.scratch)[chunk] + sum_up_to(mine) - mine;
    for (u32 k = 0; k < kItems; ++k)
      if (first + k < p.count && reinterpret_cast<const bp_bool*>(p.in)[first + k] != 0)
        reinterpret_cast<i64*>(p.positions)[at++] = first + k;
  }
}
