// SPDX-License-Identifier: Apache-2.0
// The random loops of each instruction set: against published vectors, against the formulas one element at a
// time, and against the normal distribution.
#include <gtest/gtest.h>

#include "backplane/kernels/random.h"
#include "cpu/vector_random.h"
#include "test_values.h"

namespace backplane::cpu_vector_test {
namespace {

class EveryIsa : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_TRUE(cpu::select_isa(GetParam().c_str())); }
};
INSTANTIATE_TEST_SUITE_P(Random, EveryIsa, testing::ValuesIn(isa_names()),
                         [](const auto& info) { return info.param; });

// The first line of kat_vectors of Random123, the authors' own library.
TEST_P(EveryIsa, DrawsThePublishedNumbers) {
  uint32_t words[4];
  cpu::active_random_loops().draw(words, 0, 0, 1);
  EXPECT_EQ(words[0], 0x6627e8d5u);
  EXPECT_EQ(words[1], 0xe169c58du);
  EXPECT_EQ(words[2], 0xbc57ac4cu);
  EXPECT_EQ(words[3], 0x9b00dbd8u);
}

TEST_P(EveryIsa, DrawsTheSameBlocksHoweverManyAreAskedFor) {
  for (const uint64_t first : {uint64_t{0}, uint64_t{0xfffffffd}, ~uint64_t{0} - 5}) {
    for (int64_t blocks = 0; blocks < 40; ++blocks) {
      std::vector<uint32_t> words(static_cast<size_t>(blocks) * 4 + 1, 0xabababab);
      cpu::active_random_loops().draw(words.data(), 0x123456789abcdef, first, blocks);
      for (int64_t b = 0; b < blocks; ++b) {
        const bp_philox_block want = bp_philox(first + static_cast<uint64_t>(b), 0x123456789abcdef);
        for (size_t k = 0; k < 4; ++k) ASSERT_EQ(words[static_cast<size_t>(b) * 4 + k], want.word[k]);
      }
      ASSERT_EQ(words.back(), 0xabababab);
    }
  }
}

TEST_P(EveryIsa, GivesTheBitsOfTheFormulas) {
  constexpr int64_t n = 100003;
  std::vector<uint32_t> words(2 * n + 2);
  cpu::active_random_loops().draw(words.data(), 42, 0, (2 * n + 3) / 4);
  std::vector<float> out(n);
  std::vector<double> wide(n);
  const float low = -1.5f, high = 2.25f, mean = 3, deviation = 0.5f;
  const double wide_low = -1.5, wide_high = 2.25, wide_mean = 3, wide_deviation = 0.5;
  const cpu::RandomTable& table = cpu::active_random_loops();
  table.uniform[static_cast<int>(DType::Float32)](out.data(), words.data(), &low, &high, n);
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], bp_uniform_f32(words[i], low, high));
  table.uniform[static_cast<int>(DType::Float16)](out.data(), words.data(), &low, &high, n);
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], bp_uniform_f16(words[i], low, high));
  table.normal[static_cast<int>(DType::Float32)](out.data(), words.data(), &mean, &deviation, n);
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], bp_normal_f32(words[i], mean, deviation));
  table.normal[static_cast<int>(DType::BFloat16)](out.data(), words.data(), &mean, &deviation, n);
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], bp_normal_bf16(words[i], mean, deviation));
  const auto bits = [&](size_t i) { return uint64_t{words[2 * i + 1]} << 32 | words[2 * i]; };
  table.uniform[static_cast<int>(DType::Float64)](wide.data(), words.data(), &wide_low, &wide_high, n);
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(wide[i], bp_uniform_f64(bits(i), wide_low, wide_high));
  table.normal[static_cast<int>(DType::Float64)](wide.data(), words.data(), &wide_mean, &wide_deviation, n);
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(wide[i], bp_normal_f64(bits(i), wide_mean, wide_deviation));
  std::vector<int16_t> whole(n);
  table.integers[static_cast<int>(DType::Int16)](whole.data(), words.data(), static_cast<uint64_t>(-7), 20,
                                                 n);
  for (size_t i = 0; i < n; ++i) {
    ASSERT_GE(whole[i], -7);
    ASSERT_LT(whole[i], 13);
  }
}

