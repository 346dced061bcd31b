// SPDX-License-Identifier: Apache-2.0
// Prints, for every function, the largest error in units in the last place that is found over dense samples,
// for each instruction set of this processor: the table of docs/operators.md. A reference that is NaN, or too
// large for the type, must be met exactly.
//   accuracy [samples per function]
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "cpu/vector_loops.h"
#include "reference.h"

namespace backplane::cpu_vector_test {
namespace {

using cpu::Isa;
using plugin::DType;

const char* kIsaNames[] = {"baseline", "avx2", "avx512"};

const cpu::Loop* find_loop(const cpu::LoopTable& table, plugin::ScalarOp op) {
  for (int i = 0; i < table.count; ++i) {
    if (table.rows[i].op == op) return &table.rows[i];
  }
  return nullptr;
}

template <typename T>
T any_number(std::mt19937_64& random) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<float>(static_cast<uint32_t>(random()));
  } else {
    return std::bit_cast<double>(random());
  }
}

template <typename T>
T sample(const Reference& reference, std::mt19937_64& random) {
  if (reference.all && random() % 4 == 0) return any_number<T>(random);
  const double unit = std::ldexp(static_cast<double>(random() >> 11), -53);
  double value = reference.low + unit * (reference.high - reference.low);
  // Where ways part: the thresholds of argument reduction.
  if (reference.all && random() % 16 == 0) {
    const double edges[] = {15, 125, 39000, 1e14, 88.7, 89.4, 709.8, 710.4, 1e18, 1.5e154};
    value = edges[random() % 10] * (1 + (unit - 0.5) * 1e-2) * (random() % 2 == 0 ? 1 : -1);
  }
  // Small arguments, where series are used.
  if (random() % 4 == 0) value *= std::ldexp(1.0, -static_cast<int>(random() % 40));
  return static_cast<T>(value);
}

// The exact value, in units in the last place of T, from `got`.
template <typename T, typename Exact>
double error_ulp(T got, Exact exact) {
  if (exact != exact) return got != got ? 0 : std::numeric_limits<double>::infinity();
  if (got != got) return std::numeric_limits<double>::infinity();
  const Exact most = std::numeric_limits<T>::max();
  const Exact size = exact < 0 ? -exact : exact;
  const int digits = std::numeric_limits<T>::digits;
  const T nearest = size > most ? std::numeric_limits<T>::max() : static_cast<T>(size);
  int exponent = nearest == 0 ? std::numeric_limits<T>::min_exponent : std::ilogb(nearest) + 1;
  if (exponent < std::numeric_limits<T>::min_exponent) exponent = std::numeric_limits<T>::min_exponent;
  const Exact unit = std::ldexp(1.0L, exponent - digits);
  if (std::isinf(got)) {
    // As if the range went on.
    if ((got > 0) != (exact > 0)) return std::numeric_limits<double>::infinity();
    return size >= most + unit ? 0 : static_cast<double>((most + unit - size) / unit);
  }
  if (size >= most + unit) return static_cast<double>(std::numeric_limits<float>::infinity());
  const Exact difference = exact - static_cast<Exact>(got);
  return static_cast<double>((difference < 0 ? -difference : difference) / unit);
}

struct Worst {
  double ulp = 0;
  double a = 0, b = 0, got = 0;
  long lane_dependent = 0;
};

template <typename T>
Worst measure(const Reference& reference, const cpu::Loop& loop, int64_t samples) {
  std::mt19937_64 random(1);
  constexpr int64_t kCount = 1024;
  std::vector<T> a(kCount), b(kCount), out(kCount), alone(16), splat_a(16), splat_b(16);
  Worst worst;
  const void* in[3] = {a.data(), b.data(), nullptr};
  const void* splats[3] = {splat_a.data(), splat_b.data(), nullptr};
  const int64_t step[3] = {1, 1, 1}, splat_step[3] = {0, 0, 0};
  for (int64_t done = 0; done < samples; done += kCount) {
    for (T& value : a) value = sample<T>(reference, random);
    for (T& value : b) value = sample<T>(reference, random);
    loop.run(out.data(), in, step, kCount);
    for (int64_t i = 0; i < kCount; ++i) {
      double ulp;
      if constexpr (sizeof(T) == 4) {
        ulp = error_ulp<T>(out[i], reference.close(a[i], b[i]));
      } else {
        ulp = error_ulp<T>(out[i], reference.exact(a[i], b[i]));
      }
      if (!(ulp <= worst.ulp)) worst = {ulp, a[i], b[i], out[i], worst.lane_dependent};
      splat_a.assign(16, a[i]);
      splat_b.assign(16, b[i]);
      loop.run(alone.data(), splats, splat_step, 16);
      if (std::memcmp(&alone[0], &out[i], sizeof(T)) != 0 && out[i] == out[i]) ++worst.lane_dependent;
    }
  }
  return worst;
}

// False where a bound does not hold.
template <typename T>
bool print_table(const char* isa, const cpu::LoopTable& table, int64_t samples) {
  bool held = true;
  for (const Reference& reference : references()) {
    const cpu::Loop* loop = find_loop(table, reference.op);
    const Worst worst = measure<T>(reference, *loop, samples);
    const double bound = sizeof(T) == 4 ? reference.bound32 : reference.bound64;
    // A bound of 1 is one of 1.000.
    const bool good = worst.ulp < bound + 0.0005 && worst.lane_dependent == 0;
    held = held && good;
    std::printf("%-9s float%zu %-10s %8.3f ULP, bound %g, at %.9g, %.9g: %.9g%s%s\n", isa, sizeof(T) * 8,
                reference.name, worst.ulp, bound, worst.a, worst.b, worst.got,
                worst.lane_dependent != 0 ? "  (depends on the other lanes)" : "", good ? "" : "  FAILED");
    std::fflush(stdout);
  }
  return held;
}

}  // namespace
}  // namespace backplane::cpu_vector_test

int main(int argc, char** argv) {
  using namespace backplane::cpu_vector_test;
  const int64_t samples = argc > 1 ? std::atoll(argv[1]) : 1 << 20;
  bool held = true;
  for (int isa = 0; isa <= static_cast<int>(backplane::cpu::best_isa()); ++isa) {
    backplane::cpu::select_isa(kIsaNames[isa]);
    held = print_table<float>(kIsaNames[isa], backplane::cpu::active_float32_loops(), samples) && held;
    held = print_table<double>(kIsaNames[isa], backplane::cpu::active_float64_loops(), samples / 16) && held;
  }
  return held ? 0 : 1;
}
