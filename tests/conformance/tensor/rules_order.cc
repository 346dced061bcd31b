// SPDX-License-Identifier: Apache-2.0
//
// Sorting, searching, taking and scattering.
#include <algorithm>
#include <limits>
#include <numeric>

#include "tensor/check.h"
#include "tensor/rules.h"

namespace backplane::conformance::tensors {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

void nan_sorts_last(const Device& device) {
  const Tensor x = tensor({kNaN, 1.f}, device);
  expect_values<float>("sort", sort(x), {1.f, kNaN});
  expect_values<int64_t>("argsort", argsort(x), {1, 0});
  const Tensor y = tensor({3.f, -kNaN, kInf, -kInf, kNaN, 2.f}, device);
  expect_values<float>("sort", sort(y), {-kInf, 2.f, 3.f, kInf, kNaN, kNaN});
  expect_values<int64_t>("argsort", argsort(y), {3, 5, 0, 2, 1, 4});
  expect_values<float>("descending", sort(y, -1, true), {kInf, 3.f, 2.f, -kInf, kNaN, kNaN});
  expect_values<int64_t>("descending argsort", argsort(y, -1, true), {2, 0, 5, 3, 1, 4});
}

void sorting_is_stable(const Device& device) {
  Numbers numbers(5);
  for (const int64_t count : {7, 300, 70001}) {
    std::vector<int32_t> values(static_cast<size_t>(count));
    for (int32_t& value : values) value = static_cast<int32_t>(numbers.bits() % 10);
    std::vector<int64_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    const auto at = [&](int64_t i) { return values[static_cast<size_t>(i)]; };
    std::vector<int64_t> down = order;
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return at(a) < at(b); });
    std::stable_sort(down.begin(), down.end(), [&](int64_t a, int64_t b) { return at(a) > at(b); });
    const Tensor x = tensor(values, device);
    expect_values("argsort", argsort(x), order);
    expect_values("argsort, descending", argsort(x, -1, true), down);
    expect_same("sort", sort(x), take(x, argsort(x)));
  }
}

void every_type_sorts(const Device& device) {
  Numbers numbers(6);
  for (const DType type : types_of(device)) {
    const Tensor x = numbers.small_whole({5, 37}, type, device);
    std::vector<int64_t> want = x.to_vector<int64_t>();
    for (size_t row = 0; row < 5; ++row)
      std::sort(want.begin() + static_cast<int64_t>(row) * 37,
                want.begin() + static_cast<int64_t>(row + 1) * 37);
    const Tensor wanted = tensor(want, {5, 37}, device).astype(type);
    expect_same("sort", sort(x), wanted);
    expect_same("sort along the first axis of a transposed view", sort(x.transpose(), 0), wanted.transpose());
  }
}

void zeros_are_equal_when_sorted(const Device& device) {
  expect_values<int64_t>("argsort", argsort(tensor({0.f, -0.f, 0.f}, device)), {0, 1, 2});
  expect_values<int64_t>("argmax", argsort(tensor({-0.f, 0.f}, device), 0, true), {0, 1});
}

void topk_gives_the_first_of_equals(const Device& device) {
  const auto [values, indices] = topk(tensor({1.f, 5.f, 5.f, 2.f, 5.f}, device), 3);
  expect_values<float>("values", values, {5, 5, 5});
  expect_values<int64_t>("indices", indices, {1, 2, 4});
  const auto [low, at] = topk(tensor({1.f, 5.f, 0.f, 1.f}, device), 2, -1, false);
  expect_values<float>("smallest", low, {0, 1});
  expect_values<int64_t>("their indices", at, {2, 0});
}

void negative_indices_count_from_the_end(const Device& device) {
  const Tensor x = tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}, device);
  for (const DType type : {int32, int64}) {
    if (!device.supports(type)) continue;
    const Tensor indices = tensor<int64_t>({-1, 0, -3}, device).astype(type);
    expect_values<float>("take", take(x, indices, 1), {3, 1, 1, 6, 4, 4}, {2, 3});
    expect_values<float>("take_along_axis", take_along_axis(x, indices.reshape({1, 3}), 1),
                         {3, 1, 1, 6, 4, 4}, {2, 3});
  }
  expect_values<float>("scatter", scatter(zeros({3}, device), tensor<int64_t>({-1}, device), 7.f), {0, 0, 7});
}

