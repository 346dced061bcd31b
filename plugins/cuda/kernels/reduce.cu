// SPDX-License-Identifier: Apache-2.0
//
// Reductions, compiled once a class of types (BPC_TYPE: i64, u64, f32 or f64; accumulate.cuh). The order of
// combination depends on sizes alone, so that results are the same every time.
#include "accumulate.cuh"
#include "domains.cuh"

namespace backplane::cuda {

using Class = BPC_PASTE(type, _, BPC_TYPE);

template <typename Accumulator>
struct Job {
  using Part = typename Accumulator::Part;

  // Elements of one type, 16 bytes at a time where they are contiguous and aligned.
  template <typename Type>
  static BPC_METHOD void take_contiguous(const ReduceParams& p, i64 origin, i64 begin, i64 end, u32 lane,
                                         Part& part) {
    using Memory = typename Type::Memory;
    constexpr int kVector = 16 / sizeof(Memory);
    const Memory* in = reinterpret_cast<const Memory*>(p.in_outer.address) + origin;
    i64 i = begin + static_cast<i64>(lane) * kVector;
    for (; i + kVector <= end; i += static_cast<i64>(p.lanes) * kVector) {
      const uint4 words = *reinterpret_cast<const uint4*>(in + i);
      Memory elements[kVector];
      memcpy(elements, &words, sizeof words);
#pragma unroll
      for (int k = 0; k < kVector; ++k)
        Accumulator::take(part, cast(Type{}, Class{}, Type::load(elements[k])), i + k);
    }
    for (; i < end; ++i) Accumulator::take(part, cast(Type{}, Class{}, Type::load(in[i])), i);
  }

  template <typename Type>
  static BPC_METHOD void take_strided(const ReduceParams& p, i64 origin, i64 begin, i64 end, u32 lane,
                                      Part& part) {
    const bool line = p.inner.rank == 1;
    for (i64 i = begin + lane; i < end; i += p.lanes) {
      const i64 offset = line ? i * p.in_inner.strides[0] : locate(p.inner, i, p.in_inner);
      Accumulator::take(part, cast(Type{}, Class{}, load_at<Type>(p.in_outer.address, origin + offset)), i);
    }
  }

  template <bool kEveryType>
  static BPC_METHOD Part take(const ReduceParams& p, i64 output, i64 split, u32 lane) {
    Part part = Accumulator::identity();
    const i64 begin = split * p.chunk;
    const i64 end = begin + p.chunk < p.inner.count ? begin + p.chunk : p.inner.count;
    const i64 origin = locate(p.outer, output, p.in_outer);
    with_member<Class, kEveryType>(p.in_type, [&](auto type) {
      if (p.vector) {
        take_contiguous<decltype(type)>(p, origin, begin, end, lane, part);
      } else {
        take_strided<decltype(type)>(p, origin, begin, end, lane, part);
      }
    });
    return part;
  }

  static BPC_METHOD void finish(const ReduceParams& p, i64 output, const Part& part) {
    const i64 index = locate(p.outer, output, p.out);
    const auto value = Accumulator::value(part);
    if constexpr (Accumulator::kPlace) {
      store_as<type_i64>(p.out_type, p.out.address, index, value);
    } else {
      store_rounded<Class>(p.compute_type, p.out_type, p.out.address, index, value);
    }
  }

  // Items are outputs times splits, the outputs fastest.
  template <bool kEveryType>
  static BPC_METHOD void run(const ReduceParams& p) {
    const u32 lane = threadIdx.x % p.lanes, group = threadIdx.x / p.lanes;
    const i64 groups = kBlockThreads / p.lanes, items = p.outer.count * p.splits;
    for (i64 base = blockIdx.x * groups; base < items; base += gridDim.x * groups) {
      const i64 item = base + group;
      Part part = Accumulator::identity();
      if (item < items) part = take<kEveryType>(p, item % p.outer.count, item / p.outer.count, lane);
      part = join_lanes<Accumulator>(part, lane, p.lanes);
      if (lane != 0 || item >= items) continue;
      if (p.splits == 1) {
        finish(p, item, part);
      } else {
        reinterpret_cast<Part*>(p.scratch)[item] = part;
      }
    }
  }

  // Joins the splits of each output.
  static BPC_METHOD void run_finish(const ReduceParams& p) {
    const u32 lane = threadIdx.x % p.lanes, group = threadIdx.x / p.lanes;
    const i64 groups = kBlockThreads / p.lanes;
    for (i64 base = blockIdx.x * groups; base < p.outer.count; base += gridDim.x * groups) {
      const i64 output = base + group;
      Part part = Accumulator::identity();
      for (i64 split = lane; split < p.splits && output < p.outer.count; split += p.lanes)
        Accumulator::join(part, reinterpret_cast<const Part*>(p.scratch)[split * p.outer.count + output]);
      part = join_lanes<Accumulator>(part, lane, p.lanes);
      if (lane == 0 && output < p.outer.count) finish(p, output, part);
    }
  }
};

constexpr bool kFloating = BPC_KIND == BPC_KIND_FLOATING;

}  // namespace backplane::cuda

using namespace backplane::cuda;

#define BPC_KERNEL extern "C" __global__ void __launch_bounds__(kBlockThreads)
#define BPC_REDUCTION(NAME, EVERY_TYPE)                                       \
  BPC_KERNEL reduce_##NAME(const __grid_constant__ ReduceParams p) {          \
    Job<BPC_PASTE(NAME, _, BPC_TYPE)>::run<EVERY_TYPE>(p);                    \
  }                                                                           \
  BPC_KERNEL reduce_##NAME##_finish(const __grid_constant__ ReduceParams p) { \
    Job<BPC_PASTE(NAME, _, BPC_TYPE)>::run_finish(p);                         \
  }
BPC_REDUCTION(sum, kFloating)
BPC_REDUCTION(prod, kFloating)
BPC_REDUCTION(max, false)
BPC_REDUCTION(min, false)
BPC_REDUCTION(argmax, false)
BPC_REDUCTION(argmin, false)
