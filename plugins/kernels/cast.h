// SPDX-License-Identifier: Apache-2.0
//
// Conversions between all types: bp_cast_<from>_<to>(value). Integers wrap. Floating to integer truncates and
// saturates, NaN gives 0. Anything to bool asks whether it is not 0 (NaN is not). Anything to floating is
// rounded once, to nearest, ties to even. Values of float16 and bfloat16 are in registers, that is bp_f32
// (see half.h).
#ifndef BACKPLANE_KERNELS_CAST_H_
#define BACKPLANE_KERNELS_CAST_H_

// Integers and bool, to everything. MAGNITUDE and NEGATIVE serve bfloat16, which a float32 in between would
// round twice; float16 has no number that it could harm.
#define BP_CAST_INTEGER(F, MAGNITUDE, NEGATIVE)                                  \
  BP_FN bp_bool bp_cast_##F##_bool(bp_##F a) { return (bp_bool)(a != 0); }       \
  BP_FN bp_i8 bp_cast_##F##_i8(bp_##F a) { return (bp_i8)a; }                    \
  BP_FN bp_i16 bp_cast_##F##_i16(bp_##F a) { return (bp_i16)a; }                 \
  BP_FN bp_i32 bp_cast_##F##_i32(bp_##F a) { return (bp_i32)a; }                 \
  BP_FN bp_i64 bp_cast_##F##_i64(bp_##F a) { return (bp_i64)a; }                 \
  BP_FN bp_u8 bp_cast_##F##_u8(bp_##F a) { return (bp_u8)a; }                    \
  BP_FN bp_u16 bp_cast_##F##_u16(bp_##F a) { return (bp_u16)a; }                 \
  BP_FN bp_u32 bp_cast_##F##_u32(bp_##F a) { return (bp_u32)a; }                 \
  BP_FN bp_u64 bp_cast_##F##_u64(bp_##F a) { return (bp_u64)a; }                 \
  BP_FN bp_f32 bp_cast_##F##_f32(bp_##F a) { return (bp_f32)a; }                 \
  BP_FN bp_f32 bp_cast_##F##_f16(bp_##F a) { return bp_nearest_f16((bp_f32)a); } \
  BP_FN bp_f32 bp_cast_##F##_bf16(bp_##F a) {                                    \
    bp_f32 size = bp_nearest_bf16(bp_odd_u64(MAGNITUDE));                        \
    return (NEGATIVE) ? -size : size;                                            \
  }                                                                              \
  BP_CAST_INTEGER_F64(F)
#if BP_HAS_F64
#define BP_CAST_INTEGER_F64(F) \
  BP_FN bp_f64 bp_cast_##F##_f64(bp_##F a) { return (bp_f64)a; }
#else
#define BP_CAST_INTEGER_F64(F)
#endif
#define BP_CAST_SIGNED(F) BP_CAST_INTEGER(F, a < 0 ? (bp_u64)0 - (bp_u64)a : (bp_u64)a, a < 0)
#define BP_CAST_UNSIGNED(F) BP_CAST_INTEGER(F, (bp_u64)a, 0)
BP_CAST_UNSIGNED(bool)
BP_CAST_SIGNED(i8)
BP_CAST_SIGNED(i16)
BP_CAST_SIGNED(i32)
BP_CAST_SIGNED(i64)
BP_CAST_UNSIGNED(u8)
BP_CAST_UNSIGNED(u16)
BP_CAST_UNSIGNED(u32)
BP_CAST_UNSIGNED(u64)
#undef BP_CAST_SIGNED
#undef BP_CAST_UNSIGNED
#undef BP_CAST_INTEGER
#undef BP_CAST_INTEGER_F64

// Floating F to integer T by way of type V: LEAST is T's lowest value, SAFE the greatest F whose truncation V
// and T can hold, END the power of two just above T's greatest value MOST.
#define BP_CAST_SATURATE(F, T, V, LEAST, SAFE, END, MOST) \
  BP_FN bp_##T bp_cast_##F##_##T(bp_##F a) {              \
    bp_##F known = (a == a) ? a : (bp_##F)0;              \
    bp_##F above = (known < (LEAST)) ? (LEAST) : known;   \
    bp_##F inside = (above > (SAFE)) ? (SAFE) : above;    \
    bp_##T whole = (bp_##T)(bp_##V)inside;                \
    return (known >= (END)) ? (bp_##T)(MOST) : whole;     \
  }

BP_FN bp_bool bp_cast_f32_bool(bp_f32 a) { return (bp_bool)(a != 0.0f); }
BP_CAST_SATURATE(f32, i8, i32, -128.0f, 127.0f, 128.0f, 127)
BP_CAST_SATURATE(f32, i16, i32, -32768.0f, 32767.0f, 32768.0f, 32767)
BP_CAST_SATURATE(f32, i32, i32, -2147483648.0f, 2147483520.0f, 2147483648.0f, 2147483647)
BP_CAST_SATURATE(f32, i64, i64, -9223372036854775808.0f, 9223371487098961920.0f, 9223372036854775808.0f,
                 9223372036854775807L)
