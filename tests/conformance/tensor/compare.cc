// SPDX-License-Identifier: Apache-2.0
#include "tensor/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <type_traits>
#include <vector>

namespace backplane::conformance::tensors {
namespace {

bool matches(double got, double want, double rtol, double atol) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return want == got;
  return std::fabs(got - want) <= atol + rtol * std::fabs(want);
}

bool matches(int64_t got, int64_t want, double rtol, double atol) {
  return got == want || matches(static_cast<double>(got), static_cast<double>(want), rtol, atol);
}

bool matches(uint64_t got, uint64_t want, double rtol, double atol) {
  return got == want || matches(static_cast<double>(got), static_cast<double>(want), rtol, atol);
}

// The wider type in which elements are compared: none loses anything.
double wide(float value) { return value; }
double wide(double value) { return value; }
double wide(Half value) { return to_float(value); }
double wide(BFloat16 value) { return to_float(value); }
template <typename T>
auto wide(T value) {
  return static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(value);
}

// Converted here from the raw bytes, so that no conversion of the runtime under test is relied on.
template <typename T>
std::string first_difference(const Tensor& got, const Tensor& want, double rtol, double atol) {
  std::vector<T> left(static_cast<size_t>(got.size())), right(left.size());
  got.copy_to_host(left.data(), got.nbytes());
  want.copy_to_host(right.data(), want.nbytes());
  std::string text;
  size_t count = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    if (matches(wide(left[i]), wide(right[i]), rtol, atol)) continue;
    if (count++ == 0) text = fmt::format("element {} is {}, want {}", i, wide(left[i]), wide(right[i]));
  }
  if (count > 1) text += fmt::format(" ({} of {} elements differ)", count, left.size());
  return text;
}

using Comparison = std::string (*)(const Tensor&, const Tensor&, double, double);
constexpr Comparison kComparisons[plugin::kDTypeCount] = {
    first_difference<uint8_t>,  first_difference<int8_t>,   first_difference<int16_t>,
    first_difference<int32_t>,  first_difference<int64_t>,  first_difference<uint8_t>,
    first_difference<uint16_t>, first_difference<uint32_t>, first_difference<uint64_t>,
    first_difference<Half>,     first_difference<BFloat16>, first_difference<float>,
    first_difference<double>,
};

}  // namespace

std::string difference(const Tensor& got, const Tensor& want, double rtol, double atol) {
  if (got.dtype() != want.dtype() || got.shape() != want.shape())
    return fmt::format("got {} {}, want {} {}", to_string(got.dtype()), got.shape().str(),
                       to_string(want.dtype()), want.shape().str());
  return kComparisons[static_cast<size_t>(got.dtype())](got, want, rtol, atol);
}

}  // namespace backplane::conformance::tensors