// The distribution function, by the C library.
double below(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

TEST(Normal, IsTheInverseOfTheDistributionFunction) {
  for (uint64_t i = 0; i < 200000; ++i) {
    const uint64_t bits = bp_random_two_words(7, 0, i);
    const double t = static_cast<double>(((bits >> 10) & 0x1fffffffffffff) | 1);
    const double q = std::ldexp(t, -54);
    const double p = 0.5 - q;  // the lesser tail, which the negative of |z| has below it
    const double z = bp_standard_normal_f64(bits);
    EXPECT_EQ(std::signbit(z), bits >> 63 != 0);
    EXPECT_NEAR(below(-std::abs(z)) / p, 1, 2e-14) << z;

    const uint32_t word = static_cast<uint32_t>(bits);
    const double narrow_p = 0.5 - std::ldexp(static_cast<double>((word & 0x7fffffff) | 1), -32);
    const float narrow = bp_standard_normal_f32(word);
    EXPECT_NEAR(below(-std::abs(static_cast<double>(narrow))) / narrow_p, 1, 6e-6) << narrow;
  }
}

TEST(Normal, OfTheSmallestAndGreatestBitsIsFinite) {
  for (const uint32_t word : {0u, 1u, 0x7fffffffu, 0x80000000u, 0x80000001u, 0xffffffffu, 0x7ffffffeu}) {
    EXPECT_LT(std::abs(bp_standard_normal_f32(word)), 6.3f) << word;
    for (const uint32_t other : {0u, 0xffffffffu}) {
      EXPECT_LT(std::abs(bp_standard_normal_f64(uint64_t{word} << 32 | other)), 8.3) << word;
    }
  }
  // Phi^-1(2^-32) and Phi^-1(2^-54), from a bisection of erfc.
  EXPECT_NEAR(bp_standard_normal_f32(0x7fffffff), 6.23026014, 2e-6);
  EXPECT_NEAR(bp_standard_normal_f64(0x7fffffffffffffff), 8.2923610758, 1e-9);
}

TEST(Uniform, NeverReachesItsUpperEnd) {
  EXPECT_EQ(bp_uniform_f32(0xffffffff, 0, 1), 1 - std::ldexp(1.0f, -24));
  EXPECT_EQ(bp_uniform_f64(~uint64_t{0}, 0, 1), 1 - std::ldexp(1.0, -53));
  EXPECT_EQ(bp_uniform_f16(0xffffffff, 0, 1), 1 - std::ldexp(1.0f, -11));
  EXPECT_EQ(bp_uniform_bf16(0xffffffff, 0, 1), 1 - std::ldexp(1.0f, -8));
  EXPECT_EQ(bp_uniform_f32(0xffffffff, 1e8f, 1e8f + 8), 1e8f);
  EXPECT_EQ(bp_uniform_f16(0xffffffff, 1000, 1001), 1000.5f);
  EXPECT_EQ(bp_uniform_f32(0xffffffff, 3, 3), 3);
}

TEST(Integers, OfEveryCountCoverTheirRangeEvenly) {
  EXPECT_EQ(bp_random_integer(0, 5, 10), 5u);
  EXPECT_EQ(bp_random_integer(~uint64_t{0}, 5, 10), 14u);
  EXPECT_EQ(bp_random_integer(0x123456789, 5, 0), 0x12345678eu);
  int counts[6] = {};
  for (uint64_t i = 0; i < 60000; ++i) ++counts[bp_random_integer(bp_random_two_words(1, 0, i), 0, 6)];
  // Chi-squared with 5 degrees of freedom is below 20.5 with probability 0.999.
  double chi = 0;
  for (const int count : counts) chi += (count - 10000.0) * (count - 10000.0) / 10000.0;
  EXPECT_LT(chi, 20.5);
}

}  // namespace
}  // namespace backplane::cpu_vector_test
