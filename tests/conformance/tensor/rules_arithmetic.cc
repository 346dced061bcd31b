// SPDX-License-Identifier: Apache-2.0
//
// Integers, zeros, NaN, shifts: what DESIGN fixes where languages and devices differ.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "tensor/check.h"
#include "tensor/rules.h"

namespace backplane::conformance::tensors {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// Calls function(value of T) for every integer type that the device computes with.
template <typename Function>
void for_each_integer(const Device& device, const Function& function) {
  const auto one = [&](auto value) {
    if (device.supports(dtype_of<decltype(value)>())) function(value);
  };
  one(int8_t{}), one(int16_t{}), one(int32_t{}), one(int64_t{});
  one(uint8_t{}), one(uint16_t{}), one(uint32_t{}), one(uint64_t{});
}

void division_rounds_down(const Device& device) {
  for_each_integer(device, [&]<typename T>(T) {
    if constexpr (std::is_signed_v<T>) {
      const Tensor a = tensor<T>({-7, 7, -7, 7, 0, -8}, device), b = tensor<T>({2, -2, -2, 2, -5, 4}, device);
      expect_values<T>("floor_divide", floor_divide(a, b), {-4, -4, 3, 3, 0, -2});
      expect_values<T>("remainder", remainder(a, b), {1, -1, -1, 1, 0, 0});
    } else {
      const Tensor a = tensor<T>({7, 8, 0}, device), b = tensor<T>({2, 4, 5}, device);
      expect_values<T>("floor_divide", floor_divide(a, b), {3, 2, 0});
      expect_values<T>("remainder", remainder(a, b), {1, 0, 0});
    }
  });
}

void division_by_zero_gives_zero(const Device& device) {
  for_each_integer(device, [&]<typename T>(T) {
    const Tensor a = tensor<T>({7, 0, 1, 100, 3}, device), zero = zeros({5}, dtype_of<T>(), device);
    expect_values<T>("floor_divide", floor_divide(a, zero), {0, 0, 0, 0, 0});
    expect_values<T>("remainder", remainder(a, zero), {0, 0, 0, 0, 0});
    expect_values<T>("floor_divide by a scalar", floor_divide(a, 0), {0, 0, 0, 0, 0});
    expect_values<T>("remainder by a scalar", remainder(a, 0), {0, 0, 0, 0, 0});
  });
}

void lowest_by_minus_one_stays_lowest(const Device& device) {
  for_each_integer(device, [&]<typename T>(T) {
    if constexpr (std::is_signed_v<T>) {
      const T lowest = std::numeric_limits<T>::min();
      const Tensor a = tensor<T>({lowest, lowest, 5}, device), b = tensor<T>({-1, 1, -1}, device);
      expect_values<T>("floor_divide", floor_divide(a, b), {lowest, lowest, -5});
      expect_values<T>("remainder", remainder(a, b), {0, 0, 0});
      expect_values<T>("abs", abs(a), {lowest, lowest, 5});
      expect_values<T>("negative", negative(a), {lowest, lowest, -5});
    }
  });
}

void integers_wrap(const Device& device) {
  for_each_integer(device, [&]<typename T>(T) {
    using Wide = std::make_unsigned_t<T>;
    const T top = std::numeric_limits<T>::max(), low = std::numeric_limits<T>::min();
    const Tensor a = tensor<T>({top, low, top}, device), b = tensor<T>({1, 1, top}, device);
    // Unsigned arithmetic wraps by the language's own rule, computed wide enough not to promote to int.
    const auto wrapped = [](auto x) { return static_cast<T>(static_cast<Wide>(x)); };
    const auto u = [](T x) { return static_cast<uint64_t>(x); };
    expect_values<T>("add", add(a, b), {wrapped(u(top) + 1), wrapped(u(low) + 1), wrapped(u(top) + u(top))});
    expect_values<T>("subtract", subtract(b, a),
                     {wrapped(1 - u(top)), wrapped(1 - u(low)), wrapped(u(top) - u(top))});
    expect_values<T>("multiply", multiply(a, b), {top, low, wrapped(u(top) * u(top))});
    expect_values<T>("square", square(b), {1, 1, wrapped(u(top) * u(top))});
  });
}

void shifts_past_the_width_are_defined(const Device& device) {
  for_each_integer(device, [&]<typename T>(T) {
    constexpr int kWidth = 8 * sizeof(T);
    const T far = static_cast<T>(kWidth), last = static_cast<T>(kWidth - 1);
    const T high = static_cast<T>(T{1} << (kWidth - 1));
    const Tensor one = full({4}, 1, dtype_of<T>(), device);
    const Tensor counts = tensor<T>({0, last, far, static_cast<T>(far + 1)}, device);
    expect_values<T>("left shift", bitwise_left_shift(one, counts), {1, high, 0, 0});
    const T sign = std::is_signed_v<T> ? static_cast<T>(-1) : T{0};
    const T by_last = std::is_signed_v<T> ? static_cast<T>(-1) : T{1};
    expect_values<T>(
        "right shift",
        bitwise_right_shift(full({4}, 0, dtype_of<T>(), device) + tensor<T>({high, high, high, high}, device),
                            counts),
        {high, by_last, sign, sign});
    if constexpr (std::is_signed_v<T>) {
      const Tensor negative_counts = tensor<T>({-1, -1, std::numeric_limits<T>::min()}, device);
      const Tensor x = tensor<T>({5, -5, -5}, device);
      expect_values<T>("left shift by a negative count", bitwise_left_shift(x, negative_counts), {0, 0, 0});
      expect_values<T>("right shift by a negative count", bitwise_right_shift(x, negative_counts),
                       {0, -1, -1});
    }
  });
}

void maximum_and_minimum_keep_nan(const Device& device) {
  const Tensor a = tensor({1.f, kNaN, kNaN, kInf, -kInf}, device),
               b = tensor({kNaN, 2.f, kNaN, kNaN, kNaN}, device);
  const std::vector<float> all_nan(5, kNaN);
  expect_values("maximum", maximum(a, b), all_nan);
  expect_values("maximum, swapped", maximum(b, a), all_nan);
  expect_values("minimum", minimum(a, b), all_nan);
  expect_values("minimum, swapped", minimum(b, a), all_nan);
  expect_values<float>("clip", clip(tensor({kNaN, 5.f}, device), Operand(-1.f), Operand(1.f)), {kNaN, 1.f});
  expect_values<float>("relu", relu(tensor({kNaN, -1.f, 3.f}, device)), {kNaN, 0.f, 3.f});
}

void zeros_are_ordered(const Device& device) {
  const Tensor plus = tensor({0.f, -0.f}, device), minus = tensor({-0.f, 0.f}, device);
  expect_values<float>("maximum", maximum(plus, minus), {0.f, 0.f});
  expect_values<float>("minimum", minimum(plus, minus), {-0.f, -0.f});
  expect_values<float>("negative", negative(plus), {-0.f, 0.f});
  expect_values<float>("abs", abs(plus), {0.f, 0.f});
  expect_values<bool>("signbit", signbit(plus), {false, true});
  expect_values<bool>("equal", equal(plus, minus), {true, true});
  expect_values<float>("copysign", copysign(tensor({1.f, 1.f}, device), plus), {1.f, -1.f});
}

void nan_compares_as_unordered(const Device& device) {
  const Tensor x = tensor({kNaN, 1.f}, device);
  expect_values<bool>("equal", equal(x, x), {false, true});
  expect_values<bool>("not_equal", not_equal(x, x), {true, false});
  expect_values<bool>("less", less(x, 2.f), {false, true});
  expect_values<bool>("greater_equal", greater_equal(x, 0.f), {false, true});
  expect_values<bool>("isnan", isnan(x), {true, false});
}

void wide_integers_compare_exactly(const Device& device) {
  require_type(device, int64);
  const int64_t big = (int64_t{1} << 53) + 1;
  const Tensor a = tensor<int64_t>({big, big, -big}, device),
               b = tensor<int64_t>({big - 1, big, -big + 1}, device);
  expect_values<bool>("greater", greater(a, b), {true, false, false});
  expect_values<bool>("equal", equal(a, b), {false, true, false});
  expect_values<int64_t>("maximum", maximum(a, b), {big, big, -big + 1});
}

void bool_adds_as_or(const Device& device) {
  const Tensor a = tensor<bool>({true, true, false, false}, device),
               b = tensor<bool>({true, false, true, false}, device);
  expect_values<bool>("add", add(a, b), {true, true, true, false});
  expect_values<bool>("multiply", multiply(a, b), {true, false, false, false});
  expect_values<bool>("bitwise_xor", bitwise_xor(a, b), {false, true, true, false});
  expect_values<bool>("bitwise_invert", bitwise_invert(a), {false, false, true, true});
  expect_values<bool>("logical_not", logical_not(a), {false, false, true, true});
  expect_values<bool>("maximum", maximum(a, b), {true, true, true, false});
}

void where_takes_only_the_chosen_side(const Device& device) {
  const Tensor mask = tensor<bool>({true, false, true}, device);
  expect_values<float>("where",
                       where(mask, tensor({1.f, kNaN, 3.f}, device), tensor({kNaN, 2.f, kNaN}, device)),
                       {1.f, 2.f, 3.f});
  expect_values<float>("where with numbers", where(mask, 1.f, 2.f), {1.f, 2.f, 1.f});
}

void every_operator_broadcasts(const Device& device) {
  const Tensor row = tensor({1.f, 2.f, 3.f}, device), column = tensor({{10.f}, {20.f}}, device);
  expect_values<float>("add", row + column, {11, 12, 13, 21, 22, 23}, {2, 3});
  expect_same("with no dimensions", tensor(5.f, device) + row, tensor({6.f, 7.f, 8.f}, device));
  // N10
  expect_values<float>("(2,0) + (2,1)", zeros({2, 0}, device) + ones({2, 1}, device), {}, {2, 0});
  expect_values<float>("(1,) + (0,)", ones({1}, device) + zeros({0}, device), {}, {0});
}

void every_type_adds_on_every_shape(const Device& device) {
  Numbers numbers(1);
  for (const DType type : types_of(device))
    for (const Shape& shape : awkward_shapes()) {
      const Tensor a = numbers.small_whole(shape, type, device), b = numbers.small_whole(shape, type, device);
      std::vector<int64_t> want = a.to_vector<int64_t>();
      const std::vector<int64_t> other = b.to_vector<int64_t>();
      for (size_t i = 0; i < want.size(); ++i)
        want[i] = type == DType::Bool ? (want[i] | other[i]) : want[i] + other[i];
      const Tensor wanted = tensor(want, shape, device).astype(type);
      expect_same("add", a + b, wanted);
      expect_same("add of strided views", scattered(a) + scattered(b), wanted);
      const Tensor out = scattered(a);
      expect_same("add into a strided view", add_out(out, a, b), wanted);
    }
}

void in_place_results_may_overlap_their_operands(const Device& device) {
  const Tensor x = tensor({1.f, 2.f, 3.f, 4.f, 5.f}, device);
  add_out(x, x, x.flip());
  expect_values<float>("x += flip(x)", x, {6, 6, 6, 6, 6});
  const Tensor y = tensor({1.f, 2.f, 3.f, 4.f, 5.f}, device);
  add_out(y.slice(0, {1, 5}), y.slice(0, {0, 4}), 10.f);
  expect_values<float>("y[1:] = y[:4] + 10", y, {1, 11, 12, 13, 14});
  const Tensor z = tensor({1.f, 2.f}, device);
  z += 1;
  z *= z;
  expect_values<float>("in place", z, {4, 9});
}

// Numbers that look random, -128 often among them.
template <typename T>
std::vector<T> bytes(int64_t count, uint32_t seed) {
  std::vector<T> values;
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    values.push_back(static_cast<T>(seed >> 28 == 0 ? 0x80u : seed >> 24));
  }
  return values;
}

