// SPDX-License-Identifier: Apache-2.0
//
// What reductions and scans accumulate, by class of type: i64 and u64 for the integers (bool is one of the
// unsigned), f32 for float16, bfloat16 and float32, f64. Each accumulator has Part (what a thread holds),
// identity(), take(part, value, position), join(part, other) where `other` stands behind, and value(part).
#ifndef BACKPLANE_PLUGINS_CUDA_KERNELS_ACCUMULATE_CUH_
#define BACKPLANE_PLUGINS_CUDA_KERNELS_ACCUMULATE_CUH_

#include "backplane/kernels/reduce.h"
#include "heavy.cuh"
#include "walk.cuh"

namespace backplane::cuda {

// Sums of floats carry the error of every addition along (D. Knuth's two-sum; A. Neumaier, 1974), so that a
// sum of n elements is as good as one rounding, however the work is divided. An infinite or NaN sum has no
// error term.
template <typename Float>
struct Compensated {
  Float sum;
  Float error;
};

template <typename Float>
BPC_DEVICE void add_compensated(Compensated<Float>& part, Float value) {
  const Float sum = part.sum + value;
  const Float of_value = sum - part.sum;
  const Float of_part = sum - of_value;
  part.error += (part.sum - of_part) + (value - of_value);
  part.sum = sum;
}

template <typename Class>
struct SumFloat {
  using Float = typename Class::Value;
  using Part = Compensated<Float>;
  static constexpr bool kPlace = false;
  static BPC_METHOD Part identity() { return {0, 0}; }
  static BPC_METHOD void take(Part& part, Float value, i64) { add_compensated(part, value); }
  static BPC_METHOD void join(Part& part, const Part& other) {
    add_compensated(part, other.sum);
    part.error += other.error;
  }
  static BPC_METHOD Float value(const Part& part) {
    const Float total = part.sum + part.error;
    return part.sum - part.sum == 0 ? total : part.sum;
  }
};

// Combines two values by a formula with an identity.
#define BPC_SIMPLE(NAME, S, IDENTITY, COMBINE)                                                             \
  struct NAME##_##S {                                                                                      \
    using Value = type_##S::Value;                                                                         \
    using Part = Value;                                                                                    \
    static constexpr bool kPlace = false;                                                                  \
    static BPC_METHOD Part identity() { return bp_identity_##IDENTITY##_##S(); }                           \
    static BPC_METHOD void take(Part& part, Value value, i64) { part = bp_##COMBINE##_##S(part, value); }  \
    static BPC_METHOD void join(Part& part, const Part& other) { part = bp_##COMBINE##_##S(part, other); } \
    static BPC_METHOD Value value(const Part& part) { return part; }                                       \
  };

// What the greatest and the smallest of nothing are in each type.
#define BPC_IDENTITY(S, ID, MEMORY, VALUE)                                      \
  BPC_DEVICE VALUE greatest_of_none(type_##S) { return bp_identity_max_##S(); } \
  BPC_DEVICE VALUE smallest_of_none(type_##S) { return bp_identity_min_##S(); }
BPC_TYPES(BPC_IDENTITY)
#undef BPC_IDENTITY

// The value is the position; -1 marks a part that has seen nothing.
template <typename Value>
struct Place {
  Value value;
  i64 position;
};
#define BPC_PLACE(NAME, S, TAKES)                                                                         \
  struct NAME##_##S {                                                                                     \
    using Value = type_##S::Value;                                                                        \
    using Part = Place<Value>;                                                                            \
    static constexpr bool kPlace = true;                                                                  \
    static BPC_METHOD Part identity() { return {0, -1}; }                                                 \
    static BPC_METHOD void take(Part& part, Value value, i64 position) { join(part, {value, position}); } \
    static BPC_METHOD void join(Part& part, const Part& other) {                                          \
      if (other.position < 0) return;                                                                     \
      if (part.position < 0 || TAKES##_##S(part.value, part.position, other.value, other.position))       \
        part = other;                                                                                     \
    }                                                                                                     \
    static BPC_METHOD bp_i64 value(const Part& part) { return part.position; }                            \
  };

#define BPC_FOR_CLASSES(X) X(i64) X(u64) X(f32) X(f64)
#define BPC_ACCUMULATORS(S)             \
  BPC_SIMPLE(prod, S, prod, multiply)   \
  BPC_SIMPLE(max, S, max, maximum)      \
  BPC_SIMPLE(min, S, min, minimum)      \
  BPC_PLACE(argmax, S, bp_argmax_takes) \
  BPC_PLACE(argmin, S, bp_argmin_takes)
BPC_FOR_CLASSES(BPC_ACCUMULATORS)
BPC_SIMPLE(sum, i64, sum, add)
BPC_SIMPLE(sum, u64, sum, add)
using sum_f32 = SumFloat<type_f32>;
using sum_f64 = SumFloat<type_f64>;
#undef BPC_ACCUMULATORS
#undef BPC_SIMPLE
#undef BPC_PLACE

// Joins the parts of `lanes` neighbouring threads, a power of two, in the order of the lanes; the first gets
// the whole. Every thread of the block takes part.
template <typename Accumulator>
BPC_DEVICE typename Accumulator::Part join_lanes(const typename Accumulator::Part& mine, u32 lane,
                                                 u32 lanes) {
  using Part = typename Accumulator::Part;
  __shared__ Part parts[kBlockThreads];
  parts[threadIdx.x] = mine;
  for (u32 step = 1; step < lanes; step *= 2) {
    __syncthreads();
    if (lane % (2 * step) == 0) {
      Part joined = parts[threadIdx.x];
      Accumulator::join(joined, parts[threadIdx.x + step]);
      parts[threadIdx.x] = joined;
    }
  }
  const Part whole = parts[threadIdx.x];
  __syncthreads();
  return whole;
}

// Calls `body(type_x{})` for those types that a class reads: its own, and for sums and products of floats all
// of them.
template <typename Class, bool kEveryType, typename Body>
BPC_DEVICE void with_member(u32 type, Body body) {
  if constexpr (kEveryType) {
    with_type(type, body);
  } else if constexpr (Class::kId == type_i64::kId) {
    if (type == type_i8::kId) body(type_i8{});
    if (type == type_i16::kId) body(type_i16{});
    if (type == type_i32::kId) body(type_i32{});
    if (type == type_i64::kId) body(type_i64{});
  } else if constexpr (Class::kId == type_u64::kId) {
    if (type == type_bool::kId) body(type_bool{});
    if (type == type_u8::kId) body(type_u8{});
    if (type == type_u16::kId) body(type_u16{});
    if (type == type_u32::kId) body(type_u32{});
    if (type == type_u64::kId) body(type_u64{});
  } else if constexpr (Class::kId == type_f32::kId) {
    if (type == type_f16::kId) body(type_f16{});
    if (type == type_bf16::kId) body(type_bf16{});
    if (type == type_f32::kId) body(type_f32{});
  } else {
    body(type_f64{});
  }
}

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_KERNELS_ACCUMULATE_CUH_
