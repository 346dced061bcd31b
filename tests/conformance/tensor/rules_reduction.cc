// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "tensor/check.h"
#include "tensor/rules.h"

namespace backplane::conformance::tensors {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

void nan_wins(const Device& device) {
  const Tensor x = tensor({1.f, kNaN, 3.f}, device);
  expect_scalar("max", max(x), kNaN);
  expect_scalar("min", min(x), kNaN);
  expect_scalar("sum", sum(x), kNaN);
  expect_scalar<int64_t>("argmax", argmax(x), 1);
  expect_scalar<int64_t>("argmin", argmin(x), 1);
  expect_scalar<int64_t>("argmax with two NaN", argmax(tensor({5.f, kNaN, kNaN}, device)), 1);
  expect_scalar("max of infinities", max(tensor({-kInf, -kInf}, device)), -kInf);
  const Tensor long_one = zeros({100003}, device);
  long_one.select(0, 70001).fill(kNaN);
  expect_scalar("max of many", max(long_one), kNaN);
  expect_scalar<int64_t>("argmax of many", argmax(long_one), 70001);
}

void first_of_equals_wins(const Device& device) {
  expect_scalar<int64_t>("argmin", argmin(tensor<int32_t>({0, 1, 2, 3, 0}, device)), 0);
  for (const int64_t count : {16, 1000000})
    for (const DType type : {float32, int32}) {
      expect_scalar<int64_t>("argmax of equal values", argmax(ones({count}, type, device)), 0);
      expect_scalar<int64_t>("argmin of equal values", argmin(ones({count}, type, device)), 0);
    }
  const Tensor x = tensor({{1.f, 3.f, 3.f}, {7.f, 7.f, 0.f}}, device);
  expect_values<int64_t>("argmax along the last axis", argmax(x, 1), {1, 0});
  expect_values<int64_t>("argmax along the first axis", argmax(x, 0), {1, 1, 0});
  expect_values<int64_t>("argmax with keepdims", argmax(x, 1, true), {1, 0}, {2, 1});
}

void integers_sum_in_64_bits(const Device& device) {
  require_type(device, int64);
  const int32_t top = std::numeric_limits<int32_t>::max();
  const Tensor x = tensor<int32_t>({top, top}, device);
  expect_scalar<int64_t>("sum of int32", sum(x), 4294967294);
  expect_scalar("mean of int32", mean(x), 2147483648.f);
  expect_scalar<uint64_t>("sum of uint8", sum(full({1000}, 255, uint8, device)), 255000);
  expect_scalar<int64_t>("sum of bool", sum(ones({1000}, boolean, device)), 1000);
  expect_scalar<int64_t>("prod of int32", prod(full({40}, 2, int32, device)), int64_t{1} << 40);
  expect_scalar<int32_t>("sum with a type", sum(tensor<int32_t>({1, 2}, device), {}, false, int32), 3);
}

void float16_means_do_not_overflow(const Device& device) {
  require_type(device, float16);
  expect_same("mean of [40000] x 3", mean(full({3}, 40000, float16, device)),
              full({}, 40000, float16, device));
  expect_same("mean of 10^5 ones", mean(ones({100000}, float16, device)), ones({}, float16, device));
}

void nothing_overflows_in_between(const Device& device) {
  expect_scalar("mean", mean(tensor({3e38f, 3e38f, 3e38f}, device)), 3e38f);
  const auto near = [](const char* name, const Tensor& got, double want, double tolerance) {
    const double value = got.item<double>();
    require(std::fabs(value - want) <= tolerance * std::fabs(want),
            std::string(name) + " is " + std::to_string(value));
  };
  near("norm of large", norm(tensor({1e30f, 1e30f}, device)), std::sqrt(2.0) * 1e30, 4e-7);
  near("norm of small", norm(tensor({1e-30f, 1e-30f}, device)), std::sqrt(2.0) * 1e-30, 4e-7);
  near("var of large", var(tensor({1e18f, -1e18f}, device)), 1e36, 4e-7);
  near("var with a large mean", var(tensor({16777216.f, 16777218.f}, device)), 1.0, 1e-6);
  near("logsumexp", logsumexp(tensor({1000.f, 1000.f}, device)), 1000.693147180559945, 1e-6);
  expect_scalar("norm of an infinity", norm(tensor({kInf, 1.f}, device)), kInf);
  expect_scalar("logsumexp of -inf", logsumexp(tensor({-kInf, -kInf}, device)), -kInf);
  expect_scalar("std of one with correction 1", backplane::std(tensor({5.f}, device), {}, false, 1), kNaN);
}

void float32_sums_stay_within_their_bound(const Device& device) {
  const Tensor x = concat({full({1}, 16777216, float32, device), ones({1000}, device)});
  const auto within = [](const char* name, const Tensor& got, double exact, double absolute_sum,
                         double count) {
    const double error = std::fabs(got.item<double>() - exact),
                 bound = 2 * std::log2(count) * 0x1p-24 * absolute_sum;
    require(error <= bound,
            std::string(name) + " is off by " + std::to_string(error) + ", bound " + std::to_string(bound));
  };
  within("2^24 and 1000 ones", sum(x), 16778216, 16778216, 1001);
  expect_scalar("2^24 + 16 ones", sum(ones({16777216 + 16}, device)), 16777232.f);
  for (const int64_t count : {3, 1000, 100003}) {
    Numbers numbers(static_cast<uint64_t>(count));
    std::vector<float> values(static_cast<size_t>(count));
    long double exact = 0, absolute = 0;
    for (float& value : values) {
      value = static_cast<float>(numbers.between(-1, 1));
      exact += value;
      absolute += std::fabs(value);
    }
    const Tensor random = tensor(values, device);
    const auto n = static_cast<double>(count);
    within("random numbers", sum(random), static_cast<double>(exact), static_cast<double>(absolute), n);
    within("the same in a column", sum(random.reshape({count, 1}).broadcast_to({count, 2}), 0).select(0, 1),
           static_cast<double>(exact), static_cast<double>(absolute), n);
  }
}

void sums_do_not_depend_on_layout_of_other_rows(const Device& device) {
  Numbers numbers(9);
  std::vector<float> row(1003);
  for (float& value : row) value = static_cast<float>(numbers.between(-1, 1));
  const Tensor one = tensor(row, device);
  const Tensor many = one.broadcast_to({37, 1003}).clone();
  const Tensor alone = sum(one.reshape({1, 1003}), 1);
  expect_same("sum of rows", sum(many, 1), alone.broadcast_to({37}));
  expect_same("again", sum(many, 1), sum(many, 1));
}

void empty_reductions_follow_the_standard(const Device& device) {
  const Tensor x = zeros({0, 3}, device);
  for (const bool all : {true, false}) {
    const Axes axes = all ? Axes() : Axes(0);
    expect_error("max", ErrorCode::InvalidArgument, [&] { max(x, axes); }, {"max"});
    expect_error("min", ErrorCode::InvalidArgument, [&] { min(x, axes); }, {"min"});
  }
  expect_error("argmax", ErrorCode::InvalidArgument, [&] { argmax(x); }, {"argmax"});
  expect_error("argmin", ErrorCode::InvalidArgument, [&] { argmin(x, 0); }, {"argmin"});
  expect_values<float>("max over axis 1", max(x, 1), {}, {0});
  expect_values<int64_t>("argmax over axis 1", argmax(x, 1), {}, {0});
  expect_scalar("sum", sum(x), 0.f);
  expect_scalar("prod", prod(x), 1.f);
  expect_scalar("mean", mean(x), kNaN);
  expect_scalar("any", any(x), false);
  expect_scalar("all", all(x), true);
  expect_scalar("norm", norm(x), 0.f);
  expect_values<float>("sum over axis 0", sum(x, 0), {0, 0, 0});
  expect_values<float>("mean over axis 0", mean(x, 0), {kNaN, kNaN, kNaN});
  expect_values<float>("sum over axis 0, kept", sum(x, 0, true), {0, 0, 0}, {1, 3});
}

void axes_may_be_several_negative_or_kept(const Device& device) {
  const Tensor x = arange(24, float32, device).reshape({2, 3, 4});
  expect_values<float>("axes 0 and 2", sum(x, {0, 2}), {60, 92, 124});
  expect_values<float>("axes -1 and 0", sum(x, {-1, 0}), {60, 92, 124});
  expect_values<float>("kept", sum(x, {0, 2}, true), {60, 92, 124}, {1, 3, 1});
  expect_scalar("all of them has shape []", sum(x), 276.f);
  expect_values<float>("all kept", sum(x, {}, true), {276}, {1, 1, 1});
  expect_scalar("of no dimensions", sum(tensor(5.f, device)), 5.f);
  expect_error("an axis twice", ErrorCode::InvalidArgument, [&] { sum(x, {0, -3}); }, {"sum"});
  expect_error("axis 3 of 3", ErrorCode::InvalidArgument, [&] { sum(x, 3); }, {"sum", "3"});
}

void every_type_reduces_on_every_layout(const Device& device) {
  Numbers numbers(4);
  for (const DType type : types_of(device))
    for (const Shape& shape : awkward_shapes()) {
      const Tensor x = numbers.small_whole(shape, type, device);
      int64_t total = 0;
      for (const int64_t value : x.to_vector<int64_t>()) total += value;
      const DType wide = is_floating(type) ? type : is_unsigned_integer(type) ? uint64 : int64;
      if (!device.supports(wide)) continue;
      // Whole numbers are exact in float32 in every order; float16 and bfloat16 then round once.
      const Tensor want = full({}, total, wide, device);
      expect_same("sum", sum(x), want);
      expect_same("sum of a strided view", sum(scattered(x)), want);
      if (x.size() == 0) continue;
      expect_same("max of a strided view", max(scattered(x)), max(x));
    }
}

void scans_accumulate(const Device& device) {
  const Tensor x = arange(6, float32, device).reshape({2, 3});
  expect_values<float>("along axis 1", cumulative_sum(x, 1), {0, 1, 3, 3, 7, 12}, {2, 3});
  expect_values<float>("along axis 0", cumulative_sum(x, 0), {0, 1, 2, 3, 5, 7}, {2, 3});
  expect_values<float>("of a transposed view", cumulative_sum(x.transpose(), 1), {0, 3, 1, 5, 2, 7}, {3, 2});
  expect_values<int64_t>("of int32", cumulative_sum(full({3}, 2147483647, int32, device)),
                         {2147483647, 4294967294, 6442450941});
  expect_values<float>("product", cumulative_prod(x + 1, 1), {1, 2, 6, 4, 20, 120}, {2, 3});
}

}  // namespace

void add_reduction_rules(std::vector<Rule>& rules) {
  rules.insert(
      rules.end(),
      {
          {"NaN wins in max, min, argmax and argmin (N1)", nan_wins},
          {"argmax and argmin give the first of equals (N2)", first_of_equals_wins},
          {"integers are summed in 64 bits (N3)", integers_sum_in_64_bits},
          {"means of float16 do not overflow (N4)", float16_means_do_not_overflow},
          {"float32 sums stay within their bound (N5)", float32_sums_stay_within_their_bound},
          {"reductions of nothing follow the standard (N6)", empty_reductions_follow_the_standard},
          {"mean, var, norm and logsumexp do not overflow in between", nothing_overflows_in_between},
          {"a row's sum does not depend on the other rows", sums_do_not_depend_on_layout_of_other_rows},
          {"axes may be several, negative or kept (N10)", axes_may_be_several_negative_or_kept},
          {"every type reduces on every shape and layout", every_type_reduces_on_every_layout},
          {"scans accumulate", scans_accumulate},
      });
}

}  // namespace backplane::conformance::tensors
