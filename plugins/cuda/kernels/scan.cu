// SPDX-License-Identifier: Apache-2.0
//
// Scans along rows, compiled once a class of types as reduce.cu is. A row longer than a chunk takes three
// kernels: every chunk's total, the totals' scan, and the scan of every chunk from its carry on.
#include "accumulate.cuh"
#include "domains.cuh"

namespace backplane::cuda {

using Class = BPC_PASTE(type, _, BPC_TYPE);
using Value = Class::Value;

// What an exclusive scan begins with: the greatest and the smallest of nothing depend on the type, not on its
// class.
enum class Begin { Identity, GreatestOfNone, SmallestOfNone };

template <typename Accumulator, Begin kBegin>
struct Job {
  using Part = typename Accumulator::Part;

  static BPC_METHOD Value none(u32 type) {
    Value value = Accumulator::value(Accumulator::identity());
    if constexpr (kBegin == Begin::GreatestOfNone)
      with_type(type, [&](auto tag) { value = cast(tag, Class{}, greatest_of_none(tag)); });
    if constexpr (kBegin == Begin::SmallestOfNone)
      with_type(type, [&](auto tag) { value = cast(tag, Class{}, smallest_of_none(tag)); });
    return value;
  }

  static BPC_METHOD i64 place(const ScanParams& p, i64 index) {
    return p.reverse ? p.length - 1 - index : index;
  }

  static BPC_METHOD Value read(const ScanParams& p, i64 origin, i64 index) {
    return load_as<Class>(p.in_type, p.in.address, origin + place(p, index) * p.in_stride);
  }

  // Turns every thread's part into what stands before it in the block; returns the whole block's.
  static BPC_METHOD Part scan_block(Part& part) {
    __shared__ Part parts[2][kBlockThreads];
    u32 now = 0;
    parts[0][threadIdx.x] = part;
    __syncthreads();
    for (u32 step = 1; step < kBlockThreads; step *= 2) {
      Part joined = parts[now][threadIdx.x];
      if (threadIdx.x >= step) {
        joined = parts[now][threadIdx.x - step];
        Accumulator::join(joined, parts[now][threadIdx.x]);
      }
      now ^= 1;
      parts[now][threadIdx.x] = joined;
      __syncthreads();
    }
    part = threadIdx.x == 0 ? Accumulator::identity() : parts[now][threadIdx.x - 1];
    const Part whole = parts[now][kBlockThreads - 1];
    __syncthreads();
    return whole;
  }

  static BPC_METHOD Part take(const ScanParams& p, i64 origin, i64 first) {
    Part part = Accumulator::identity();
    for (u32 k = 0; k < kScanItems; ++k)
      if (first + k < p.length) Accumulator::take(part, read(p, origin, first + k), 0);
    return part;
  }

  static BPC_METHOD void write(const ScanParams& p, i64 in, i64 out, i64 first, Part part) {
    for (u32 k = 0; k < kScanItems && first + k < p.length; ++k) {
      const i64 index = out + place(p, first + k) * p.out_stride;
      Part next = part;
      Accumulator::take(next, read(p, in, first + k), 0);
      Value value = Accumulator::value(p.exclusive ? part : next);
      if (p.exclusive && first + k == 0) value = none(p.compute_type);
      store_rounded<Class>(p.compute_type, p.out_type, p.out.address, index, value);
      part = next;
    }
  }

  static BPC_METHOD void totals(const ScanParams& p) {
    for (i64 item = blockIdx.x; item < p.rows.count * p.chunks; item += gridDim.x) {
      const i64 row = item / p.chunks, chunk = item % p.chunks;
      const i64 first = chunk * kScanChunk + static_cast<i64>(threadIdx.x) * kScanItems;
      Part part = take(p, locate(p.rows, row, p.in), first);
      const Part whole = scan_block(part);
      if (threadIdx.x == 0) reinterpret_cast<Part*>(p.scratch)[item] = whole;
    }
  }

  static BPC_METHOD void carries(const ScanParams& p) {
    for (i64 row = blockIdx.x; row < p.rows.count; row += gridDim.x) {
      Part* totals = reinterpret_cast<Part*>(p.scratch) + row * p.chunks;
      Part carry = Accumulator::identity();
      for (i64 base = 0; base < p.chunks; base += kBlockThreads) {
        const i64 chunk = base + threadIdx.x;
        Part before = chunk < p.chunks ? totals[chunk] : Accumulator::identity();
        const Part whole = scan_block(before);
        Part from = carry;
        Accumulator::join(from, before);
        if (chunk < p.chunks) totals[chunk] = from;
        Accumulator::join(carry, whole);
      }
    }
  }

  static BPC_METHOD void scan(const ScanParams& p) {
    for (i64 item = blockIdx.x; item < p.rows.count * p.chunks; item += gridDim.x) {
      const i64 row = item / p.chunks, chunk = item % p.chunks;
      const i64 first = chunk * kScanChunk + static_cast<i64>(threadIdx.x) * kScanItems;
      const i64 in = locate(p.rows, row, p.in);
      Part before = take(p, in, first);
      scan_block(before);
      Part from = p.chunks > 1 ? reinterpret_cast<const Part*>(p.scratch)[item] : Accumulator::identity();
      Accumulator::join(from, before);
      write(p, in, locate(p.rows, row, p.out), first, from);
    }
  }
};

}  // namespace backplane::cuda

using namespace backplane::cuda;

#define BPC_KERNEL extern "C" __global__ void __launch_bounds__(kBlockThreads)
#define BPC_SCAN(NAME, BEGIN)                                                                        \
  using NAME##_job = Job<BPC_PASTE(NAME, _, BPC_TYPE), Begin::BEGIN>;                                \
  BPC_KERNEL scan_##NAME##_totals(const __grid_constant__ ScanParams p) { NAME##_job::totals(p); }   \
  BPC_KERNEL scan_##NAME##_carries(const __grid_constant__ ScanParams p) { NAME##_job::carries(p); } \
  BPC_KERNEL scan_##NAME(const __grid_constant__ ScanParams p) { NAME##_job::scan(p); }
BPC_SCAN(sum, Identity)
BPC_SCAN(prod, Identity)
BPC_SCAN(max, GreatestOfNone)
BPC_SCAN(min, SmallestOfNone)
