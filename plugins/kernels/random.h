// SPDX-License-Identifier: Apache-2.0
//
// The streams of random numbers, the same bits on every device: integer operations and correctly rounded ones
// only.
//
// Source of bits: Philox4x32-10 (J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011). The key is the 64-bit seed, low word first; the counter is the block's number, low word
// first, its upper two words 0. A draw starts at block `block_offset`:
//
//   one word an element     Bits of UInt32; Uniform and Normal of float16, bfloat16 and float32.
//                           Element i takes word i mod 4 of block block_offset + i / 4: ceil(n / 4) blocks.
//   two words an element    Bits of UInt64, Uniform and Normal of float64, Integers of every type.
//                           Element i takes words 2 (i mod 2), the low half, and 2 (i mod 2) + 1 of block
//                           block_offset + i / 2: ceil(n / 2) blocks.
//
// Uniform in [low, high): u = (the upper 24, 53, 11 or 8 bits of float32, float64, float16, bfloat16) *
// 2^-24, -53, -11, -8, then low + u * (high - low) in the type (float16 and bfloat16: in float32, rounded
// once); a result that is not below high becomes the number of the type just below it. Not low < high gives
// low.
//
// Normal: mean + deviation * z, each operation rounded (float16 and bfloat16: in float32, then rounded). z is
// the inverse of the normal distribution function, by algorithm AS 241 (M. Wichura, Applied Statistics 37,
// 1988, pages 477-484): PPND7 in float32 for types up to float32, PPND16 in float64 for float64. Its argument
// is 1/2 - q or 1/2 + q, as the top bit is set or not, with q = t * 2^-32 where t is the lower 31 bits with
// the last one set (float64: t * 2^-54, t the 53 bits below the top bit, the last one set); q and 1/2 - q are
// then both exact to the type's precision, and never 0. The logarithm in the tails is bp_random_log, below.
//
// Integers in [low, low + count): low + floor(x * count / 2^64) for the 64-bit x, modulo 2^64 and cut to the
// type; count 0 means 2^64. A value's probability is off by less than 2^-64.
#ifndef BACKPLANE_KERNELS_RANDOM_H_
#define BACKPLANE_KERNELS_RANDOM_H_

#include "backplane/kernels/scalar.h"

typedef struct {
  bp_u32 word[4];
} bp_philox_block;

