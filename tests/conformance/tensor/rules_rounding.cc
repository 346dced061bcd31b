// SPDX-License-Identifier: Apache-2.0
//
// + - * / sqrt and fma are correctly rounded on every device. Expected values are the host's, whose scalar
// arithmetic IEEE 754 defines.
#include <cmath>
#include <limits>

#include "tensor/check.h"
#include "tensor/rules.h"

namespace backplane::conformance::tensors {
namespace {

constexpr int64_t kCount = 4099;

// Numbers of every magnitude that the type has, special ones first; denormals only when asked for.
template <typename T>
std::vector<T> of_all_magnitudes(uint64_t seed, bool denormals) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           -T{0},
                           1,
                           -1,
                           Limits::infinity(),
                           -Limits::infinity(),
                           Limits::quiet_NaN(),
                           Limits::max(),
                           Limits::min()};
  if (denormals)
    values.insert(values.end(), {Limits::denorm_min(), -Limits::denorm_min(), Limits::min() / 2});
  Numbers numbers(seed);
  while (static_cast<int64_t>(values.size()) < kCount) {
    const int exponent = static_cast<int>(numbers.between(Limits::min_exponent + 1, Limits::max_exponent));
    const T value = std::ldexp(static_cast<T>(numbers.between(-1, 1)), exponent);
    if (denormals || value == 0 || std::fabs(value) >= Limits::min()) values.push_back(value);
  }
  return values;
}

// Where the device may flush denormals to zero, results that are denormal are replaced on both sides.
template <typename T>
Tensor without_denormals(const Tensor& x) {
  return where(less(abs(x), static_cast<double>(std::numeric_limits<T>::min())), 0.0, x);
}

template <typename T>
void check(const Device& device) {
  const bool denormals = (device.properties().flags & plugin::kDenormals) != 0 || sizeof(T) == 8;
  const std::vector<T> a = of_all_magnitudes<T>(1, denormals), b = of_all_magnitudes<T>(2, denormals);
  const Tensor x = tensor(a, device), y = tensor(b, device);
  const auto expect = [&](const char* name, const Tensor& got, auto&& host) {
    std::vector<T> want(a.size());
    for (size_t i = 0; i < a.size(); ++i) want[i] = host(a[i], b[i]);
    const Tensor wanted = tensor(want, device);
    const std::string what = std::string(name) + " of " + to_string(dtype_of<T>());
    if (denormals)
      expect_same(what, got, wanted);
    else
      expect_same(what, without_denormals<T>(got), without_denormals<T>(wanted));
  };
  expect("add", add(x, y), [](T p, T q) { return p + q; });
  expect("subtract", subtract(x, y), [](T p, T q) { return p - q; });
  expect("multiply", multiply(x, y), [](T p, T q) { return p * q; });
  expect("divide", divide(x, y), [](T p, T q) { return p / q; });
  expect("sqrt", sqrt(x), [](T p, T) { return std::sqrt(p); });
  expect("fma", fma(x, y, x), [](T p, T q) { return std::fma(p, q, p); });
  // Contraction would round once where the program says twice.
  expect("a * b + a", add(multiply(x, y), x), [](T p, T q) {
    const volatile T product = p * q;
    return product + p;
  });
}

void float32_is_correctly_rounded(const Device& device) { check<float>(device); }

void float64_is_correctly_rounded(const Device& device) {
  require_type(device, float64);
  check<double>(device);
}

// float16 and bfloat16 compute in float32 and round once.
void half_types_round_once(const Device& device) {
  for (const DType type : {float16, bfloat16}) {
    if (!device.supports(type)) continue;
    Numbers numbers(3);
    std::vector<float> a(kCount), b(kCount);
    for (float& value : a) value = static_cast<float>(numbers.between(-8, 8));
    for (float& value : b) value = static_cast<float>(numbers.between(-8, 8));
    const Tensor x = tensor(a, device).astype(type), y = tensor(b, device).astype(type);
    const Tensor wide_x = x.astype(float32), wide_y = y.astype(float32);
    expect_same("add", x + y, (wide_x + wide_y).astype(type));
    expect_same("multiply", x * y, (wide_x * wide_y).astype(type));
    expect_same("divide", x / y, (wide_x / wide_y).astype(type));
    expect_same("exp", exp(x), exp(wide_x).astype(type));
  }
}

void denormals_survive(const Device& device) {
  if ((device.properties().flags & plugin::kDenormals) == 0)
    throw Skip("the device says that it flushes float32 denormals");
  const float tiny = std::numeric_limits<float>::denorm_min(), least = std::numeric_limits<float>::min();
  const Tensor x = tensor({tiny, -tiny, least}, device);
  expect_values<float>("x + 0", x + 0.f, {tiny, -tiny, least});
  expect_values<float>("x * 0.5", x * 0.5f, {0.f, -0.f, least / 2});
  expect_values<float>("x / 1", x / 1.f, {tiny, -tiny, least});
  expect_values<bool>("x > 0", x > 0.f, {true, false, true});
}

void rounding_goes_half_to_even(const Device& device) {
  const Tensor x = tensor({0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 8388609.f, -0.3f}, device);
  expect_values<float>("round", round(x), {0.f, 2.f, 2.f, -0.f, -2.f, 8388609.f, -0.f});
  expect_values<float>("floor", floor(x), {0.f, 1.f, 2.f, -1.f, -2.f, 8388609.f, -1.f});
  expect_values<float>("ceil", ceil(x), {1.f, 2.f, 3.f, -0.f, -1.f, 8388609.f, -0.f});
  expect_values<float>("trunc", trunc(x), {0.f, 1.f, 2.f, -0.f, -1.f, 8388609.f, -0.f});
}

}  // namespace

void add_rounding_rules(std::vector<Rule>& rules) {
  rules.insert(
      rules.end(),
      {
          {"float32 arithmetic is correctly rounded and never contracted", float32_is_correctly_rounded},
          {"float64 arithmetic is correctly rounded and never contracted", float64_is_correctly_rounded},
          {"float16 and bfloat16 compute in float32 and round once", half_types_round_once},
          {"denormals survive", denormals_survive},
          {"round goes half to even and keeps the sign of zero", rounding_goes_half_to_even},
      });
}

}  // namespace backplane::conformance::tensors
