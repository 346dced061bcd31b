// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace backplane::conformance {
namespace {

struct TypeRow {
  const char* name;
  bool floating;
  bool is_signed;
  int digits;        // floating: bits of significand
  int min_exponent;  // floating: of the smallest normal number
  double largest;    // floating
};

constexpr TypeRow kRows[plugin::kDTypeCount] = {
    {"bool", false, false, 0, 0, 0},
    {"int8", false, true, 0, 0, 0},
    {"int16", false, true, 0, 0, 0},
    {"int32", false, true, 0, 0, 0},
    {"int64", false, true, 0, 0, 0},
    {"uint8", false, false, 0, 0, 0},
    {"uint16", false, false, 0, 0, 0},
    {"uint32", false, false, 0, 0, 0},
    {"uint64", false, false, 0, 0, 0},
    {"float16", true, true, 11, -14, 65504.0},
    {"bfloat16", true, true, 8, -126, 0x1.fep127},
    {"float32", true, true, 24, -126, 0x1.fffffep127},
    {"float64", true, true, 53, -1022, std::numeric_limits<double>::max()},
};

const TypeRow& row(DType type) { return kRows[static_cast<size_t>(type)]; }

// Sign, exponent and fraction of IEEE formats of 16 bits.
uint16_t encode16(DType type, double value) {
  const int fraction_bits = row(type).digits - 1;
  const int exponent_bits = 15 - fraction_bits;
  const uint32_t exponent_mask = (1u << exponent_bits) - 1;
  const uint32_t sign = std::signbit(value) ? 0x8000u : 0u;
  if (std::isnan(value))
    return static_cast<uint16_t>(sign | exponent_mask << fraction_bits | 1u << (fraction_bits - 1));
  const double rounded = std::fabs(round_to(type, value));
  if (std::isinf(rounded)) return static_cast<uint16_t>(sign | exponent_mask << fraction_bits);
  const int min_exponent = row(type).min_exponent;
  if (rounded < std::ldexp(1.0, min_exponent)) {
    return static_cast<uint16_t>(sign |
                                 static_cast<uint32_t>(std::ldexp(rounded, fraction_bits - min_exponent)));
  }
  const int exponent = std::ilogb(rounded);
  const auto fraction =
      static_cast<uint32_t>(std::ldexp(rounded, fraction_bits - exponent)) - (1u << fraction_bits);
  return static_cast<uint16_t>(sign | static_cast<uint32_t>(exponent - min_exponent + 1) << fraction_bits |
                               fraction);
}

double decode16(DType type, uint16_t bits) {
  const int fraction_bits = row(type).digits - 1;
  const int exponent_bits = 15 - fraction_bits;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int min_exponent = row(type).min_exponent;
  double value;
  if (exponent == (1 << exponent_bits) - 1) {
    value =
        fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, min_exponent - fraction_bits);
  } else {
    value = std::ldexp(fraction + (1 << fraction_bits), exponent - 1 + min_exponent - fraction_bits);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

}  // namespace

std::string name_of(DType type) { return row(type).name; }
bool is_floating(DType type) { return row(type).floating; }
bool is_signed(DType type) { return row(type).is_signed; }
int digits_of(DType type) { return row(type).digits; }

double round_to(DType type, double value) {
  const TypeRow& format = row(type);
  if (!format.floating || type == DType::Float64 || value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  const int shift = format.digits - 1 - exponent;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, shift)), -shift);
  return std::fabs(rounded) > format.largest ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                             : rounded;
}

Values::Values(DType type, int64_t count)
    : type_(type), count_(count), bytes_(static_cast<size_t>(count) * plugin::size_of(type)) {}

double Values::get(int64_t index) const {
  const uint8_t* const at = bytes_.data() + static_cast<size_t>(index) * plugin::size_of(type_);
  uint16_t half;
  float single;
  double wide;
  switch (type_) {
    case DType::Float16:
    case DType::BFloat16:
      std::memcpy(&half, at, 2);
      return decode16(type_, half);
    case DType::Float32:
      std::memcpy(&single, at, 4);
      return static_cast<double>(single);
    case DType::Float64:
      std::memcpy(&wide, at, 8);
      return wide;
    case DType::UInt64:
      return static_cast<double>(static_cast<uint64_t>(get_integer(index)));
    default:
      return static_cast<double>(get_integer(index));
  }
}

void Values::set(int64_t index, double value) {
  uint8_t* const at = bytes_.data() + static_cast<size_t>(index) * plugin::size_of(type_);
  if (type_ == DType::Float16 || type_ == DType::BFloat16) {
    const uint16_t half = encode16(type_, value);
    std::memcpy(at, &half, 2);
  } else if (type_ == DType::Float32) {
    const float single = static_cast<float>(value);
    std::memcpy(at, &single, 4);
  } else if (type_ == DType::Float64) {
    std::memcpy(at, &value, 8);
  } else {
    set_integer(index, value >= 0x1p63 ? static_cast<int64_t>(static_cast<uint64_t>(value))
                                       : static_cast<int64_t>(value));
  }
}

int64_t Values::get_integer(int64_t index) const {
  const size_t size = plugin::size_of(type_);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes_.data() + static_cast<size_t>(index) * size, size);
  const int unused = 64 - static_cast<int>(size) * 8;
  return is_signed(type_) ? static_cast<int64_t>(bits << unused) >> unused : static_cast<int64_t>(bits);
}

void Values::set_integer(int64_t index, int64_t value) {
  const size_t size = plugin::size_of(type_);
  std::memcpy(bytes_.data() + static_cast<size_t>(index) * size, &value, size);
}

uint64_t Numbers::bits() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

double Numbers::uniform(double low, double high) {
  return low + (high - low) * static_cast<double>(bits() >> 40) * 0x1p-24;
}

int64_t Numbers::integer(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(bits() % (static_cast<uint64_t>(high - low) + 1));
}

Values some_values(DType type, int64_t count, uint64_t seed) {
  Numbers numbers(seed);
  Values values(type, count);
  for (int64_t i = 0; i < count; ++i) {
    if (type == DType::Bool) {
      values.set_integer(i, numbers.integer(0, 1));
    } else if (is_floating(type)) {
      values.set(i, static_cast<double>(numbers.integer(-64, 64)) * 0.25);
    } else {
      values.set_integer(i, numbers.integer(is_signed(type) ? -100 : 0, 100));
    }
  }
  return values;
}

double ulp_distance(DType type, double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
  const int exponent = std::max(std::ilogb(std::max(std::fabs(a), std::fabs(b))), row(type).min_exponent);
  return std::ldexp(std::fabs(a - b), row(type).digits - 1 - exponent);
}

}  // namespace backplane::conformance