BP_FN bp_philox_block bp_philox(bp_u64 block, bp_u64 seed) {
  bp_u32 x0 = (bp_u32)block, x1 = (bp_u32)(block >> 32), x2 = 0, x3 = 0;
  bp_u32 key0 = (bp_u32)seed, key1 = (bp_u32)(seed >> 32);
  bp_philox_block result;
  for (int round = 0; round < 10; ++round) {
    bp_u64 product0 = (bp_u64)0xD2511F53u * x0;
    bp_u64 product1 = (bp_u64)0xCD9E8D57u * x2;
    x0 = (bp_u32)(product1 >> 32) ^ x1 ^ key0;
    x1 = (bp_u32)product1;
    x2 = (bp_u32)(product0 >> 32) ^ x3 ^ key1;
    x3 = (bp_u32)product0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  result.word[0] = x0;
  result.word[1] = x1;
  result.word[2] = x2;
  result.word[3] = x3;
  return result;
}

// Element `index` of a draw, for the types of one and of two words.
BP_FN bp_u32 bp_random_word(bp_u64 seed, bp_u64 block_offset, bp_u64 index) {
  bp_philox_block block = bp_philox(block_offset + (index >> 2), seed);
  return block.word[index & 3];
}
BP_FN bp_u64 bp_random_two_words(bp_u64 seed, bp_u64 block_offset, bp_u64 index) {
  bp_philox_block block = bp_philox(block_offset + (index >> 1), seed);
  bp_u32 first = 2 * (bp_u32)(index & 1);
  return ((bp_u64)block.word[first + 1] << 32) | block.word[first];
}

// `scaled` is low + u * (high - low) rounded to the type.
#define BP_UNIFORM_BELOW(S, scaled, low, high) \
  (((low) < (high)) ? (((scaled) < (high)) ? (scaled) : bp_nextafter_##S((high), (low))) : (low))

BP_FN bp_f32 bp_uniform_f32(bp_u32 word, bp_f32 low, bp_f32 high) {
  bp_f32 unit = (bp_f32)(bp_i32)(word >> 8) * 5.9604644775390625e-8f;
  bp_f32 scaled = low + unit * (high - low);
  return BP_UNIFORM_BELOW(f32, scaled, low, high);
}
BP_FN bp_f32 bp_uniform_f16(bp_u32 word, bp_f32 low, bp_f32 high) {
  bp_f32 unit = (bp_f32)(bp_i32)(word >> 21) * 4.8828125e-4f;
  bp_f32 scaled = bp_nearest_f16(low + unit * (high - low));
  return BP_UNIFORM_BELOW(f16, scaled, low, high);
}
BP_FN bp_f32 bp_uniform_bf16(bp_u32 word, bp_f32 low, bp_f32 high) {
  bp_f32 unit = (bp_f32)(bp_i32)(word >> 24) * 3.90625e-3f;
  bp_f32 scaled = bp_nearest_bf16(low + unit * (high - low));
  return BP_UNIFORM_BELOW(bf16, scaled, low, high);
}

// The natural logarithm of a normal number, within 2 ULP for results of 1 and more in size: with x = 2^e m, m
// between 1/sqrt 2 and sqrt 2, s = (m - 1) / (m + 1): ln m = 2 artanh s = 2 (s + s^3/3 + s^5/5 + ...), s^2 <
// 0.0295.
BP_FN bp_f32 bp_random_log_f32(bp_f32 x) {
  bp_i32 bits = bp_bits_f32(x);
  bp_i32 exponent = (bits - 0x3f3504f3) >> 23;
  bp_f32 m = bp_from_bits_f32(bits - (bp_i32)((bp_u32)exponent << 23));
  bp_f32 s = bpm_divide_f32(m - 1.0f, m + 1.0f);
  bp_f32 z = s * s;
  bp_f32 tail = z * (0.333333333f + z * (0.2f + z * (0.142857143f + z * 0.111111111f)));
  bp_f32 twice = s + s;
  return (bp_f32)exponent * 0.693147181f + (twice + twice * tail);
}

#define BP_RATIONAL_3(r, n0, n1, n2, n3, d1, d2, d3)              \
  bpm_divide_f32((((n3) * (r) + (n2)) * (r) + (n1)) * (r) + (n0), \
                 (((d3) * (r) + (d2)) * (r) + (d1)) * (r) + 1.0f)

// PPND7 of words whose q is at most BP_NORMAL_CENTRE, and of the others. Since 1/2 - q is at least 2^-32, its
// third region (sqrt(-ln p) > 5) cannot occur.
#define BP_NORMAL_CENTRE 0.425f
#define BP_NORMAL_UNIT 2.3283064365386962890625e-10f
BP_FN bp_f32 bp_normal_q_f32(bp_u32 word) {
  return (bp_f32)(bp_i32)((word & 0x7fffffffu) | 1u) * BP_NORMAL_UNIT;
}
BP_FN bp_f32 bp_with_sign_of_word_f32(bp_f32 size, bp_u32 word) {
  return bp_from_bits_f32(bp_bits_f32(size) | (bp_i32)(word & 0x80000000u));
}
BP_FN bp_f32 bp_normal_centre_f32(bp_u32 word) {
  bp_f32 q = bp_normal_q_f32(word);
  bp_f32 r = 0.180625f - q * q;
  bp_f32 z = q * BP_RATIONAL_3(r, 3.3871327179f, 50.434271938f, 159.29113202f, 59.109374720f, 17.895169469f,
                               78.757757664f, 67.187563600f);
  return bp_with_sign_of_word_f32(z, word);
}
BP_FN bp_f32 bp_normal_tail_f32(bp_u32 word) {
  bp_i32 t = (bp_i32)((word & 0x7fffffffu) | 1u);
  bp_f32 p = (bp_f32)((bp_i32)0x7fffffff - t + 1) * BP_NORMAL_UNIT;
  bp_f32 u = bpm_sqrt_f32(-bp_random_log_f32(p)) - 1.6f;
  bp_f32 z = BP_RATIONAL_3(u, 1.4234372777f, 2.7568153900f, 1.3067284816f, 0.17023821103f, 0.73700164250f,
                           0.12021132975f, 0.0f);
  return bp_with_sign_of_word_f32(z, word);
}
BP_FN bp_f32 bp_standard_normal_f32(bp_u32 word) {
  bp_f32 centre = bp_normal_centre_f32(word), tail = bp_normal_tail_f32(word);
  return (bp_normal_q_f32(word) <= BP_NORMAL_CENTRE) ? centre : tail;
}
#undef BP_RATIONAL_3

BP_FN bp_f32 bp_normal_f32(bp_u32 word, bp_f32 mean, bp_f32 deviation) {
  return mean + deviation * bp_standard_normal_f32(word);
}
BP_FN bp_f32 bp_normal_f16(bp_u32 word, bp_f32 mean, bp_f32 deviation) {
  return bp_nearest_f16(bp_normal_f32(word, mean, deviation));
}
BP_FN bp_f32 bp_normal_bf16(bp_u32 word, bp_f32 mean, bp_f32 deviation) {
  return bp_nearest_bf16(bp_normal_f32(word, mean, deviation));
}

BP_FN bp_u64 bp_random_integer(bp_u64 bits, bp_u64 low, bp_u64 count) {
  return low + (count == 0 ? bits : bp_mulhi_u64(bits, count));
}

#if BP_HAS_F64
#include "backplane/kernels/random_f64.h"
#endif

#endif  // BACKPLANE_KERNELS_RANDOM_H_
