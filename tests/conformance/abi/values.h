// SPDX-License-Identifier: Apache-2.0
//
// Host values of any element type, with conversions written from the formats' definitions, not for speed.
#ifndef BACKPLANE_TESTS_CONFORMANCE_ABI_VALUES_H_
#define BACKPLANE_TESTS_CONFORMANCE_ABI_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backplane/plugin/types.h"

namespace backplane::conformance {

using plugin::DType;

inline constexpr DType kAllTypes[] = {DType::Bool,   DType::Int8,    DType::Int16,    DType::Int32,
                                      DType::Int64,  DType::UInt8,   DType::UInt16,   DType::UInt32,
                                      DType::UInt64, DType::Float16, DType::BFloat16, DType::Float32,
                                      DType::Float64};
inline constexpr DType kFloatTypes[] = {DType::Float16, DType::BFloat16, DType::Float32, DType::Float64};
inline constexpr DType kNumberTypes[] = {DType::Int8,    DType::Int16,    DType::Int32,   DType::Int64,
                                         DType::UInt8,   DType::UInt16,   DType::UInt32,  DType::UInt64,
                                         DType::Float16, DType::BFloat16, DType::Float32, DType::Float64};

std::string name_of(DType type);
bool is_floating(DType type);
bool is_signed(DType type);  // integers

// Bits of significand, the hidden one included: 11, 8, 24, 53.
int digits_of(DType type);

// `value` rounded to the type: floating to nearest even with denormals and infinities; integers wrap, from
// int64.
double round_to(DType type, double value);

class Values {
 public:
  Values(DType type, int64_t count);

  DType type() const { return type_; }
  int64_t count() const { return count_; }
  uint64_t byte_size() const { return bytes_.size(); }
  std::vector<uint8_t>& bytes() { return bytes_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

  // Exact for every type but 64-bit integers beyond 2^53, for which there are the integer forms.
  double get(int64_t index) const;
  void set(int64_t index, double value);
  // Bits of an integer or Bool, sign-extended.
  int64_t get_integer(int64_t index) const;
  void set_integer(int64_t index, int64_t value);

  bool operator==(const Values& other) const = default;

 private:
  DType type_;
  int64_t count_;
  std::vector<uint8_t> bytes_;
};

// Numbers that look random, the same in every run: splitmix64.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  uint64_t bits();
  // In [low, high), with 24 bits.
  double uniform(double low, double high);
  int64_t integer(int64_t low, int64_t high);  // in [low, high]

 private:
  uint64_t state_;
};

// Values that suit the type: small integers, halves and such, both signs where there are any; exact in every
// type.
Values some_values(DType type, int64_t count, uint64_t seed);

// 0 where both are equal or both NaN; else the distance in units of the last place of the larger, as a
// double.
double ulp_distance(DType type, double a, double b);

}  // namespace backplane::conformance

#endif  // BACKPLANE_TESTS_CONFORMANCE_ABI_VALUES_H_
