// SPDX-License-Identifier: Apache-2.0
//
// Random numbers, a block of four words a thread; the streams and formulas are those of
// backplane/kernels/random.h.
#include "backplane/kernels/random.h"
#include "heavy.cuh"
#include "walk.cuh"

namespace backplane::cuda {

// Types of one word an element take four elements from a block, the others two. `make(word)` makes the value.
template <typename Type, typename Make>
BPC_DEVICE void draw_words(const RandomParams& p, Make make) {
  for (i64 first = thread_index() * 4; first < p.count; first += thread_count() * 4) {
    const bp_philox_block block = bp_philox(p.block_offset + static_cast<u64>(first / 4), p.seed);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (first + k < p.count) store_at<Type>(p.out, first + k, make(block.word[k]));
  }
}

template <typename Type, typename Make>
BPC_DEVICE void draw_pairs(const RandomParams& p, Make make) {
  for (i64 first = thread_index() * 2; first < p.count; first += thread_count() * 2) {
    const bp_philox_block block = bp_philox(p.block_offset + static_cast<u64>(first / 2), p.seed);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const bp_u64 bits = static_cast<bp_u64>(block.word[2 * k + 1]) << 32 | block.word[2 * k];
      if (first + k < p.count) store_at<Type>(p.out, first + k, make(bits));
    }
  }
}

BPC_DEVICE bp_f64 first_of(const RandomParams& p) { return bp_from_bits_f64(static_cast<bp_i64>(p.first)); }
BPC_DEVICE bp_f64 second_of(const RandomParams& p) { return bp_from_bits_f64(static_cast<bp_i64>(p.second)); }

template <typename Type>
BPC_DEVICE typename Type::Value argument(bp_f64 value) {
  return cast(type_f64{}, Type{}, value);
}

}  // namespace backplane::cuda

using namespace backplane::cuda;

#define BPC_KERNEL extern "C" __global__ void __launch_bounds__(kBlockThreads)

#define BPC_DRAW(NAME, S, HOW)                                                                     \
  BPC_KERNEL NAME##_##S(const __grid_constant__ RandomParams p) {                                  \
    const auto first = argument<type_##S>(first_of(p)), second = argument<type_##S>(second_of(p)); \
    HOW<type_##S>(p, [=](auto bits) { return bp_##NAME##_##S(bits, first, second); });             \
  }
BPC_DRAW(uniform, f16, draw_words)
BPC_DRAW(uniform, bf16, draw_words)
BPC_DRAW(uniform, f32, draw_words)
BPC_DRAW(uniform, f64, draw_pairs)
BPC_DRAW(normal, f16, draw_words)
BPC_DRAW(normal, bf16, draw_words)
BPC_DRAW(normal, f32, draw_words)
BPC_DRAW(normal, f64, draw_pairs)

BPC_KERNEL bits_u32(const __grid_constant__ RandomParams p) {
  draw_words<type_u32>(p, [](bp_u32 word) { return word; });
}
BPC_KERNEL bits_u64(const __grid_constant__ RandomParams p) {
  draw_pairs<type_u64>(p, [](bp_u64 bits) { return bits; });
}

#define BPC_INTEGERS(S)                                                                \
  BPC_KERNEL integers_##S(const __grid_constant__ RandomParams p) {                    \
    draw_pairs<type_##S>(p, [&](bp_u64 bits) {                                         \
      return static_cast<type_##S::Value>(bp_random_integer(bits, p.first, p.second)); \
    });                                                                                \
  }
BPC_INTEGERS(i8)
BPC_INTEGERS(i16)
BPC_INTEGERS(i32)
BPC_INTEGERS(i64)
BPC_INTEGERS(u8)
BPC_INTEGERS(u16)
BPC_INTEGERS(u32)
BPC_INTEGERS(u64)
