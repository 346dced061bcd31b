// SPDX-License-Identifier: Apache-2.0
//
// Correctly rounded quotients and roots of float32 by integer arithmetic, for devices that have neither these
// nor float64: bp_soft_divide_f32(a, b) and bp_soft_sqrt_f32(a). Denormals are kept, even where arithmetic
// flushes them. A part of the preludes; the schoolbook methods.
#ifndef BACKPLANE_KERNELS_SOFT_DIVIDE_H_
#define BACKPLANE_KERNELS_SOFT_DIVIDE_H_

// A positive number m * 2^e, m of 24 bits.
BP_FN bp_u32 bp_soft_split(bp_u32 bits, bp_i32* e) {
  bp_u32 m = bits & 0x7fffffu;
  *e = (bp_i32)(bits >> 23) - 150;
  if (*e != -150) return m | 0x800000u;
  *e = -149;
  while (m < 0x800000u) {
    m <<= 1;
    *e -= 1;
  }
  return m;
}

// q * 2^e to nearest, ties to even, for a q of 25 to 28 bits; `rest` says that the true value is a little
// more.
BP_FN bp_u32 bp_soft_round(bp_u32 q, bp_i32 e, int rest) {
  bp_i32 top = 24;
  while ((q >> (top + 1)) != 0) ++top;
  bp_i32 shift = top - 23;
  bp_i32 exponent = top + e;
  if (exponent < -126) shift += -126 - exponent;
  if (shift > 29) return 0;
  bp_u32 kept = q >> shift;
  bp_u32 lost = q & ((1u << shift) - 1u);
  bp_u32 half = 1u << (shift - 1);
  if (lost > half || (lost == half && (rest || (kept & 1u)))) ++kept;
  // Below the normal range `kept` is the number as it stands; a carry moves into the exponent by itself.
  bp_u32 bits =
      exponent < -126 ? kept : (exponent > 127 ? 0x7f800000u : ((bp_u32)(exponent + 126) << 23) + kept);
  return bits > 0x7f800000u ? 0x7f800000u : bits;
}

BP_FN bp_f32 bp_soft_divide_f32(bp_f32 a, bp_f32 b) {
  bp_u32 abits = (bp_u32)bp_bits_f32(a) & 0x7fffffffu;
  bp_u32 bbits = (bp_u32)bp_bits_f32(b) & 0x7fffffffu;
  bp_u32 sign = ((bp_u32)bp_bits_f32(a) ^ (bp_u32)bp_bits_f32(b)) & 0x80000000u;
  if (abits > 0x7f800000u || bbits > 0x7f800000u) return a + b;
  if (abits == bbits && (abits == 0 || abits == 0x7f800000u)) return bp_from_bits_f32(0x7fc00000);
  if (abits == 0x7f800000u || bbits == 0) return bp_from_bits_f32((bp_i32)(sign | 0x7f800000u));
  if (abits == 0 || bbits == 0x7f800000u) return bp_from_bits_f32((bp_i32)sign);
  bp_i32 ea, eb;
  bp_u64 ma = (bp_u64)bp_soft_split(abits, &ea) << 26;
  bp_u64 mb = bp_soft_split(bbits, &eb);
  bp_u64 q = ma / mb;
  return bp_from_bits_f32((bp_i32)(sign | bp_soft_round((bp_u32)q, ea - eb - 26, q * mb != ma)));
}

BP_FN bp_f32 bp_soft_sqrt_f32(bp_f32 a) {
  bp_u32 bits = (bp_u32)bp_bits_f32(a);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return a + a;
  if ((bits & 0x7fffffffu) == 0 || bits == 0x7f800000u) return a;
  if ((bits >> 31) != 0) return bp_from_bits_f32(0x7fc00000);
  bp_i32 e;
  bp_u64 m = bp_soft_split(bits, &e);
  bp_i32 shift = (e & 1) != 0 ? 27 : 26;
  m <<= shift;
  bp_u64 root = 0;
  for (bp_u64 bit = (bp_u64)1 << 25; bit != 0; bit >>= 1)
    if ((root + bit) * (root + bit) <= m) root += bit;
  return bp_from_bits_f32((bp_i32)bp_soft_round((bp_u32)root, (e - shift) / 2, root * root != m));
}

#endif  // BACKPLANE_KERNELS_SOFT_DIVIDE_H_