void the_last_of_several_writes_wins(const Device& device) {
  const Tensor x = zeros({4}, device);
  const Tensor indices = tensor<int64_t>({1, 3, 1, 1}, device), values = tensor({1.f, 2.f, 3.f, 4.f}, device);
  expect_values<float>("scatter", scatter(x, indices, values), {0, 4, 0, 2});
  expect_values<float>("the source", x, {0, 0, 0, 0});
  scatter_(x, indices, values);
  expect_values<float>("scatter_", x, {0, 4, 0, 2});
  // Many writers of one place.
  const Tensor many =
      scatter(zeros({2}, device), zeros({10007}, int64, device), arange(10007, float32, device));
  expect_values<float>("10007 writes", many, {10006, 0});
}

void an_index_out_of_range_surfaces_at_the_next_read(const Device& device) {
  const Tensor x = tensor({1.f, 2.f, 3.f}, device);
  for (const int64_t bad :
       {int64_t{3}, int64_t{-4}, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    expect_error("take", ErrorCode::InvalidArgument,
                 [&] {
                   bytes_of(take(x, tensor<int64_t>({0, bad}, device)));
                 },
                 {"take"});
    expect_values<float>("the next operator", x + 1, {2, 3, 4});
  }
}

void a_mask_selects(const Device& device) {
  const Tensor x = tensor({{1.f, 2.f}, {3.f, 4.f}}, device);
  expect_values<float>("index", index(x, greater(x, 1.5f)), {2, 3, 4});
  expect_values<float>("of no element", index(x, greater(x, 9.f)), {}, {0});
  expect_values<float>("by rows", index(x, tensor<bool>({false, true}, device)), {3, 4}, {1, 2});
  const std::vector<Tensor> places = nonzero(greater(x, 1.5f));
  require(places.size() == 2, "nonzero of two dimensions gave another number of tensors");
  expect_values<int64_t>("rows", places[0], {0, 1, 1});
  expect_values<int64_t>("columns", places[1], {1, 0, 1});
}

void distinct_values_are_counted(const Device& device) {
  expect_values<int32_t>("unique_values", unique_values(tensor<int32_t>({3, 1, 3, -2, 1}, device)),
                         {-2, 1, 3});
  const auto [values, counts] = unique_counts(tensor({2.f, kNaN, 2.f, kNaN}, device));
  expect_values<float>("values", values, {2.f, kNaN, kNaN});
  expect_values<int64_t>("counts", counts, {2, 1, 1});
  const Tensor sorted = tensor({1.f, 2.f, 2.f, 4.f}, device), wanted = tensor({0.f, 2.f, 5.f, kNaN}, device);
  expect_values<int64_t>("left", searchsorted(sorted, wanted), {0, 1, 4, 4});
  expect_values<int64_t>("right", searchsorted(sorted, wanted, Side::Right), {0, 3, 4, 4});
}

}  // namespace

void add_order_rules(std::vector<Rule>& rules) {
  rules.insert(rules.end(),
               {
                   {"NaN of either sign sorts last, in both directions (N1)", nan_sorts_last},
                   {"sorting is stable", sorting_is_stable},
                   {"every type sorts along any axis", every_type_sorts},
                   {"zeros of both signs are equal when sorted", zeros_are_equal_when_sorted},
                   {"topk gives the first of equals", topk_gives_the_first_of_equals},
                   {"negative indices count from the end", negative_indices_count_from_the_end},
                   {"of several writes to one place the last wins", the_last_of_several_writes_wins},
                   {"an index out of range surfaces at the next read",
                    an_index_out_of_range_surfaces_at_the_next_read},
                   {"a mask selects, and nonzero says where", a_mask_selects},
                   {"distinct values are counted and places found", distinct_values_are_counted},
               });
}

}  // namespace backplane::conformance::tensors
