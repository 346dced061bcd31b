// SPDX-License-Identifier: Apache-2.0
// The rules of docs/operators.md on the shared formulas, with values that follow from the rules, from the
// array API standard, or from exact arithmetic.
#include "backplane/kernels/scalar.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax = std::numeric_limits<int32_t>::max();

// Equal values with equal signs, or both NaN.
void expect_same(double got, double want) {
  if (want != want) {
    EXPECT_TRUE(got != got) << got;
  } else {
    EXPECT_EQ(got, want);
    EXPECT_EQ(std::signbit(got), std::signbit(want)) << got << " against " << want;
  }
}

TEST(Integers, WrapAround) {
  EXPECT_EQ(bp_add_i32(kMax, 1), kMin);
  EXPECT_EQ(bp_subtract_i8(-128, 1), 127);
  EXPECT_EQ(bp_multiply_u16(65535, 65535), 1);
  EXPECT_EQ(bp_multiply_i64(std::numeric_limits<int64_t>::min(), -1), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(bp_negative_u8(1), 255);
  EXPECT_EQ(bp_negative_i32(kMin), kMin);
  EXPECT_EQ(bp_abs_i32(kMin), kMin);
  EXPECT_EQ(bp_abs_i16(-7), 7);
  EXPECT_EQ(bp_square_i16(300), static_cast<int16_t>(90000 - 65536));
  EXPECT_EQ(bp_sign_i64(-5), -1);
  EXPECT_EQ(bp_sign_u32(5), 1u);
}

TEST(Integers, DivideDownwardAndNeverTrap) {
  const int cases[][4] = {
      {7, 2, 3, 1},        {-7, 2, -4, 1},          {7, -2, -4, -1},        {-7, -2, 3, -1},
      {6, 3, 2, 0},        {-6, 3, -2, 0},          {7, 0, 0, 0},           {0, 5, 0, 0},
      {kMin, -1, kMin, 0}, {kMin, 1, kMin, 0},      {kMin, 2, kMin / 2, 0}, {kMax, -1, -kMax, 0},
      {kMin, 0, 0, 0},     {-1, kMax, -1, kMax - 1}};
  for (const auto& [a, b, quotient, rest] : cases) {
    EXPECT_EQ(bp_floor_divide_i32(a, b), quotient) << a << " " << b;
    EXPECT_EQ(bp_remainder_i32(a, b), rest) << a << " " << b;
  }
  EXPECT_EQ(bp_floor_divide_i8(-128, -1), -128);
  EXPECT_EQ(bp_floor_divide_u8(200, 0), 0);
  EXPECT_EQ(bp_remainder_u64(~uint64_t{0}, 10), 5u);
}

TEST(Integers, ShiftOutEverythingWhenTheCountIsTooGreatOrNegative) {
  EXPECT_EQ(bp_bitwise_left_shift_i32(1, 31), kMin);
  EXPECT_EQ(bp_bitwise_left_shift_i32(1, 32), 0);
  EXPECT_EQ(bp_bitwise_left_shift_i32(1, -1), 0);
  EXPECT_EQ(bp_bitwise_left_shift_u8(255, 1), 254);
  EXPECT_EQ(bp_bitwise_left_shift_i64(1, 64), 0);
  EXPECT_EQ(bp_bitwise_right_shift_i32(-8, 1), -4);
  EXPECT_EQ(bp_bitwise_right_shift_i32(-8, 32), -1);
  EXPECT_EQ(bp_bitwise_right_shift_i32(-8, -1), -1);
  EXPECT_EQ(bp_bitwise_right_shift_i32(8, 40), 0);
  EXPECT_EQ(bp_bitwise_right_shift_u32(0x80000000u, 31), 1u);
  EXPECT_EQ(bp_bitwise_right_shift_u8(255, 8), 0);
  EXPECT_EQ(bp_bitwise_left_shift_bool(1, 1), 0);
  EXPECT_EQ(bp_bitwise_left_shift_bool(1, 0), 1);
  EXPECT_EQ(bp_bitwise_invert_bool(1), 0);
  EXPECT_EQ(bp_bitwise_invert_i8(5), -6);
}

TEST(Integers, HavePowersModuloTheirRange) {
  EXPECT_EQ(bp_pow_i32(3, 4), 81);
  EXPECT_EQ(bp_pow_i32(-3, 3), -27);
  EXPECT_EQ(bp_pow_i32(0, 0), 1);
  EXPECT_EQ(bp_pow_i32(2, 31), kMin);
  EXPECT_EQ(bp_pow_i32(2, 32), 0);
  EXPECT_EQ(bp_pow_u8(3, 6), static_cast<uint8_t>(729 % 256));
  EXPECT_EQ(bp_pow_i64(2, -1), 0);
  EXPECT_EQ(bp_pow_i64(0, -1), 0);
  EXPECT_EQ(bp_pow_i64(1, -5), 1);
  EXPECT_EQ(bp_pow_i64(-1, -5), -1);
  EXPECT_EQ(bp_pow_i64(-1, -4), 1);
}

TEST(Floats, PropagateNanThroughMaximumAndMinimumAndOrderZeros) {
  for (const float x : {-kInf, -1.0f, 0.0f, 2.0f, kInf, kNan}) {
    expect_same(bp_maximum_f32(x, kNan), kNan);
    expect_same(bp_maximum_f32(kNan, x), kNan);
    expect_same(bp_minimum_f32(x, kNan), kNan);
    expect_same(bp_minimum_f32(kNan, x), kNan);
    expect_same(bp_clip_f32(kNan, -1, 1), kNan);
  }
  expect_same(bp_maximum_f32(0.0f, -0.0f), 0.0);
  expect_same(bp_maximum_f32(-0.0f, 0.0f), 0.0);
  expect_same(bp_maximum_f32(-0.0f, -0.0f), -0.0);
  expect_same(bp_minimum_f32(0.0f, -0.0f), -0.0);
  expect_same(bp_minimum_f32(-0.0f, 0.0f), -0.0);
  expect_same(bp_minimum_f64(0.0, 0.0), 0.0);
  expect_same(bp_clip_f32(5, -1, 1), 1);
  expect_same(bp_clip_f32(0, 3, 1), 1);
  expect_same(bp_relu_f32(kNan), kNan);
  expect_same(bp_relu_f32(-3), 0.0);
  expect_same(bp_relu_f32(-0.0f), 0.0);
  EXPECT_EQ(bp_relu_i8(-3), 0);
}

// The results of Python's // and %.
TEST(Floats, DivideAsPythonDoes) {
  const float cases[][4] = {
      {7, 2, 3, 1},          {-7, 2, -4, 1},        {7, -2, -4, -1},       {-7, -2, 3, -1},
      {6, 3, 2, 0},          {-6, 3, -2, 0.0f},     {6, -3, -2, -0.0f},    {0, 3, 0, 0},
      {-0.0f, 3, -0.0f, 0},  {0, -3, -0.0f, -0.0f}, {5, kInf, 0, 5},       {-5, kInf, -1, kInf},
      {5, -kInf, -1, -kInf}, {-5, -kInf, 0, -5},    {kInf, 2, kNan, kNan}, {kNan, 2, kNan, kNan},
      {2, kNan, kNan, kNan}, {1, 0, kInf, kNan},    {-1, 0, -kInf, kNan},  {1, -0.0f, -kInf, kNan},
      {0, 0, kNan, kNan},    {0.5f, 1, 0, 0.5f},    {-0.5f, 1, -1, 0.5f}};
  for (const auto& [a, b, quotient, rest] : cases) {
    SCOPED_TRACE(testing::Message() << a << " by " << b);
    expect_same(bp_floor_divide_f32(a, b), quotient);
    expect_same(bp_remainder_f32(a, b), rest);
    expect_same(bp_floor_divide_f64(a, b), quotient);
    expect_same(bp_remainder_f64(a, b), rest);
  }
  // 1 // 0.1 is 9, since the float64 nearest 0.1 is above it.
  expect_same(bp_floor_divide_f64(1.0, 0.1), 9);
}

TEST(Floats, RoundHalvesToEven) {
  const float cases[][2] = {{0.5f, 0},
                            {1.5f, 2},
                            {2.5f, 2},
                            {-0.5f, -0.0f},
                            {-1.5f, -2},
                            {-2.5f, -2},
                            {0.49999997f, 0},
                            {8388607.5f, 8388608},
                            {4194304.5f, 4194304},
                            {kInf, kInf},
                            {-0.0f, -0.0f},
                            {kNan, kNan}};
  for (const auto& [x, want] : cases) expect_same(bp_round_f32(x), want);
  expect_same(bp_floor_f32(-0.5f), -1);
  expect_same(bp_ceil_f32(-0.5f), -0.0);
  expect_same(bp_trunc_f32(-1.7f), -1);
  expect_same(bp_trunc_f32(-0.7f), -0.0);
  EXPECT_EQ(bp_round_i32(7), 7);
}

TEST(Floats, HaveTheSignOfTheirValue) {
  expect_same(bp_sign_f32(-3), -1);
  expect_same(bp_sign_f32(0.0f), 0.0);
  expect_same(bp_sign_f32(-0.0f), 0.0);
  expect_same(bp_sign_f32(kNan), kNan);
  EXPECT_EQ(bp_signbit_f32(-0.0f), 1);
  EXPECT_EQ(bp_signbit_f32(1), 0);
  EXPECT_EQ(bp_signbit_f64(-kNan), 1);
  expect_same(bp_copysign_f32(3, -0.0f), -3);
  expect_same(bp_negative_f32(0.0f), -0.0);
  expect_same(bp_abs_f32(-0.0f), 0.0);
  EXPECT_EQ(bp_isnan_f32(kNan), 1);
  EXPECT_EQ(bp_isnan_f32(kInf), 0);
  EXPECT_EQ(bp_isinf_f32(-kInf), 1);
  EXPECT_EQ(bp_isfinite_f32(std::numeric_limits<float>::denorm_min()), 1);
  EXPECT_EQ(bp_isfinite_f64(kInf), 0);
}

TEST(Floats, StepToTheNextNumberOfTheirType) {
  expect_same(bp_nextafter_f32(1, 2), 1 + std::ldexp(1.0, -23));
  expect_same(bp_nextafter_f32(1, 0), 1 - std::ldexp(1.0, -24));
  expect_same(bp_nextafter_f32(0, -1), -std::ldexp(1.0, -149));
  expect_same(bp_nextafter_f32(std::ldexp(1.0f, -149), 0), 0.0);
  expect_same(bp_nextafter_f32(-std::ldexp(1.0f, -149), 1), -0.0);
  expect_same(bp_nextafter_f32(0.0f, -0.0f), -0.0);
  expect_same(bp_nextafter_f32(3, kNan), kNan);
  expect_same(bp_nextafter_f32(std::numeric_limits<float>::max(), kInf), kInf);
  expect_same(bp_nextafter_f16(1, 2), 1 + std::ldexp(1.0, -10));
  expect_same(bp_nextafter_f16(0, 1), std::ldexp(1.0, -24));
  expect_same(bp_nextafter_f16(65504, kInf), kInf);
  expect_same(bp_nextafter_bf16(1, 2), 1 + std::ldexp(1.0, -7));
  expect_same(bp_nextafter_bf16(-1, -kInf), -1 - std::ldexp(1.0, -7));
}

TEST(Activations, AreRightFarFromZero) {
  for (const float x : {100.0f, 1000.0f, kInf}) {
    expect_same(bp_sigmoid_f32(x), 1);
    expect_same(bp_silu_f32(x), x);
    expect_same(bp_gelu_f32(x), x);
    expect_same(bp_gelu_tanh_f32(x), x);
    expect_same(bp_softplus_f32(x), x);
    expect_same(bp_softplus_f32(-x), x == 100 ? bp_softplus_f32(-100) : 0.0);
    EXPECT_EQ(bp_gelu_f32(-x), 0);
    EXPECT_EQ(bp_gelu_tanh_f32(-x), 0);
  }
  // e^-100 = 3.7200759760208360e-44, a denormal of float32 with a unit of 2^-149 = 1.4e-45.
  EXPECT_NEAR(bp_sigmoid_f32(-100), 3.7200759760208360e-44, 1.5e-45);
  EXPECT_NEAR(bp_softplus_f32(-100), 3.7200759760208360e-44, 1.5e-45);
  EXPECT_EQ(bp_silu_f32(-kInf), 0);
  EXPECT_EQ(bp_sigmoid_f32(-kInf), 0);
  for (const float x : {kNan}) {
    expect_same(bp_sigmoid_f32(x), kNan);
    expect_same(bp_silu_f32(x), kNan);
    expect_same(bp_gelu_f32(x), kNan);
    expect_same(bp_gelu_tanh_f32(x), kNan);
    expect_same(bp_softplus_f32(x), kNan);
    expect_same(bp_leaky_relu_f32(x, 0.01f), kNan);
  }
  expect_same(bp_leaky_relu_f32(-2, 0.5f), -1);
}

TEST(LogAddExp, NeitherOverflowsNorMakesNanOfInfinities) {
  expect_same(bp_logaddexp_f32(kInf, kInf), kInf);
  expect_same(bp_logaddexp_f32(-kInf, -kInf), -kInf);
  expect_same(bp_logaddexp_f32(-kInf, kInf), kInf);
  expect_same(bp_logaddexp_f32(-kInf, 3), 3);
  expect_same(bp_logaddexp_f32(kNan, 3), kNan);
  EXPECT_NEAR(bp_logaddexp_f32(1000, 1000), 1000.69314718, 1e-4);
  EXPECT_NEAR(bp_logaddexp_f64(-1000, -1001), -999.686738312, 1e-9);
}

TEST(Casts, OfFloatsToIntegersTruncateAndSaturate) {
  EXPECT_EQ(bp_cast_f32_i32(kNan), 0);
  EXPECT_EQ(bp_cast_f32_i32(kInf), kMax);
  EXPECT_EQ(bp_cast_f32_i32(-kInf), kMin);
  EXPECT_EQ(bp_cast_f32_i32(3e9f), kMax);
  EXPECT_EQ(bp_cast_f32_i32(-1.9f), -1);
  EXPECT_EQ(bp_cast_f32_i32(2147483520.0f), 2147483520);
  EXPECT_EQ(bp_cast_f32_u8(-3), 0);
  EXPECT_EQ(bp_cast_f32_u8(255.9f), 255);
  EXPECT_EQ(bp_cast_f32_u8(256), 255);
  EXPECT_EQ(bp_cast_f32_i8(-128.9f), -128);
  EXPECT_EQ(bp_cast_f32_u64(1.8446744e19f), ~uint64_t{0});
  EXPECT_EQ(bp_cast_f64_u64(18446744073709549568.0), 18446744073709549568u);
  EXPECT_EQ(bp_cast_f64_i64(9.3e18), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(bp_cast_f64_i64(-9.3e18), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(bp_cast_f64_i32(2147483647.9), kMax);
  EXPECT_EQ(bp_cast_f16_i8(300), 127);
  EXPECT_EQ(bp_cast_f32_bool(0.25f), 1);
  EXPECT_EQ(bp_cast_f32_bool(-0.0f), 0);
  EXPECT_EQ(bp_cast_f32_bool(kNan), 1);
}

TEST(Casts, OfIntegersWrapOrAskForZero) {
  EXPECT_EQ(bp_cast_i32_i8(300), 44);
  EXPECT_EQ(bp_cast_i64_u32(-1), ~uint32_t{0});
  EXPECT_EQ(bp_cast_i8_u64(-1), ~uint64_t{0});
  EXPECT_EQ(bp_cast_i32_bool(256), 1);
  EXPECT_EQ(bp_cast_bool_i16(1), 1);
}

TEST(Casts, RoundOnceToTheNearestEven) {
  // bfloat16 keeps 8 digits: 2^40 + 2^32 is a tie, which a float32 in between would make of what lies just
  // above it.
  const int64_t tie = (int64_t{1} << 40) + (int64_t{1} << 32);
  expect_same(bp_cast_i64_bf16(tie), std::ldexp(1.0, 40));
  expect_same(bp_cast_i64_bf16(tie + 1), std::ldexp(1.0, 40) + std::ldexp(1.0, 33));
  expect_same(bp_cast_i64_bf16(-tie - 1), -std::ldexp(1.0, 40) - std::ldexp(1.0, 33));
  expect_same(bp_cast_u64_bf16(~uint64_t{0}), std::ldexp(1.0, 64));
  expect_same(bp_cast_f64_bf16(1 + std::ldexp(1.0, -8)), 1);
  expect_same(bp_cast_f64_bf16(1 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40)), 1 + std::ldexp(1.0, -7));
  expect_same(bp_cast_f64_f16(1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40)), 1 + std::ldexp(1.0, -10));
  expect_same(bp_cast_f64_f16(65519.999), 65504);
  expect_same(bp_cast_f64_f16(65520), kInf);
  expect_same(bp_cast_f64_f16(std::ldexp(1.0, -25)), 0.0);
  expect_same(bp_cast_f64_f16(std::ldexp(1.0, -25) * 1.0000001), std::ldexp(1.0, -24));
  expect_same(bp_cast_i32_f16(2049), 2048);
  expect_same(bp_cast_i32_f16(2051), 2052);
  expect_same(bp_cast_i32_f16(70000), kInf);
  expect_same(bp_cast_i64_f32((int64_t{1} << 24) + 1), 16777216);
}

TEST(Bfloat16, RoundsFloat32AsFieldReportsDemand) {
  const auto store = [](uint32_t bits) { return bp_store_bf16(std::bit_cast<float>(bits)); };
  EXPECT_EQ(store(0x3F808000), 0x3F80);
  EXPECT_EQ(store(0x3F818000), 0x3F82);
  EXPECT_EQ(store(0x7F7FFFFF), 0x7F80);
  EXPECT_GT(store(0x7F800001) & 0x7fff, 0x7F80);
}

TEST(Float16, RoundsAsTheProcessorsOwnTypeDoes) {
#if defined(__FLT16_MANT_DIG__)
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 4093) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const _Float16 want = static_cast<_Float16>(value);
    ASSERT_EQ(bp_store_f16(value), std::bit_cast<uint16_t>(want)) << value;
  }
#else
  GTEST_SKIP() << "this compiler has no _Float16";
#endif
}

}  // namespace
