// SPDX-License-Identifier: Apache-2.0
//
// Random numbers against Philox4x32-10 written down here from its publication (Salmon et al., SC11).
#include <array>
#include <cmath>
#include <limits>

#include "tensor/check.h"
#include "tensor/rules.h"

namespace backplane::conformance::tensors {
namespace {

std::array<uint32_t, 4> philox(uint64_t block, uint64_t seed) {
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0};
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c[0], p1 = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

uint32_t word(uint64_t i, Seed seed) { return philox(seed.offset + i / 4, seed.seed)[i % 4]; }

// What the k-th float32 uniform below has at the ends: found by running through seed 0.
constexpr Seed kSmallestFirst{0, 14883995};  // word 0 is 0x00000093
constexpr Seed kLargestThird{0, 2330056};    // word 2 is 0xffffff45

void words_are_those_of_the_publication(const Device& device) {
  const std::array<uint32_t, 4> published = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  std::vector<float> want;
  want.reserve(std::size(published));
  for (const uint32_t each : published) want.push_back(static_cast<float>(each >> 8) * 0x1p-24f);
  expect_values("uniform", uniform({4}, 0, 0, 1, float32, device), want);
}

void uniforms_take_the_words_in_order(const Device& device) {
  for (const Seed seed :
       {Seed(0), Seed(42), Seed(1099511627781), Seed(7, 3), Seed(UINT64_MAX, UINT64_MAX / 2)}) {
    const int64_t count = 4099;
    std::vector<float> want(static_cast<size_t>(count));
    std::vector<double> want_wide(want.size());
    std::vector<float> want_half(want.size()), want_brain(want.size());
    for (uint64_t i = 0; i < want.size(); ++i) {
      want[i] = static_cast<float>(word(i, seed) >> 8) * 0x1p-24f;
      const uint64_t wide = uint64_t{word(2 * i + 1, seed)} << 32 | word(2 * i, seed);
      want_wide[i] = static_cast<double>(wide >> 11) * 0x1p-53;
      want_half[i] = static_cast<float>(word(i, seed) >> 21) * 0x1p-11f;
      want_brain[i] = static_cast<float>(word(i, seed) >> 24) * 0x1p-8f;
    }
    expect_values("float32", uniform({count}, seed, 0, 1, float32, device), want);
    if (device.supports(float64))
      expect_values("float64", uniform({count}, seed, 0, 1, float64, device), want_wide);
    if (device.supports(float16))
      expect_values("float16", uniform({count}, seed, 0, 1, float16, device).astype(float32), want_half);
    if (device.supports(bfloat16))
      expect_values("bfloat16", uniform({count}, seed, 0, 1, bfloat16, device).astype(float32), want_brain);
  }
}

void draws_do_not_depend_on_their_length(const Device& device) {
  const auto check = [&](const char* name, const auto& draw) {
    const Tensor longer = draw(40961);
    expect_same(name, longer.slice(0, {0, 40960}), draw(40960));
    expect_same(name, longer.slice(0, {0, 1}), draw(1));
  };
  check("uniform", [&](int64_t n) { return uniform({n}, 5, 0, 1, float32, device); });
  check("normal", [&](int64_t n) { return normal({n}, 5, 0, 1, float32, device); });
  check("integers", [&](int64_t n) { return integers({n}, 5, -3, 1000, int64, device); });
  check("bernoulli", [&](int64_t n) { return bernoulli({n}, 5, 0.3, device); });
  expect_same("another shape", uniform({3, 5}, 9, 0, 1, float32, device).flatten(),
              uniform({15}, 9, 0, 1, float32, device));
  expect_same("into a strided view", uniform_out(scattered(zeros({33, 7}, device)), 9),
              uniform({33, 7}, 9, 0, 1, float32, device));
  require(uniform({0}, 1, 0, 1, float32, device).size() == 0, "a draw of nothing");
}

void draws_are_equal_on_every_device(const Device& device) {
  const Device first = devices().front();
  if (first == device) throw Skip("nothing comes before the first device");
  const auto check = [&](const char* name, const auto& draw) {
    expect_same(name, draw(device).copy_to(first), draw(first));
  };
  for (const DType type : types_of(device)) {
    if (!is_floating(type)) continue;
    check("uniform", [type](const Device& d) { return uniform({40961}, 11, -2, 5, type, d); });
    check("normal", [type](const Device& d) { return normal({40961}, 11, 1, 3, type, d); });
  }
  check("integers", [](const Device& d) { return integers({40961}, 11, -7, 1000003, int64, d); });
  check("bernoulli", [](const Device& d) { return bernoulli({40961}, 11, 0.7, d); });
  check("permutation", [](const Device& d) { return permutation(5003, 11, d); });
}

void uniforms_stay_below_the_upper_end(const Device& device) {
  expect_scalar("the largest", uniform({3}, kLargestThird, 0, 1, float32, device).select(0, 2), 1 - 0x1p-24f);
  // Every one of these would round to the upper end.
  const float next = std::nextafter(1.f, 2.f);
  expect_same("[1, next after 1)", uniform({1000}, 1, 1, next, float32, device), ones({1000}, device));
  for (const DType type : types_of(device)) {
    if (!is_floating(type)) continue;
    const Tensor x = uniform({100003}, 3, -1, 3, type, device);
    require(all(logical_and(greater_equal(x, -1), less(x, 3))).item<bool>(),
            std::string(to_string(type)) + ": a value is outside [-1, 3)");
    require(all(less(uniform({100003}, 3, 0, 1, type, device), 1)).item<bool>(),
            std::string(to_string(type)) + ": a value is 1");
  }
}

// A width that overflows would give one and the same number.
void uniforms_refuse_what_their_type_does_not_span(const Device& device) {
  const auto refused = [&](DType type, double low, double high) {
    expect_error(to_string(type), ErrorCode::InvalidArgument,
                 [&] { uniform({4}, 1, low, high, type, device); }, {"uniform", to_string(type)});
  };
  refused(float16, 0, 1e5);
  refused(bfloat16, -3e38, 3e38);
  refused(float32, -3e38, 3e38);
  refused(float32, 0, 1e39);
  const Tensor wide = uniform({1000}, 1, -1.7e38, 1.7e38, float32, device);
  require(min(wide).item<float>() < -1e38f && max(wide).item<float>() > 1e38f, "the widest draw is narrow");
  const Tensor half = uniform({1000}, 1, -65504, 65504, float16, device);
  require(min(half).item<float>() < -5e4f && max(half).item<float>() > 5e4f,
          "the widest half draw is narrow");
}

void normals_are_finite_and_normal(const Device& device) {
  for (const DType type : types_of(device)) {
    if (!is_floating(type)) continue;
    for (const Seed seed : {kSmallestFirst, kLargestThird, Seed(0, kSmallestFirst.offset - 4),
                            Seed(0, kSmallestFirst.offset / 2)})
      require(all(isfinite(normal({64}, seed, 0, 1, type, device))).item<bool>(),
              std::string(to_string(type)) + ": a normal is not finite");
  }
  // Five standard errors of each estimate; the draw is always the same, so this never varies.
  const int64_t count = 1 << 20;
  const Tensor x = normal({count}, 2024, 0, 1, float32, device);
  const auto n = static_cast<double>(count);
  require(std::fabs(mean(x).item<double>()) < 5 / std::sqrt(n), "the mean of normals is not 0");
  require(std::fabs(var(x).item<double>() - 1) < 5 * std::sqrt(2 / n), "the variance of normals is not 1");
  require(std::fabs(mean(x * x * x * x).item<double>() - 3) < 5 * std::sqrt(96 / n),
          "the fourth moment of normals is not 3");
  const double inside = mean(less(abs(x), 1).astype(float32)).item<double>();
  require(std::fabs(inside - 0.682689492137) < 5 * std::sqrt(0.2166 / n), "68 % of normals are not within 1");
}

void integers_and_permutations_are_what_they_say(const Device& device) {
  const Tensor x = integers({100003}, 1, -3, 4, int64, device);
  require(min(x).item<int64_t>() == -3 && max(x).item<int64_t>() == 3, "integers do not reach from -3 to 3");
  expect_same("of one value", integers({100}, 1, 5, 6, int64, device), full({100}, 5, int64, device));
  expect_same("sorted permutation", sort(permutation(1001, 3, device)), arange(1001, device));
  const Tensor u = uniform({4099}, 8, 0, 1, float32, device);
  expect_same("bernoulli", bernoulli({4099}, 8, 0.25, device), less(u, 0.25f));
  expect_same("bernoulli of 0", bernoulli({99}, 8, 0, device), zeros({99}, boolean, device));
  expect_same("bernoulli of 1", bernoulli({99}, 8, 1, device), ones({99}, boolean, device));
}

}  // namespace

void add_random_rules(std::vector<Rule>& rules) {
  rules.insert(
      rules.end(),
      {
          {"the first words are the published ones", words_are_those_of_the_publication},
          {"uniforms take Philox's words in order", uniforms_take_the_words_in_order},
          {"a draw does not depend on its length (R1)", draws_do_not_depend_on_their_length},
          {"draws are bit-equal on every device (R1)", draws_are_equal_on_every_device},
          {"uniforms stay below their upper end (R2)", uniforms_stay_below_the_upper_end},
          {"uniforms refuse what their type does not span", uniforms_refuse_what_their_type_does_not_span},
          {"normals are finite, and normal (R2)", normals_are_finite_and_normal},
          {"integers, permutations and bernoulli are what they say",
           integers_and_permutations_are_what_they_say},
      });
}

}  // namespace backplane::conformance::tensors