// Sums of 32 bits of products of bytes, by loops.
template <typename A, typename B>
void expect_product_of_bytes(const Device& device, int64_t m, int64_t n, int64_t k) {
  const std::vector<A> a = bytes<A>(m * k, 1);
  const std::vector<B> b = bytes<B>(k * n, 2);
  std::vector<int32_t> want(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t p = 0; p < k; ++p)
        want[static_cast<size_t>(i * n + j)] +=
            int32_t{a[static_cast<size_t>(i * k + p)]} * int32_t{b[static_cast<size_t>(p * n + j)]};
    }
  }
  const Tensor x = tensor(a, {m, k}, device), y = tensor(b, {k, n}, device);
  const std::string what = fmt::format("product of ({0}, {1}) and ({1}, {2})", m, k, n);
  expect_values<int32_t>(what, matmul(x, y, int32), want, {m, n});
  const Tensor columns = tensor(a, {m, k}, device).transpose().copy_to(device).transpose();
  const Tensor rows = tensor(b, {k, n}, device).transpose().copy_to(device).transpose();
  expect_values<int32_t>(what + " transposed", matmul(columns, rows, int32), want, {m, n});
  const Tensor result = empty({m, n}, int32, device);
  matmul_out(result, x, y, int32);
  expect_values<int32_t>(what + " into a tensor", result, want, {m, n});
}

