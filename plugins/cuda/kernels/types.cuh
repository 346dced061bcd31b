// SPDX-License-Identifier: Apache-2.0
//
// The element types as the kernels see them: what is in memory and what is in a register, and a switch over
// all.
#ifndef BACKPLANE_PLUGINS_CUDA_KERNELS_TYPES_CUH_
#define BACKPLANE_PLUGINS_CUDA_KERNELS_TYPES_CUH_

#include "backplane/kernels/scalar.h"
#include "params.h"

namespace backplane::cuda {

#define BPC_DEVICE static __device__ __forceinline__

// Rows: suffix, number of the DType, type in memory, type in a register.
#define BPC_PLAIN_TYPES(X)     \
  X(bool, 0, bp_bool, bp_bool) \
  X(i8, 1, bp_i8, bp_i8)       \
  X(i16, 2, bp_i16, bp_i16)    \
  X(i32, 3, bp_i32, bp_i32)    \
  X(i64, 4, bp_i64, bp_i64)    \
  X(u8, 5, bp_u8, bp_u8)       \
  X(u16, 6, bp_u16, bp_u16)    \
  X(u32, 7, bp_u32, bp_u32)    \
  X(u64, 8, bp_u64, bp_u64)    \
  X(f32, 11, bp_f32, bp_f32)   \
  X(f64, 12, bp_f64, bp_f64)
#define BPC_HALF_TYPES(X)   \
  X(f16, 9, bp_u16, bp_f32) \
  X(bf16, 10, bp_u16, bp_f32)
#define BPC_TYPES(X) BPC_PLAIN_TYPES(X) BPC_HALF_TYPES(X)

// type_f32 and its like: Memory, Value, kId, load, store, and the type's cast to each other.
#define BPC_TRAITS(S, ID, MEMORY, VALUE, LOAD, STORE)                         \
  struct type_##S {                                                           \
    using Memory = MEMORY;                                                    \
    using Value = VALUE;                                                      \
    static constexpr u32 kId = ID;                                            \
    static __device__ __forceinline__ Value load(Memory m) { return LOAD; }   \
    static __device__ __forceinline__ Memory store(Value v) { return STORE; } \
  };
#define BPC_PLAIN_TRAITS(S, ID, MEMORY, VALUE) BPC_TRAITS(S, ID, MEMORY, VALUE, m, v)
#define BPC_HALF_TRAITS(S, ID, MEMORY, VALUE) \
  BPC_TRAITS(S, ID, MEMORY, VALUE, bp_load_##S(m), bp_store_##S(v))
BPC_PLAIN_TYPES(BPC_PLAIN_TRAITS)
BPC_HALF_TYPES(BPC_HALF_TRAITS)
#undef BPC_PLAIN_TRAITS
#undef BPC_HALF_TRAITS
#undef BPC_TRAITS

// cast(type_f32{}, type_i8{}, value) is bp_cast_f32_i8(value).
#define BPC_CAST_PAIR(F, T) \
  BPC_DEVICE type_##T::Value cast(type_##F, type_##T, type_##F::Value v) { return bp_cast_##F##_##T(v); }
#define BPC_CAST_FROM(F, ID, MEMORY, VALUE)                                                    \
  BPC_CAST_PAIR(F, bool)                                                                       \
  BPC_CAST_PAIR(F, i8)                                                                         \
  BPC_CAST_PAIR(F, i16)                                                                        \
  BPC_CAST_PAIR(F, i32) BPC_CAST_PAIR(F, i64) BPC_CAST_PAIR(F, u8) BPC_CAST_PAIR(F, u16)       \
      BPC_CAST_PAIR(F, u32) BPC_CAST_PAIR(F, u64) BPC_CAST_PAIR(F, f16) BPC_CAST_PAIR(F, bf16) \
          BPC_CAST_PAIR(F, f32) BPC_CAST_PAIR(F, f64)
BPC_TYPES(BPC_CAST_FROM)
#undef BPC_CAST_FROM
#undef BPC_CAST_PAIR

// Calls `body(type_x{})` for the type numbered `type`.
template <typename Body>
BPC_DEVICE void with_type(u32 type, Body body) {
#define BPC_CASE(S, ID, MEMORY, VALUE) \
  case ID:                             \
    body(type_##S{});                  \
    break;
  switch (type) { BPC_TYPES(BPC_CASE) }
#undef BPC_CASE
}

template <typename Type>
BPC_DEVICE typename Type::Value load_at(u64 address, i64 index) {
  return Type::load(reinterpret_cast<const typename Type::Memory*>(address)[index]);
}

template <typename Type>
BPC_DEVICE void store_at(u64 address, i64 index, typename Type::Value value) {
  reinterpret_cast<typename Type::Memory*>(address)[index] = Type::store(value);
}

// Element `index` of memory of any type, as a value of type To.
template <typename To>
BPC_DEVICE typename To::Value load_as(u32 type, u64 address, i64 index) {
  typename To::Value value{};
  with_type(type, [&](auto from) { value = cast(from, To{}, load_at<decltype(from)>(address, index)); });
  return value;
}

template <typename From>
BPC_DEVICE void store_as(u32 type, u64 address, i64 index, typename From::Value value) {
  with_type(type, [&](auto to) { store_at<decltype(to)>(address, index, cast(From{}, to, value)); });
}

// A value of class From, rounded to `compute` where that is a narrower float.
template <typename From>
BPC_DEVICE typename From::Value rounded(u32 compute, typename From::Value value) {
  if (compute == type_f16::kId) return cast(type_f16{}, From{}, cast(From{}, type_f16{}, value));
  if (compute == type_bf16::kId) return cast(type_bf16{}, From{}, cast(From{}, type_bf16{}, value));
  return value;
}

template <typename From>
BPC_DEVICE void store_rounded(u32 compute, u32 type, u64 address, i64 index, typename From::Value value) {
  store_as<From>(type, address, index, rounded<From>(compute, value));
}

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_KERNELS_TYPES_CUH_
