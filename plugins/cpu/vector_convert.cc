// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set; see isa.h for what that forbids.
// Conversions between all types, and between memory and registers where these differ.
#include "backplane/kernels/scalar.h"
#include "cpu/vector_loops.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

#define BACKPLANE_MAP(function, To, From)                      \
  [](void* out, const void* in, int64_t n) {                   \
    To* to = static_cast<To*>(out);                            \
    const From* from = static_cast<const From*>(in);           \
    BACKPLANE_SAME_INDEX_ONLY                                  \
    for (int64_t i = 0; i < n; ++i) to[i] = function(from[i]); \
  }
#define BACKPLANE_CAST(F, From, T, To) BACKPLANE_MAP(bp_cast_##F##_##T, To, From)
#define BACKPLANE_CASTS(F, From)                                                     \
  {                                                                                  \
    BACKPLANE_CAST(F, From, bool, bp_bool), BACKPLANE_CAST(F, From, i8, bp_i8),      \
        BACKPLANE_CAST(F, From, i16, bp_i16), BACKPLANE_CAST(F, From, i32, bp_i32),  \
        BACKPLANE_CAST(F, From, i64, bp_i64), BACKPLANE_CAST(F, From, u8, bp_u8),    \
        BACKPLANE_CAST(F, From, u16, bp_u16), BACKPLANE_CAST(F, From, u32, bp_u32),  \
        BACKPLANE_CAST(F, From, u64, bp_u64), BACKPLANE_CAST(F, From, f16, bp_f32),  \
        BACKPLANE_CAST(F, From, bf16, bp_f32), BACKPLANE_CAST(F, From, f32, bp_f32), \
        BACKPLANE_CAST(F, From, f64, bp_f64)                                         \
  }

#if defined(__F16C__)
// The instructions round as the formulas do, NaN included; the rest of an array goes through the formulas.
void load_f16(void* out, const void* in, int64_t n) {
  float* to = static_cast<float*>(out);
  const uint16_t* from = static_cast<const uint16_t*>(in);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  }
  for (; i < n; ++i) to[i] = bp_load_f16(from[i]);
}
void store_f16(void* out, const void* in, int64_t n) {
  uint16_t* to = static_cast<uint16_t*>(out);
  const float* from = static_cast<const float*>(in);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), half);
  }
  for (; i < n; ++i) to[i] = bp_store_f16(from[i]);
}
void round_f16(void* out, const void* in, int64_t n) {
  float* to = static_cast<float*>(out);
  const float* from = static_cast<const float*>(in);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(half));
  }
  for (; i < n; ++i) to[i] = bp_nearest_f16(from[i]);
}
#else
constexpr MapFunction load_f16 = BACKPLANE_MAP(bp_load_f16, float, uint16_t);
constexpr MapFunction store_f16 = BACKPLANE_MAP(bp_store_f16, uint16_t, float);
void round_f16(void* out, const void* in, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<float*>(out)[i] = bp_nearest_f16(static_cast<const float*>(in)[i]);
}
#endif
constexpr MapFunction load_bf16 = BACKPLANE_MAP(bp_load_bf16, float, uint16_t);
constexpr MapFunction store_bf16 = BACKPLANE_MAP(bp_store_bf16, uint16_t, float);
void round_bf16(void* out, const void* in, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<float*>(out)[i] = bp_nearest_bf16(static_cast<const float*>(in)[i]);
}

#define BACKPLANE_IOTA(S, T)                                                          \
  [](void* out, int64_t first, int64_t n) {                                           \
    for (int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = bp_iota_##S(first + i); \
  }

// Here, and not in the exported table itself, where the functions would be weak symbols.
constexpr ConvertTable kTable = {
    {BACKPLANE_CASTS(bool, bp_bool), BACKPLANE_CASTS(i8, bp_i8), BACKPLANE_CASTS(i16, bp_i16),
     BACKPLANE_CASTS(i32, bp_i32), BACKPLANE_CASTS(i64, bp_i64), BACKPLANE_CASTS(u8, bp_u8),
     BACKPLANE_CASTS(u16, bp_u16), BACKPLANE_CASTS(u32, bp_u32), BACKPLANE_CASTS(u64, bp_u64),
     BACKPLANE_CASTS(f16, bp_f32), BACKPLANE_CASTS(bf16, bp_f32), BACKPLANE_CASTS(f32, bp_f32),
     BACKPLANE_CASTS(f64, bp_f64)},
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, load_f16, load_bf16,
     nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, store_f16, store_bf16,
     nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, round_f16, round_bf16,
     nullptr, nullptr},
    {BACKPLANE_IOTA(bool, bp_bool), BACKPLANE_IOTA(i8, bp_i8), BACKPLANE_IOTA(i16, bp_i16),
     BACKPLANE_IOTA(i32, bp_i32), BACKPLANE_IOTA(i64, bp_i64), BACKPLANE_IOTA(u8, bp_u8),
     BACKPLANE_IOTA(u16, bp_u16), BACKPLANE_IOTA(u32, bp_u32), BACKPLANE_IOTA(u64, bp_u64),
     BACKPLANE_IOTA(f16, bp_f32), BACKPLANE_IOTA(bf16, bp_f32), BACKPLANE_IOTA(f32, bp_f32),
     BACKPLANE_IOTA(f64, bp_f64)}};

}  // namespace

const ConvertTable convert_loops = kTable;

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
