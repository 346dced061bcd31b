// SPDX-License-Identifier: Apache-2.0
//
// Printing. Expected texts are NumPy's, with the device behind them.
#include <limits>
#include <sstream>

#include "tensor/check.h"
#include "tensor/rules.h"

namespace backplane::conformance::tensors {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

void expect_text(const Tensor& x, const std::string& elements, const std::string& rest = "") {
  const std::string want = "tensor(" + elements + ", " + rest + "device=" + x.device().name() + ")";
  require(x.str() == want, "printed\n" + x.str() + "\nwant\n" + want);
}

void tensors_print_like_numpys(const Device& device) {
  expect_text(tensor({{1.f, 2.f}, {3.f, 4.f}}, device), "[[1., 2.],\n        [3., 4.]]");
  expect_text(tensor({1.f, 2.f, 3.5f}, device), "[1. , 2. , 3.5]");
  expect_text(tensor<int64_t>({1, -128, 3}, device), "[   1, -128,    3]");
  expect_text(tensor<int32_t>({1, 2}, device), "[1, 2]", "dtype=int32, ");
  expect_text(tensor<bool>({true, false}, device), "[ True, False]");
  expect_text(tensor(2.5f, device), "2.5");
  expect_text(zeros({2, 1, 2}, device), "[[[0., 0.]],\n\n        [[0., 0.]]]");
  expect_text(tensor({{1.f, 2.f}, {3.f, 4.f}}, device).transpose(), "[[1., 3.],\n        [2., 4.]]");
}

void small_and_large_numbers_print_as_they_are(const Device& device) {
  expect_text(tensor({2e-5f, 1e-6f}, device), "[2.e-05, 1.e-06]");
  expect_text(tensor<int64_t>({425245252}, device), "[425245252]");
  expect_text(tensor<int32_t>({425245252}, device), "[425245252]", "dtype=int32, ");
  expect_text(tensor({0.1f, 1e8f}, device), "[1.e-01, 1.e+08]");
  expect_text(tensor({1.f / 3, -100.f}, device), "[   0.33333334, -100.        ]");
  if (device.supports(float64)) {
    expect_text(tensor({425245252.0}, device), "[425245252.]", "dtype=float64, ");
    expect_text(tensor({0.1 + 0.2, 1e-3}, device), "[0.3  , 0.001]", "dtype=float64, ");
  }
  if (device.supports(float16))
    expect_text(tensor({0.1f, 1 / 3.f}, device).astype(float16), "[0.1   , 0.3333]", "dtype=float16, ");
}

void special_values_print(const Device& device) {
  expect_text(tensor({-0.f, kNaN, kInf}, device), "[-0., nan, inf]");
  expect_text(tensor({kNaN, -kInf}, device), "[ nan, -inf]");
  expect_text(tensor({kNaN, 1.5f}, device), "[nan, 1.5]");
  expect_text(zeros({0}, device), "[]");
  expect_text(zeros({0, 3}, device), "[]", "shape=(0, 3), ");
  expect_text(tensor(-0.f, device), "-0.");
}

void long_tensors_are_cut_short(const Device& device) {
  const std::string here = "device=" + device.name() + ")";
  const auto expect = [](const Tensor& x, const std::string& want) {
    require(x.str() == want, "printed\n" + x.str() + "\nwant\n" + want);
  };
  expect(arange(2000, device),
         "tensor([   0,    1,    2, ..., 1997, 1998, 1999],\n       shape=(2000,), " + here);
  expect(zeros({1001, 2}, device),
         "tensor([[0., 0.],\n        [0., 0.],\n        [0., 0.],\n        ...,\n        [0., 0.],\n"
         "        [0., 0.],\n        [0., 0.]], shape=(1001, 2), " +
             here);
  expect(zeros({1000, 2}, device).slice(0, {0, 3}),
         "tensor([[0., 0.],\n        [0., 0.],\n        [0., 0.]], " + here);
  expect(arange(24, device) * 1000000,
         "tensor([       0,  1000000,  2000000,  3000000,  4000000,  5000000,\n"
         "         6000000,  7000000,  8000000,  9000000, 10000000, 11000000,\n"
         "        12000000, 13000000, 14000000, 15000000, 16000000, 17000000,\n"
         "        18000000, 19000000, 20000000, 21000000, 22000000, 23000000],\n       " +
             here);
  std::ostringstream stream;
  stream << zeros({3}, device) << Tensor();
  require(stream.str() == zeros({3}, device).str() + "tensor(undefined)", "operator<< prints something else");
}

}  // namespace

void add_printing_rules(std::vector<Rule>& rules) {
  rules.insert(rules.end(), {
                                {"tensors print like NumPy's, with their device", tensors_print_like_numpys},
                                {"small and large numbers print as they are (R3)",
                                 small_and_large_numbers_print_as_they_are},
                                {"-0, NaN, infinities, empty tensors print (R3)", special_values_print},
                                {"long tensors are cut short", long_tensors_are_cut_short},
                            });
}

}  // namespace backplane::conformance::tensors
