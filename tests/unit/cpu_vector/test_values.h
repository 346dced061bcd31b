// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_TESTS_CPU_VECTOR_TEST_VALUES_H_
#define BACKPLANE_TESTS_CPU_VECTOR_TEST_VALUES_H_

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "cpu/compiled_program.h"
#include "cpu/isa.h"

namespace backplane::cpu_vector_test {

using plugin::DType;

inline const std::vector<std::string>& isa_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"baseline", "avx2", "avx512"};
    all.resize(static_cast<size_t>(cpu::best_isa()) + 1);
    return all;
  }();
  return names;
}

inline bool is_float(DType type) { return type >= DType::Float16; }
inline size_t register_size(DType type) { return size_t{1} << cpu::register_log2(type); }

// A value in register form; its lower register_size() bytes count.
inline uint64_t special_value(DType type, size_t index) {
  if (type == DType::Bool) return index % 2;
  if (type == DType::Float64) {
    using Limits = std::numeric_limits<double>;
    const double values[] = {0.0,
                             1.0,
                             0.5,
                             2.0,
                             Limits::infinity(),
                             Limits::max(),
                             Limits::min(),
                             Limits::denorm_min(),
                             3.5,
                             2.5,
                             1e300,
                             4503599627370497.5,
                             710.0,
                             1e-300};
    const double value = values[index / 2 % std::size(values)];
    if (index % 29 == 28) return std::bit_cast<uint64_t>(Limits::quiet_NaN());
    return std::bit_cast<uint64_t>(index % 2 == 0 ? value : -value);
  }
  if (is_float(type)) {
    using Limits = std::numeric_limits<float>;
    const float values[] = {0.0f,
                            1.0f,
                            0.5f,
                            2.0f,
                            Limits::infinity(),
                            Limits::max(),
                            Limits::min(),
                            Limits::denorm_min(),
                            3.5f,
                            2.5f,
                            1e30f,
                            8388609.5f,
                            89.0f,
                            1e-38f};
    const float value = values[index / 2 % std::size(values)];
    if (index % 29 == 28) return std::bit_cast<uint32_t>(Limits::quiet_NaN());
    return std::bit_cast<uint32_t>(index % 2 == 0 ? value : -value);
  }
  const int bits = 8 << cpu::register_log2(type);
  const uint64_t top = uint64_t{1} << (bits - 1);
  const uint64_t values[] = {0,       1, 2, 3,   ~uint64_t{0},   ~uint64_t{1},       top,         top - 1,
                             top + 1, 7, 8, 100, uint64_t(bits), uint64_t(bits) - 1, ~uint64_t{6}};
  return values[index % std::size(values)];
}

inline uint64_t random_value(DType type, std::mt19937_64& random) {
  const uint64_t bits = random();
  if (type == DType::Bool) return bits & 1;
  if (random() % 4 == 0) return special_value(type, static_cast<size_t>(bits % 1000));
  if (!is_float(type) || random() % 2 == 0) return bits;
  const double value =
      std::ldexp(static_cast<double>(static_cast<int64_t>(bits)), -static_cast<int>(random() % 70));
  return type == DType::Float64 ? std::bit_cast<uint64_t>(value)
                                : std::bit_cast<uint32_t>(static_cast<float>(value));
}

// n values in register form, of float16 and bfloat16 those that the types have.
inline std::vector<char> random_values(DType type, int64_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  const size_t size = register_size(type);
  std::vector<char> values(static_cast<size_t>(n) * size + 64);
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t value = random_value(type, random);
    std::memcpy(values.data() + static_cast<size_t>(i) * size, &value, size);
  }
  const cpu::MapFunction round = cpu::active_convert_loops().round[static_cast<int>(type)];
  if (round != nullptr) round(values.data(), values.data(), n);
  return values;
}

template <typename T>
bool same_float(const void* a, const void* b) {
  T x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return (x != x && y != y) || std::memcmp(a, b, sizeof x) == 0;
}

// Equal bits, or both NaN.
inline bool same_register(DType type, const void* a, const void* b) {
  if (type == DType::Float64) return same_float<double>(a, b);
  if (is_float(type)) return same_float<float>(a, b);
  return std::memcmp(a, b, register_size(type)) == 0;
}

inline std::string show(DType type, const void* value) {
  if (type == DType::Float64) {
    double x;
    std::memcpy(&x, value, sizeof x);
    return std::to_string(x) + " " + std::to_string(std::bit_cast<uint64_t>(x));
  }
  if (is_float(type)) {
    float x;
    std::memcpy(&x, value, sizeof x);
    return std::to_string(x) + " " + std::to_string(std::bit_cast<uint32_t>(x));
  }
  int64_t bits = 0;
  std::memcpy(&bits, value, register_size(type));
  return std::to_string(bits);
}

}  // namespace backplane::cpu_vector_test

#endif  // BACKPLANE_TESTS_CPU_VECTOR_TEST_VALUES_H_
