// SPDX-License-Identifier: Apache-2.0
//
// Promotion and conversion.
#include <cmath>
#include <cstring>
#include <limits>

#include "tensor/check.h"
#include "tensor/rules.h"

namespace backplane::conformance::tensors {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

struct PromotionRow {
  DType a, b, result;
};
// The array API's tables, and DESIGN where the standard leaves a mix open.
constexpr PromotionRow kPromotions[] = {
    {int8, int8, int8},           {int8, int16, int16},        {int8, int64, int64},
    {uint8, uint16, uint16},      {uint8, int8, int16},        {uint16, int8, int32},
    {uint32, int8, int64},        {uint32, int32, int64},      {uint8, int64, int64},
    {boolean, boolean, boolean},  {boolean, int8, int8},       {boolean, float32, float32},
    {float16, float32, float32},  {float32, float64, float64}, {float16, bfloat16, float32},
    {bfloat16, float32, float32}, {int64, float32, float32},   {int8, float16, float16},
    {uint64, bfloat16, bfloat16}, {int32, float64, float64},
};

void types_promote(const Device& device) {
  for (const PromotionRow& row : kPromotions) {
    if (!device.supports(row.a) || !device.supports(row.b) || !device.supports(row.result)) continue;
    const Tensor a = ones({2}, row.a, device), b = ones({2}, row.b, device);
    for (const Tensor& result : {multiply(a, b), multiply(b, a), maximum(a, b)})
      require(result.dtype() == row.result, std::string(to_string(row.a)) + " with " + to_string(row.b) +
                                                " gave " + to_string(result.dtype()) + ", want " +
                                                to_string(row.result));
  }
}

void scalars_never_widen_within_their_kind(const Device& device) {
  for (const DType type : types_of(device)) {
    const Tensor x = ones({2}, type, device);
    const DType with_integer = type == DType::Bool ? int64 : type;
    if (device.supports(with_integer))
      require((x * 2).dtype() == with_integer,
              std::string(to_string(type)) + " * int gave " + to_string((x * 2).dtype()));
    const DType with_float = is_floating(type) ? type : float32;
    require((x * 2.5).dtype() == with_float,
            std::string(to_string(type)) + " * double gave " + to_string((x * 2.5).dtype()));
    require((2.5f * x).dtype() == with_float, std::string(to_string(type)) + " with a scalar on the left");
  }
  expect_values<uint8_t>("uint8 + 255", tensor<uint8_t>({1, 2}, device) + 255, {0, 1});
}

void integers_divide_to_float32(const Device& device) {
  const Tensor x = tensor<int32_t>({1, 2, 3}, device);
  expect_values<float>("divide", divide(x, 2), {0.5f, 1.f, 1.5f});
  require(divide(x, x).dtype() == float32, "int32 / int32 is not float32");
  require(sqrt(x).dtype() == float32, "sqrt of int32 is not float32");
  require(mean(x).dtype() == float32, "mean of int32 is not float32");
}

template <typename T>
void check_saturation(const Device& device) {
  if (!device.supports(dtype_of<T>())) return;
  using Limits = std::numeric_limits<T>;
  // Just beyond either end; the nearest value of float32 inside is one unit of 2^-24 below.
  const float above = std::ldexp(1.f, Limits::digits), below = std::is_signed_v<T> ? 2 * -above : -1.f;
  const Tensor x = tensor({kNaN, kInf, -kInf, 3e38f, -3e38f, above, below, -0.f, 1.9f, -0.9f}, device);
  const T top = Limits::max(), low = Limits::min();
  expect_values<T>(std::string("float32 to ") + to_string(dtype_of<T>()), x.astype(dtype_of<T>()),
                   {0, top, low, top, low, top, low, 0, 1, 0});
  const float inside = std::nextafter(above, 0.f);
  expect_values<T>("the last value inside", tensor({inside}, device).astype(dtype_of<T>()),
                   {static_cast<T>(inside)});
  if (device.supports(float64))
    expect_values<T>("from float64", x.astype(float64).astype(dtype_of<T>()),
                     {0, top, low, top, low, top, low, 0, 1, 0});
}

void floats_saturate_into_integers(const Device& device) {
  check_saturation<int8_t>(device), check_saturation<int16_t>(device);
  check_saturation<int32_t>(device), check_saturation<int64_t>(device);
  check_saturation<uint8_t>(device), check_saturation<uint16_t>(device);
  check_saturation<uint32_t>(device), check_saturation<uint64_t>(device);
}

// Values as bits of float32, converted, as bits of bfloat16 (N9).
void float32_rounds_to_bfloat16(const Device& device) {
  const std::vector<uint32_t> from = {0x3F808000, 0x3F818000, 0x7F800001, 0x7F7FFFFF,
                                      0x80000000, 0x00000001, 0xFF800000};
  std::vector<float> values(from.size());
  std::memcpy(values.data(), from.data(), from.size() * 4);
  const std::vector<std::byte> bytes = bytes_of(tensor(values, device).astype(bfloat16));
  const std::vector<uint16_t> want = {0x3F80, 0x3F82, 0x7FC0, 0x7F80, 0x8000, 0x0000, 0xFF80};
  for (size_t i = 0; i < want.size(); ++i) {
    uint16_t got;
    std::memcpy(&got, bytes.data() + 2 * i, 2);
    const bool nan = (got & 0x7fff) > 0x7f80;
    require(i == 2 ? nan : got == want[i], "element " + std::to_string(i) + " became " + std::to_string(got) +
                                               ", want " + std::to_string(want[i]));
  }
}

// Every one of the 65536 values survives the way to float32 and back.
void half_types_pass_through_float32(const Device& device) {
  std::vector<uint16_t> bits(65536);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
  for (const DType type : {float16, bfloat16}) {
    if (!device.supports(type)) continue;
    const Tensor x = from_host(bits.data(), {65536}, type, device);
    expect_same(std::string(to_string(type)) + " to float32 and back", x.astype(float32).astype(type), x);
    std::vector<float> want;
    for (const uint16_t each : bits)
      want.push_back(type == float16 ? to_float(Half{each}) : to_float(BFloat16{each}));
    expect_values("to float32", x.astype(float32), want);
  }
}

void small_values_pass_between_all_types(const Device& device) {
  const std::vector<int64_t> values = {0, 1, 1, 0, 1};
  for (const DType from : types_of(device))
    for (const DType to : types_of(device)) {
      const std::string name = std::string(to_string(from)) + " to " + to_string(to);
      const Tensor x = tensor(values, device).astype(from);
      expect_same(name, x.astype(to), tensor(values, device).astype(to));
      require(x.astype(to).to_vector<int64_t>() == values, name + " changed the values");
    }
}

void integers_wrap_into_narrower_ones(const Device& device) {
  const Tensor x =
      tensor<int32_t>({-1, 128, 255, 256, -129, 65536, std::numeric_limits<int32_t>::min()}, device);
  expect_values<int8_t>("int32 to int8", x.astype(int8), {-1, -128, -1, 0, 127, 0, 0});
  expect_values<uint8_t>("int32 to uint8", x.astype(uint8), {255, 128, 255, 0, 127, 0, 0});
  expect_values<uint16_t>("int32 to uint16", x.astype(uint16), {65535, 128, 255, 256, 65407, 0, 0});
  if (device.supports(int64))
    expect_values<int64_t>("int32 to int64", x.astype(int64),
                           {-1, 128, 255, 256, -129, 65536, std::numeric_limits<int32_t>::min()});
}

void truth_is_what_is_not_zero(const Device& device) {
  expect_values<bool>("float32 to bool",
                      tensor({0.f, -0.f, kNaN, 0.25f, -kInf, 1e-45f}, device).astype(boolean),
                      {false, false, true, true, true, true});
  expect_values<bool>("int32 to bool", tensor<int32_t>({0, 256, -1}, device).astype(boolean),
                      {false, true, true});
}

void astype_copies_unless_told_not_to(const Device& device) {
  const Tensor x = ones({3}, device);
  require(!x.astype(float32).shares_memory_with(x), "astype to its own type shares memory");
  require(x.astype(float32, false).is(x), "astype(copy=false) to its own type is another tensor");
}

}  // namespace

void add_type_rules(std::vector<Rule>& rules) {
  rules.insert(
      rules.end(),
      {
          {"types promote as the array API says", types_promote},
          {"a number never widens a tensor within its kind", scalars_never_widen_within_their_kind},
          {"integers divide to float32", integers_divide_to_float32},
          {"floats truncate and saturate into integers, NaN to 0 (N8)", floats_saturate_into_integers},
          {"float32 rounds to bfloat16, ties to even, NaN stays (N9)", float32_rounds_to_bfloat16},
          {"every float16 and bfloat16 survives float32", half_types_pass_through_float32},
          {"small values pass between all types", small_values_pass_between_all_types},
          {"integers wrap into narrower ones", integers_wrap_into_narrower_ones},
          {"everything but zero is true", truth_is_what_is_not_zero},
          {"astype copies unless told not to", astype_copies_unless_told_not_to},
      });
}

}  // namespace backplane::conformance::tensors
