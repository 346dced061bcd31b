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

// Blocks lie one after the other: words 0 and 1 of the first, words 2 and 3 of the first, 0 and 1 of the
// second, ...
BACKPLANE_INLINE void store_blocks(uint32_t* words, Words x0, Words x1, Words x2, Words x3) {
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

constexpr int kRounds = 10;
struct Keys {
  Words first[kRounds], second[kRounds];
};
BACKPLANE_INLINE void make_keys(Keys& keys, uint64_t seed) {
  uint32_t first = (uint32_t)seed, second = (uint32_t)(seed >> 32);
  for (int round = 0; round < kRounds; ++round) {
    keys.first[round] = Words{} + first;
    keys.second[round] = Words{} + second;
    first += 0x9E3779B9u;
    second += 0xBB67AE85u;
  }
  // They are operands in memory from here on: the compiler would make some of them anew for every block.
  __asm__ volatile("" : : "r"(&keys) : "memory");
}

// kSets times kBlocks blocks, from number `block[0]` on; see bp_philox. Each round waits for the one before:
// several sets fill the time.
template <int kSets>
BACKPLANE_INLINE void draw_blocks(uint32_t* words, Words block, const Keys& keys) {
  Words x0[kSets], x1[kSets], x2[kSets], x3[kSets];
  for (int s = 0; s < kSets; ++s) {
    x0[s] = block + (uint64_t)(s * kBlocks);
    x1[s] = x0[s] >> 32;
    x2[s] = x3[s] = Words{};
  }
#pragma GCC unroll 10
  for (int round = 0; round < kRounds; ++round) {
    for (int s = 0; s < kSets; ++s) {
      const Words product0 = multiply(x0[s], 0xD2511F53u), product1 = multiply(x2[s], 0xCD9E8D57u);
      x0[s] = (product1 >> 32) ^ x1[s] ^ keys.first[round];
      x1[s] = product1;
      x2[s] = (product0 >> 32) ^ x3[s] ^ keys.second[round];
      x3[s] = product0;
    }
  }
  for (int s = 0; s < kSets; ++s) store_blocks(words + 4 * kBlocks * s, x0[s], x1[s], x2[s], x3[s]);
}

void draw(uint32_t* words, uint64_t seed, uint64_t first_block, int64_t blocks) {
  constexpr int kSets = 3;  // measured: two leave time unused, four do not fit the registers
  Keys keys;
  make_keys(keys, seed);
  Words block = Words{} + first_block;
  for (int64_t i = 0; i < kBlocks; ++i) block[i] += (uint64_t)i;
  int64_t done = 0;
  for (; done + kSets * kBlocks <= blocks; done += kSets * kBlocks, block += (uint64_t)(kSets * kBlocks))
    draw_blocks<kSets>(words + 4 * done, block, keys);
  for (; done + kBlocks <= blocks; done += kBlocks, block += (uint64_t)kBlocks)
    draw_blocks<1>(words + 4 * done, block, keys);
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
BACKPLANE_DRAW(normal, f64, double, two_words(words, i))

// The lower 31 bits of the last word that the formula of the centre is for; the lowest of t is always set.
constexpr int32_t kLastOfCentre = 1825361215;
static_assert((float)kLastOfCentre * BP_NORMAL_UNIT <= BP_NORMAL_CENTRE);
static_assert((float)(kLastOfCentre + 2) * BP_NORMAL_UNIT > BP_NORMAL_CENTRE);

constexpr int64_t kTails = 1024;
// A register's worth of words follow the last tail, so that whole registers can be made of them.
constexpr int64_t kTailRegister = 16;

#if defined(__AVX512F__)
// The words of the tails among up to kTails, put together; and where their values go, which replace them.
class Tails {
 public:
  BACKPLANE_INLINE int64_t find(const uint32_t* words, int64_t n) {
    int64_t found = 0;
    for (int64_t i = 0; i < n; i += kTailRegister) {
      const __m512i word = _mm512_maskz_loadu_epi32(lanes(n - i), words + i);
      const __m512i last = _mm512_set1_epi32(kLastOfCentre);
      const __mmask16 mask =
          _mm512_cmpgt_epi32_mask(_mm512_and_si512(word, _mm512_set1_epi32(0x7fffffff)), last);
      store(tails + found, _mm512_maskz_compress_epi32(mask, word));
      found += __builtin_popcount(mask);
      masks_[i / kTailRegister] = mask;
    }
    for (int64_t k = 0; k < kTailRegister; ++k) tails[found + k] = 0x7fffffff;
    return found;
  }
  BACKPLANE_INLINE void put(float* to, int64_t n) const {
    const uint32_t* next = tails;
    for (int64_t i = 0; i < n; i += kTailRegister) {
      const __mmask16 mask = masks_[i / kTailRegister];
      _mm512_mask_storeu_epi32(to + i, mask, _mm512_maskz_expand_epi32(mask, load<__m512i>(next)));
      next += __builtin_popcount(mask);
    }
  }
  uint32_t tails[kTails + 2 * kTailRegister];

 private:
  static BACKPLANE_INLINE __mmask16 lanes(int64_t left) {
    return left < kTailRegister ? (__mmask16)((1u << left) - 1) : (__mmask16)0xffff;
  }
  __mmask16 masks_[kTails / kTailRegister];
};
#else
// Bit i is set if word i of 64 is of the tails.
BACKPLANE_INLINE uint64_t tails_of_64(const uint32_t* words) {
  uint64_t tails = 0;
  for (int64_t i = 0; i < 64; i += kLanes<int32_t>) {
    const Vector<int32_t> word = load<Vector<int32_t>>(words + i) & 0x7fffffff;
#if defined(__AVX2__)
    const uint32_t mask = (uint32_t)_mm256_movemask_ps((__m256)(word > kLastOfCentre));
#elif defined(__x86_64__)
    const uint32_t mask = (uint32_t)_mm_movemask_ps((__m128)(word > kLastOfCentre));
#else
    uint32_t mask = 0;
    for (int lane = 0; lane < kLanes<int32_t>; ++lane) mask |= (uint32_t)(word[lane] > kLastOfCentre) << lane;
#endif
    tails |= (uint64_t)mask << i;
  }
  return tails;
}

// The words of the tails among up to kTails, put together; and where their values go, which replace them.
class Tails {
 public:
  BACKPLANE_INLINE int64_t find(const uint32_t* words, int64_t n) {
    int64_t i = 0;
    found_ = 0;
    for (; i + 64 <= n; i += 64) {
      for (uint64_t left = tails_of_64(words + i); left != 0; left &= left - 1) {
        const int64_t place = i + __builtin_ctzll(left);
        tails[found_] = words[place];
        places_[found_++] = (uint16_t)place;
      }
    }
    for (; i < n; ++i) {
      if ((int32_t)(words[i] & 0x7fffffffu) <= kLastOfCentre) continue;
      tails[found_] = words[i];
      places_[found_++] = (uint16_t)i;
    }
    for (int64_t k = 0; k < kTailRegister; ++k) tails[found_ + k] = 0x7fffffff;
    return found_;
  }
  BACKPLANE_INLINE void put(float* to, int64_t) const {
    for (int64_t i = 0; i < found_; ++i) to[places_[i]] = bp_from_bits_f32((int32_t)tails[i]);
  }
  uint32_t tails[kTails + kTailRegister];

 private:
  uint16_t places_[kTails];
  int64_t found_ = 0;
};
#endif

// The formula of the centre for all, then that of the tails, twice as long, for the seventh part that it is
// for.
template <float (*kNearest)(float)>
void normal(void* out, const uint32_t* words, const void* first, const void* second, int64_t n) {
  float mean, deviation;
  Tails found;
  __builtin_memcpy(&mean, first, sizeof mean);
  __builtin_memcpy(&deviation, second, sizeof deviation);
  for (float* to = static_cast<float*>(out); n > 0; n -= kTails, to += kTails, words += kTails) {
    const int64_t part = n < kTails ? n : kTails;
    BACKPLANE_SAME_INDEX_ONLY
    for (int64_t i = 0; i < part; ++i) to[i] = kNearest(mean + deviation * bp_normal_centre_f32(words[i]));
    const int64_t count = found.find(words, part);
    const int64_t whole = (count + kTailRegister - 1) / kTailRegister * kTailRegister;
    for (int64_t i = 0; i < whole; ++i) {
      const float z = bp_normal_tail_f32(found.tails[i]);
      found.tails[i] = (uint32_t)bp_bits_f32(kNearest(mean + deviation * z));
    }
    found.put(to, part);
  }
}
BACKPLANE_INLINE float nearest_f32(float value) { return value; }

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
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, normal<bp_nearest_f16>,
     normal<bp_nearest_bf16>, normal<nearest_f32>, normal_f64},
    {nullptr, integers_i8, integers_i16, integers_i32, integers_i64, integers_u8, integers_u16, integers_u32,
     integers_u64, nullptr, nullptr, nullptr, nullptr}};

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