BP_CAST_SATURATE(f32, u8, i32, 0.0f, 255.0f, 256.0f, 255)
BP_CAST_SATURATE(f32, u16, i32, 0.0f, 65535.0f, 65536.0f, 65535)
BP_CAST_SATURATE(f32, u32, u32, 0.0f, 4294967040.0f, 4294967296.0f, 4294967295u)
BP_CAST_SATURATE(f32, u64, u64, 0.0f, 18446742974197923840.0f, 18446744073709551616.0f,
                 18446744073709551615ul)
BP_FN bp_f32 bp_cast_f32_f32(bp_f32 a) { return a; }
BP_FN bp_f32 bp_cast_f32_f16(bp_f32 a) { return bp_nearest_f16(a); }
BP_FN bp_f32 bp_cast_f32_bf16(bp_f32 a) { return bp_nearest_bf16(a); }

#if BP_HAS_F64
BP_FN bp_f64 bp_cast_f32_f64(bp_f32 a) { return (bp_f64)a; }

BP_FN bp_bool bp_cast_f64_bool(bp_f64 a) { return (bp_bool)(a != 0.0); }
BP_CAST_SATURATE(f64, i8, i32, -128.0, 127.0, 128.0, 127)
BP_CAST_SATURATE(f64, i16, i32, -32768.0, 32767.0, 32768.0, 32767)
BP_CAST_SATURATE(f64, i32, i32, -2147483648.0, 2147483647.0, 2147483648.0, 2147483647)
BP_CAST_SATURATE(f64, i64, i64, -9223372036854775808.0, 9223372036854774784.0, 9223372036854775808.0,
                 9223372036854775807L)
BP_CAST_SATURATE(f64, u8, i32, 0.0, 255.0, 256.0, 255)
BP_CAST_SATURATE(f64, u16, i32, 0.0, 65535.0, 65536.0, 65535)
BP_CAST_SATURATE(f64, u32, u32, 0.0, 4294967295.0, 4294967296.0, 4294967295u)
BP_CAST_SATURATE(f64, u64, u64, 0.0, 18446744073709549568.0, 18446744073709551616.0, 18446744073709551615ul)
BP_FN bp_f64 bp_cast_f64_f64(bp_f64 a) { return a; }
BP_FN bp_f32 bp_cast_f64_f32(bp_f64 a) { return (bp_f32)a; }
BP_FN bp_f32 bp_cast_f64_f16(bp_f64 a) { return bp_nearest_f16(bp_odd_f64(a)); }
BP_FN bp_f32 bp_cast_f64_bf16(bp_f64 a) { return bp_nearest_bf16(bp_odd_f64(a)); }
#endif
#undef BP_CAST_SATURATE

// float16 and bfloat16 are float32 in registers.
#define BP_CAST_HALF(F)                                                      \
  BP_FN bp_bool bp_cast_##F##_bool(bp_f32 a) { return bp_cast_f32_bool(a); } \
  BP_FN bp_i8 bp_cast_##F##_i8(bp_f32 a) { return bp_cast_f32_i8(a); }       \
  BP_FN bp_i16 bp_cast_##F##_i16(bp_f32 a) { return bp_cast_f32_i16(a); }    \
  BP_FN bp_i32 bp_cast_##F##_i32(bp_f32 a) { return bp_cast_f32_i32(a); }    \
  BP_FN bp_i64 bp_cast_##F##_i64(bp_f32 a) { return bp_cast_f32_i64(a); }    \
  BP_FN bp_u8 bp_cast_##F##_u8(bp_f32 a) { return bp_cast_f32_u8(a); }       \
  BP_FN bp_u16 bp_cast_##F##_u16(bp_f32 a) { return bp_cast_f32_u16(a); }    \
  BP_FN bp_u32 bp_cast_##F##_u32(bp_f32 a) { return bp_cast_f32_u32(a); }    \
  BP_FN bp_u64 bp_cast_##F##_u64(bp_f32 a) { return bp_cast_f32_u64(a); }    \
  BP_FN bp_f32 bp_cast_##F##_f32(bp_f32 a) { return a; }                     \
  BP_FN bp_f32 bp_cast_##F##_f16(bp_f32 a) { return bp_nearest_f16(a); }     \
  BP_FN bp_f32 bp_cast_##F##_bf16(bp_f32 a) { return bp_nearest_bf16(a); }   \
  BP_CAST_HALF_F64(F)
#if BP_HAS_F64
#define BP_CAST_HALF_F64(F) \
  BP_FN bp_f64 bp_cast_##F##_f64(bp_f32 a) { return (bp_f64)a; }
#else
#define BP_CAST_HALF_F64(F)
#endif
BP_CAST_HALF(f16)
BP_CAST_HALF(bf16)
#undef BP_CAST_HALF
#undef BP_CAST_HALF_F64

#endif  // BACKPLANE_KERNELS_CAST_H_
