// SPDX-License-Identifier: Apache-2.0
//
// Bad input gives an error that names what is in play, and nothing is lost: the next operator works.
#include "tensor/check.h"
#include "tensor/rules.h"

namespace backplane::conformance::tensors {
namespace {

constexpr auto kInvalid = ErrorCode::InvalidArgument;

void expect_working(const Device& device) {
  expect_values<float>("the next operator", ones({3}, device) + 1, {2, 2, 2});
}

void shapes_that_do_not_fit_are_named(const Device& device) {
  const Tensor x = ones({2, 3}, device), y = ones({4}, device);
  expect_error("add", kInvalid, [&] { x + y; }, {"add", "(2, 3)", "(4,)", "float32", device.name()});
  expect_error("where", kInvalid, [&] { where(x > 0, x, y); },
               {"where", "(4,)", "bool (2, 3)", device.name()});
  expect_error("matmul", kInvalid, [&] { matmul(x, ones({4, 5}, device)); }, {"matmul", "(2, 3)", "(4, 5)"});
  expect_error("matmul of a scalar", kInvalid, [&] { matmul(x, ones({}, device)); }, {"matmul"});
  expect_error("broadcast_to", kInvalid, [&] { x.broadcast_to({3, 3}); }, {"(2, 3)", "(3, 3)"});
  expect_error("reshape", kInvalid, [&] { x.reshape({4, 2}); }, {"float32 (2, 3)", "(4, 2)", device.name()});
  expect_error("reshape with two -1", kInvalid, [&] { x.reshape({-1, -1}); });
  expect_error("concat", kInvalid,
               [&] {
                 concat({x, ones({2, 4}, device)}, 0);
               },
               {"concat", "float32 (2, 4)", device.name()});
  expect_error("concat of nothing", kInvalid, [&] { concat({}); }, {"concat"});
  expect_error("out of another shape", kInvalid, [&] { add_out(y, x, x); }, {"add", "(4,)", "(2, 3)"});
  expect_error("assign", kInvalid, [&] { y.assign(x); }, {"(4,)", "(2, 3)"});
  expect_working(device);
}

void sizes_are_checked(const Device& device) {
  expect_error("negative size", kInvalid, [&] { zeros({2, -1}, device); }, {"-1"});
  expect_error("overflow", kInvalid,
               [&] {
                 zeros({int64_t{1} << 33, int64_t{1} << 33}, device);
               },
               {"8589934592"});
  expect_error("eye", kInvalid, [&] { eye(-1, {}, 0, float32, device); }, {"eye", "-1"});
  expect_error("repeat", kInvalid, [&] { repeat(ones({2}, device), INT64_MAX); }, {"repeat", "float32"});
  expect_error("overflow of bytes only", kInvalid, [&] { empty({int64_t{1} << 61}, float64, device); });
  expect_error("arange of too many", kInvalid, [&] { arange(0.0, 1e30, 1.0, float32, device); }, {"arange"});
  expect_error("broadcast_to", kInvalid, [&] {
    ones({1}, device).broadcast_to({int64_t{1} << 40, int64_t{1} << 40});
  });
  expect_error("a size no machine has", ErrorCode::OutOfMemory,
               [&] { empty({int64_t{1} << 50}, uint8, device); }, {device.name()});
  expect_error("17 dimensions", kInvalid, [&] {
    zeros({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, device);
  });
  expect_working(device);
}

void axes_and_indices_are_checked(const Device& device) {
  const Tensor x = ones({2, 3}, device);
  expect_error("sum", kInvalid, [&] { sum(x, 2); }, {"sum", "2", "float32 (2, 3)", device.name()});
  expect_error("softmax", kInvalid, [&] { softmax(x, -3); }, {"softmax", "-3", "float32", device.name()});
  expect_error("select of an axis", kInvalid, [&] { x.select(2, 0); });
  expect_error("select of an index", kInvalid, [&] { x.select(0, 2); }, {"2"});
  expect_error("select of a negative index", kInvalid, [&] { x.select(0, -3); }, {"-3"});
  expect_error("slice with step 0", kInvalid, [&] { x.slice(0, {0, 1, 0}); });
  expect_error("permute twice the same", kInvalid, [&] { x.permute({0, 0}); });
  expect_error("permute of too few", kInvalid, [&] { x.permute({0}); });
  expect_error("squeeze of a size 2", kInvalid, [&] { x.squeeze(0); });
  expect_error("as_strided past the end", kInvalid, [&] { x.as_strided({7}, {1}, 0); });
  expect_error("as_strided before the start", kInvalid, [&] { x.as_strided({2}, {-1}, 0); });
  expect_error("size of an axis", kInvalid, [&] { x.size(2); });
  expect_working(device);
}

void types_are_checked(const Device& device) {
  const Tensor x = ones({2}, device);
  expect_error("bitwise_and of float32", kInvalid, [&] { bitwise_and(x, x); }, {"bitwise_and", "float32"});
  expect_error("shift of float32", kInvalid, [&] { x << 1; }, {"bitwise_left_shift", "float32"});
  expect_error("signbit of int32", kInvalid, [&] { signbit(ones({2}, int32, device)); },
               {"signbit", "int32"});
  expect_error("take with float32 indices", kInvalid, [&] { take(x, x); }, {"take", "float32"});
  const Tensor truths = ones({2, 2}, boolean, device);
  expect_error("matmul of bool", kInvalid, [&] { matmul(truths, truths); }, {"matmul", "bool"});
  expect_error("matmul to bool", kInvalid,
               [&] {
                 matmul(ones({2, 2}, device), ones({2, 2}, device), boolean);
               },
               {"matmul", "bool"});
  expect_error("subtract of bool", kInvalid,
               [&] {
                 const Tensor b = ones({2}, boolean, device);
                 subtract(b, b);
               },
               {"subtract", "bool"});
  expect_error("a number that the type does not hold", kInvalid, [&] { full({2}, 300, uint8, device); },
               {"full", "300", "uint8"});
  expect_error("an operand that the type does not hold", kInvalid, [&] { ones({2}, int8, device) + 1000; },
               {"add", "1000", "int8"});
  expect_error("integers past the type", kInvalid, [&] { integers({2}, 1, 0, 300, uint8, device); },
               {"integers", "299", "uint8"});
  expect_error("data of another type", kInvalid, [&] { x.data<int32_t>(); });
  expect_error("a random draw of int32", kInvalid, [&] { uniform({2}, 1, 0, 1, int32, device); },
               {"uniform", "int32"});
  expect_working(device);
}

void an_undefined_tensor_is_an_error(const Device& device) {
  const Tensor none;
  expect_error("shape", kInvalid, [&] { none.shape(); });
  expect_error("add", kInvalid, [&] { none + ones({2}, device); });
  expect_error("add of two", kInvalid, [&] { add(none, none); });
  expect_error("sum", kInvalid, [&] { sum(none); });
  expect_error("matmul", kInvalid, [&] { matmul(ones({2, 2}, device), none); });
  expect_error("copy_to", kInvalid, [&] { none.copy_to(device); });
  expect_error("add into it", kInvalid, [&] { add_out(none, ones({2}, device), 1); });
  expect_error("concat", kInvalid, [&] { concat({ones({2}, device), none}); });
  expect_error("outer", kInvalid, [&] { outer(ones({2}, device), none); }, {"outer"});
  expect_error("repeat", kInvalid, [&] { repeat(none, 2); }, {"repeat"});
  expect_error("tile", kInvalid, [&] { tile(none, {2}); }, {"tile"});
  expect_error("pad", kInvalid, [&] { pad(none, {1}, {1}); }, {"pad"});
  expect_error("unique_values", kInvalid, [&] { unique_values(none); }, {"unique_values"});
  expect_error("uniform", kInvalid, [&] { uniform_out(none, 1); }, {"uniform"});
  expect_error("bernoulli", kInvalid, [&] { bernoulli_out(none, 1, 0.5); }, {"bernoulli"});
  expect_working(device);
}

void a_null_pointer_is_an_error(const Device& device) {
  const Tensor x = ones({2}, device);
  expect_error("copy_to_host", kInvalid, [&] { x.copy_to_host(nullptr, 8); }, {"copy_to_host", "(2,)"});
  expect_error("copy_from_host", kInvalid, [&] { x.copy_from_host(nullptr, 8); }, {"copy_from_host"});
  expect_error("from_host", kInvalid, [&] { from_host(nullptr, {2}, float32, device); }, {"from_host"});
  require(from_host(nullptr, {0}, float32, device).size() == 0, "nothing cannot be copied from nowhere");
  empty({0}, device).copy_to_host(nullptr, 0);
  expect_working(device);
}

}  // namespace

void add_error_rules(std::vector<Rule>& rules) {
  rules.insert(rules.end(),
               {
                   {"shapes that do not fit are named", shapes_that_do_not_fit_are_named},
                   {"negative and overflowing sizes are errors (M3)", sizes_are_checked},
                   {"axes and indices out of range are errors", axes_and_indices_are_checked},
                   {"types that an operator does not take are named", types_are_checked},
                   {"an undefined tensor is an error everywhere", an_undefined_tensor_is_an_error},
                   {"a null pointer is an error where there are elements", a_null_pointer_is_an_error},
               });
}

}  // namespace backplane::conformance::tensors
