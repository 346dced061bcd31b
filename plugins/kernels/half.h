// SPDX-License-Identifier: Apache-2.0
//
// float16 and bfloat16. In memory they are 16 bits (bp_u16); in a register they are the float32 of the same
// value, and arithmetic is done in float32 and rounded: `bp_f32 v = bp_load_f16(bits)`, `bits =
// bp_store_f16(v)`, and `bp_nearest_f16(v)`, the nearest value of the type, ties to even. NaN stays NaN with
// its sign and upper payload bits, and becomes quiet. Integer operations and exact float ones only: no
// hardware support is needed, and a device that flushes denormals of float32 still converts right, since
// every float32 they touch is normal.
#ifndef BACKPLANE_KERNELS_HALF_H_
#define BACKPLANE_KERNELS_HALF_H_

BP_FN bp_f32 bp_load_bf16(bp_u16 bits) {
  bp_u32 wide = (bp_u32)bits << 16;
  bp_u32 quiet = ((wide & 0x7fffffffu) > 0x7f800000u) ? 0x400000u : 0u;
  return bp_from_bits_f32((bp_i32)(wide | quiet));
}

BP_FN bp_u16 bp_store_bf16(bp_f32 value) {
  bp_u32 bits = (bp_u32)bp_bits_f32(value);
  bp_u32 rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  bp_u32 nan = (bits >> 16) | 0x40u;
  return (bp_u16)(((bits & 0x7fffffffu) > 0x7f800000u) ? nan : rounded);
}

// The number below 2^-14 is m * 2^-24; the others move the exponent's bias from 15 to 127.
BP_FN bp_f32 bp_load_f16(bp_u16 bits) {
  bp_u32 sign = ((bp_u32)bits & 0x8000u) << 16;
  bp_u32 m = (bp_u32)bits & 0x7fffu;
  bp_u32 normal = (m << 13) + 0x38000000u;
  bp_u32 special = (m << 13) | 0x7f800000u | ((m > 0x7c00u) ? 0x400000u : 0u);
  bp_u32 small = (bp_u32)bp_bits_f32((bp_f32)(bp_i32)m * 5.9604644775390625e-8f);
  bp_u32 magnitude = (m >= 0x7c00u) ? special : ((m < 0x400u) ? small : normal);
  return bp_from_bits_f32((bp_i32)(sign | magnitude));
}

// Below 2^-14 the sum with 0.5, whose unit in the last place is float16's smallest number, does the rounding;
// from 65520 up the carry into the exponent gives infinity.
BP_FN bp_u16 bp_store_f16(bp_f32 value) {
  bp_u32 bits = (bp_u32)bp_bits_f32(value);
  bp_u32 m = bits & 0x7fffffffu;
  bp_u32 sign = (bits ^ m) >> 16;
  bp_u32 normal = (m - 0x38000000u + 0xfffu + ((m >> 13) & 1u)) >> 13;
  bp_u32 small =
      (bp_u32)bp_bits_f32(bp_from_bits_f32((bp_i32)((m < 0x38800000u) ? m : 0u)) + 0.5f) - 0x3f000000u;
  bp_u32 special = (m > 0x7f800000u) ? (0x7e00u | ((m >> 13) & 0x3ffu)) : 0x7c00u;
  bp_u32 magnitude = (m >= 0x47800000u) ? special : ((m < 0x38800000u) ? small : normal);
  return (bp_u16)(sign | magnitude);
}

BP_FN bp_f32 bp_nearest_bf16(bp_f32 value) { return bp_load_bf16(bp_store_bf16(value)); }
BP_FN bp_f32 bp_nearest_f16(bp_f32 value) { return bp_load_f16(bp_store_f16(value)); }

// The neighbours of `a` among the numbers of the type, as C's nextafter.
#define BP_HALF_NEXTAFTER(S)                                                \
  BP_FN bp_f32 bp_nextafter_##S(bp_f32 a, bp_f32 b) {                       \
    bp_u16 bits = bp_store_##S(a);                                          \
    bp_u16 least = (bp_u16)((bp_store_##S(b) & 0x8000u) | 1u);              \
    bp_u16 moved = (bp_u16)(((a < b) == (a > 0.0f)) ? bits + 1 : bits - 1); \
    bp_f32 stepped = bp_load_##S((a == 0.0f) ? least : moved);              \
    return ((a != a) | (b != b)) ? a + b : ((a == b) ? b : stepped);        \
  }
BP_HALF_NEXTAFTER(f16)
BP_HALF_NEXTAFTER(bf16)
#undef BP_HALF_NEXTAFTER

// Float32 values that round to float16 and bfloat16 as the given value itself would: rounded to odd, that is
// toward zero with the last bit set where anything was lost (S. Boldo, G. Melquiond, 2008), with at least two
// digits more than either type has.
#if BP_HAS_F64
BP_FN bp_f32 bp_odd_f64(bp_f64 value) {
  bp_f32 near = (bp_f32)value;
  bp_f64 back = (bp_f64)near;
  bp_f64 size = (value < 0) ? -value : value;
  bp_f64 back_size = (back < 0) ? -back : back;
  bp_i32 bits = bp_bits_f32(near);
  bp_i32 odd = (bits - ((back_size > size) ? 1 : 0)) | 1;
  return (back == value) ? near : bp_from_bits_f32(odd);
}
#endif

// For the magnitude of an integer: 10 to 24 leading digits are kept.
BP_FN bp_f32 bp_odd_u64(bp_u64 value) {
  bp_u32 shift = (value >> 52) ? 40u : ((value >> 38) ? 28u : ((value >> 24) ? 14u : 0u));
  bp_u64 kept = value >> shift;
  bp_u32 odd = (bp_u32)kept | (((kept << shift) != value) ? 1u : 0u);
  return (bp_f32)(bp_i32)odd * bp_from_bits_f32((bp_i32)((shift + 127u) << 23));
}

#endif  // BACKPLANE_KERNELS_HALF_H_
