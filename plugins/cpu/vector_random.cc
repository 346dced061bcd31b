// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set; see isa.h for what that forbids.
#include "cpu/vector_random.h"
#include "backplane/kernels/random.h"
#include "cpu/vector.h"
#include "cpu/vector_loops.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

// A lane holds one 32-bit word in its lower half; the upper half is whatever the last operation left there.
using Words = Vector<uint64_t>;
constexpr int64_t kBlocks = kLanes<uint64_t>;

// Lower half times lower half.
BACKPLANE_INLINE Words multiply(Words a, uint32_t factor) {
#if defined(__AVX512F__)
  return (Words)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64(factor));
#elif defined(__AVX2__)
  return (Words)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x(factor));
#elif defined(__x86_64__)
  return (Words)_mm_mul_epu32((__m128i)a, _mm_set1_epi64x(factor));
#else
  return (a & 0xffffffffu) * uint64_t{factor};
#endif
}

// kBlocks blocks, whose numbers are in `block`; see bp_philox.
BACKPLANE_INLINE void draw_blocks(uint32_t* words, Words block, uint64_t seed) {
  Words x0 = block, x1 = block >> 32, x2 = Words{}, x3 = Words{};
  uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const Words product0 = multiply(x0, 0xD2511F53u), product1 = multiply(x2, 0xCD9E8D57u);
    x0 = (product1 >> 32) ^ x1 ^ uint64_t { key0 };
    x1 = product1;
    x2 = (product0 >> 32) ^ x3 ^ uint64_t { key1 };
    x3 = product0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  // Blocks lie one after the other: words 0 and 1 of the first, words 2 and 3 of the first, 0 and 1 of the
  // second, ...
  const Words front = (x0 & 0xffffffffu) | x1 << 32, back = (x2 & 0xffffffffu) | x3 << 32;
#if defined(__AVX512F__)
  const Words low = __builtin_shufflevector(front, back, 0, 8, 1, 9, 2, 10, 3, 11);
  const Words high = __builtin_shufflevector(front, back, 4, 12, 5, 13, 6, 14, 7, 15);
#elif defined(__AVX2__)
  const Words low = __builtin_shufflevector(front, back, 0, 4, 1, 5);
  const Words high = __builtin_shufflevector(front, back, 2, 6, 3, 7);
#else
  const Words low = __builtin_shufflevector(front, back, 0, 2);
  const Words high = __builtin_shufflevector(front, back, 1, 3);
#endif
  store(words, low);
  store(words + kVectorBytes / 4, high);
}

void draw(uint32_t* words, uint64_t seed, uint64_t first_block, int64_t blocks) {
  Words block = Words{} + first_block;
  for (int64_t i = 0; i < kBlocks; ++i) block[i] += (uint64_t)i;
  int64_t done = 0;
  for (; done + kBlocks <= blocks; done += kBlocks, block += (uint64_t)kBlocks)
    draw_blocks(words + 4 * done, block, seed);
  for (; done < blocks; ++done) {
    const bp_philox_block last = bp_philox(first_block + (uint64_t)done, seed);
    __builtin_memcpy(words + 4 * done, last.word, sizeof last.word);
  }
}

BACKPLANE_INLINE uint64_t two_words(const uint32_t* words, int64_t i) {
  uint64_t bits;
  __builtin_memcpy(&bits, words + 2 * i, sizeof bits);
  return bits;
}

// Arrays in register form from words: `S` says which formula, `Real` the register, `WORD` the element's bits.
#define BACKPLANE_DRAW(kind, S, Real, WORD)                                                             \
  void kind##_##S(void* out, const uint32_t* words, const void* first, const void* second, int64_t n) { \
    Real* to = static_cast<Real*>(out);                                                                 \
    Real a, b;                                                                                          \
    __builtin_memcpy(&a, first, sizeof a);                                                              \
    __builtin_memcpy(&b, second, sizeof b);                                                             \
    BACKPLANE_SAME_INDEX_ONLY                                                                           \
    for (int64_t i = 0; i < n; ++i) to[i] = bp_##kind##_##S(WORD, a, b);                                \
  }
BACKPLANE_DRAW(uniform, f16, float, words[i])
BACKPLANE_DRAW(uniform, bf16, float, words[i])
BACKPLANE_DRAW(uniform, f32, float, words[i])
BACKPLANE_DRAW(uniform, f64, double, two_words(words, i))
BACKPLANE_DRAW(normal, f16, float, words[i])
BACKPLANE_DRAW(normal, bf16, float, words[i])
BACKPLANE_DRAW(normal, f32, float, words[i])
BACKPLANE_DRAW(normal, f64, double, two_words(words, i))

#define BACKPLANE_INTEGERS(S)                                                                    \
  void integers_##S(void* out, const uint32_t* words, uint64_t low, uint64_t count, int64_t n) { \
    for (int64_t i = 0; i < n; ++i)                                                              \
      static_cast<bp_##S*>(out)[i] = (bp_##S)bp_random_integer(two_words(words, i), low, count); \
  }
BACKPLANE_INTEGERS(i8)
BACKPLANE_INTEGERS(i16)
BACKPLANE_INTEGERS(i32)
BACKPLANE_INTEGERS(i64)
BACKPLANE_INTEGERS(u8)
BACKPLANE_INTEGERS(u16)
BACKPLANE_INTEGERS(u32)
BACKPLANE_INTEGERS(u64)

}  // namespace

const RandomTable random_loops = {
    draw,
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, uniform_f16,
     uniform_bf16, uniform_f32, uniform_f64},
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, normal_f16, normal_bf16,
     normal_f32, normal_f64},
    {nullptr, integers_i8, integers_i16, integers_i32, integers_i64, integers_u8, integers_u16, integers_u32,
     integers_u64, nullptr, nullptr, nullptr, nullptr}};

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