void products_of_bytes_are_exact_in_32_bits(const Device& device) {
  for (const DType type : {int8, uint8, int32}) require_type(device, type);
  for (const int64_t k : {1, 2, 3, 4, 5, 67}) {
    expect_product_of_bytes<int8_t, int8_t>(device, 13, 35, k);
    expect_product_of_bytes<uint8_t, int8_t>(device, 13, 35, k);
    expect_product_of_bytes<int8_t, uint8_t>(device, 13, 35, k);
    expect_product_of_bytes<uint8_t, uint8_t>(device, 13, 35, k);
  }
  expect_product_of_bytes<int8_t, int8_t>(device, 1, 17, 9);
  expect_product_of_bytes<int8_t, int8_t>(device, 17, 1, 9);
  expect_product_of_bytes<int8_t, int8_t>(device, 101, 70, 33);
  expect_product_of_bytes<int8_t, int8_t>(device, 3, 5, 4101);
  expect_product_of_bytes<int8_t, int8_t>(device, 3, 2, 20001);
}

}  // namespace

void add_arithmetic_rules(std::vector<Rule>& rules) {
  rules.insert(
      rules.end(),
      {
          {"integer division rounds down and the remainder has the divisor's sign (N7)",
           division_rounds_down},
          {"integer division and remainder by zero give zero (N7)", division_by_zero_gives_zero},
          {"the lowest integer divided by -1 stays the lowest (N7)", lowest_by_minus_one_stays_lowest},
          {"integers wrap", integers_wrap},
          {"shifts by a negative count or past the width are defined", shifts_past_the_width_are_defined},
          {"maximum, minimum, clip and relu keep NaN (N1)", maximum_and_minimum_keep_nan},
          {"of two zeros maximum takes +0 and minimum -0", zeros_are_ordered},
          {"NaN compares as unordered", nan_compares_as_unordered},
          {"64-bit integers compare exactly", wide_integers_compare_exactly},
          {"products of bytes are exact in 32 bits", products_of_bytes_are_exact_in_32_bits},
          {"bool adds as or and multiplies as and", bool_adds_as_or},
          {"where takes only the chosen side", where_takes_only_the_chosen_side},
          {"shapes broadcast, empty ones too (N10)", every_operator_broadcasts},
          {"every type adds on every shape and layout", every_type_adds_on_every_shape},
          {"results may overlap their operands", in_place_results_may_overlap_their_operands},
      });
}

}  // namespace backplane::conformance::tensors
