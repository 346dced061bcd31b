// SPDX-License-Identifier: Apache-2.0
#include "backplane/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "backplane/error.h"

namespace backplane {
namespace {

constexpr DType kTypes[] = {boolean, int8,   int16,   int32,    int64,   uint8,  uint16,
                            uint32,  uint64, float16, bfloat16, float32, float64};

// Source: the tables of the array API standard 2023.12, "Type Promotion Rules", row by row; mixed kinds and
// bfloat16, which it leaves open, by NumPy 2 and ml_dtypes, and an integer with a float by this project's
// rule. Columns: b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8.
constexpr const char* kPromotion[] = {
    "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8",  // b1
    "i1 i1 i2 i4 i8 i2 i4 i8 f8 f2 bf f4 f8",  // i1
    "i2 i2 i2 i4 i8 i2 i4 i8 f8 f2 bf f4 f8",  // i2
    "i4 i4 i4 i4 i8 i4 i4 i8 f8 f2 bf f4 f8",  // i4
    "i8 i8 i8 i8 i8 i8 i8 i8 f8 f2 bf f4 f8",  // i8
    "u1 i2 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8",  // u1
    "u2 i4 i4 i4 i8 u2 u2 u4 u8 f2 bf f4 f8",  // u2
    "u4 i8 i8 i8 i8 u4 u4 u4 u8 f2 bf f4 f8",  // u4
    "u8 f8 f8 f8 f8 u8 u8 u8 u8 f2 bf f4 f8",  // u8
    "f2 f2 f2 f2 f2 f2 f2 f2 f2 f2 f4 f4 f8",  // f2
    "bf bf bf bf bf bf bf bf bf f4 bf f4 f8",  // bf
    "f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f8",  // f4
    "f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8",  // f8
};

TEST(DType, PromotesAsTheStandardsTablesSay) {
  const std::string columns = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8";
  for (size_t a = 0; a < std::size(kTypes); ++a) {
    for (size_t b = 0; b < std::size(kTypes); ++b) {
      const size_t expected = columns.find(std::string(kPromotion[a]).substr(3 * b, 2)) / 3;
      EXPECT_EQ(promote_types(kTypes[a], kTypes[b]), kTypes[expected])
          << to_string(kTypes[a]) << " with " << to_string(kTypes[b]);
    }
  }
}

TEST(DType, IsFoundByItsName) {
  EXPECT_STREQ(to_string(boolean), "bool");
  EXPECT_STREQ(to_string(uint32), "uint32");
  EXPECT_STREQ(to_string(bfloat16), "bfloat16");
  for (const DType type : kTypes) EXPECT_EQ(dtype_from_string(to_string(type)), type);
  for (const char* name : {"", "float", "Float32", "int32 ", "unknown"})
    EXPECT_EQ(dtype_from_string(name), std::nullopt) << name;
  EXPECT_STREQ(to_string(static_cast<DType>(13)), "unknown");
}

TEST(DType, OfCppTypesIsByKindAndWidth) {
  EXPECT_EQ(dtype_of<bool>(), boolean);
  EXPECT_EQ(dtype_of<signed char>(), int8);
  EXPECT_EQ(dtype_of<unsigned short>(), uint16);
  EXPECT_EQ(dtype_of<int>(), int32);
  EXPECT_EQ(dtype_of<long>(), int64);
  EXPECT_EQ(dtype_of<unsigned long long>(), uint64);
  EXPECT_EQ(dtype_of<Half>(), float16);
  EXPECT_EQ(dtype_of<BFloat16>(), bfloat16);
}

// What the bits mean, by IEEE 754: sign, 5 bits of exponent biased by 15, 10 of mantissa.
double meaning(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double magnitude = exponent == 31  ? (mantissa == 0 ? INFINITY : NAN)
                           : exponent == 0 ? std::ldexp(mantissa, -24)
                                           : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Half, EveryPatternMeansWhatIeee754Says) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = to_float(Half{static_cast<uint16_t>(bits)});
    const double expected = meaning(static_cast<uint16_t>(bits));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_TRUE(std::isnan(to_float(to_half(value)))) << bits;
      continue;
    }
    EXPECT_EQ(value, expected) << bits;
    EXPECT_EQ(std::signbit(value), std::signbit(expected)) << bits;
    EXPECT_EQ(to_half(value).bits, bits);
  }
}

TEST(Half, RoundsToNearestTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const auto low = static_cast<uint16_t>(bits), high = static_cast<uint16_t>(bits + 1);
    const auto middle = static_cast<float>((meaning(low) + meaning(high)) / 2);
    EXPECT_EQ(to_half(middle).bits, bits % 2 == 0 ? low : high);
    EXPECT_EQ(to_half(std::nextafter(middle, 0.0f)).bits, low);
    EXPECT_EQ(to_half(std::nextafter(middle, INFINITY)).bits, high);
    EXPECT_EQ(to_half(-middle).bits, 0x8000 | (bits % 2 == 0 ? low : high));
  }
}

TEST(Half, OverflowsToInfinityHalfwayPastTheLargest) {
  EXPECT_EQ(to_half(65504.0f).bits, 0x7bff);
  EXPECT_EQ(to_half(std::nextafter(65520.0f, 0.0f)).bits, 0x7bff);
  EXPECT_EQ(to_half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(to_half(std::numeric_limits<float>::max()).bits, 0x7c00);
  EXPECT_EQ(to_half(-INFINITY).bits, 0xfc00);
  EXPECT_EQ(to_half(std::numeric_limits<float>::denorm_min()).bits, 0);
}

float from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Field report N9.
TEST(BFloat16, RoundsToNearestTiesToEvenAndKeepsNaN) {
  EXPECT_EQ(to_bfloat16(from_bits(0x3F808000)).bits, 0x3F80);
  EXPECT_EQ(to_bfloat16(from_bits(0x3F818000)).bits, 0x3F82);
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(from_bits(0x7F800001)))));
  EXPECT_EQ(to_bfloat16(from_bits(0x7F7FFFFF)).bits, 0x7F80);
  EXPECT_EQ(to_bfloat16(from_bits(0xFF800000)).bits, 0xFF80);
  EXPECT_EQ(to_float(BFloat16{0x4049}), 3.140625f);
}

TEST(Error, CarriesItsCodeAndMessage) {
  const Error error(ErrorCode::OutOfMemory, "no room", 7);
  EXPECT_EQ(error.code(), ErrorCode::OutOfMemory);
  EXPECT_STREQ(error.what(), "no room");
  EXPECT_EQ(error.vendor_code(), 7);
  EXPECT_STREQ(to_string(ErrorCode::DeviceLost), "DeviceLost");
  EXPECT_STREQ(to_string(static_cast<ErrorCode>(99)), "Internal") << "a code of the future";
  EXPECT_STREQ(to_string(static_cast<ErrorCode>(-1)), "Internal");
}

}  // namespace
}  // namespace backplane
