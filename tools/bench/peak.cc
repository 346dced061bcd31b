// SPDX-License-Identifier: Apache-2.0
//
// The multiply-add peak: independent chains, enough of them to hide the instruction's latency, in the widest
// registers that this processor has.
#include <atomic>
#include <cstdint>

#include "machine.h"
#include "machine_limits.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace backplane::bench {
namespace {

constexpr int kChains = 12;
constexpr int64_t kSteps = 4096;

struct Loop {
  float (*run)();
  int lanes;
};

#if defined(__x86_64__)

[[gnu::target("avx512f")]] float run_avx512() {
  __m512 sums[kChains];
  for (auto& sum : sums) sum = _mm512_set1_ps(1.0f);
  const __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(0.001f);
  for (int64_t i = 0; i < kSteps; ++i)
    for (auto& sum : sums) sum = _mm512_fmadd_ps(sum, x, y);
  for (int i = 1; i < kChains; ++i) sums[0] = _mm512_add_ps(sums[0], sums[i]);
  return _mm512_cvtss_f32(sums[0]);
}

[[gnu::target("avx2,fma")]] float run_avx2() {
  __m256 sums[kChains];
  for (auto& sum : sums) sum = _mm256_set1_ps(1.0f);
  const __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(0.001f);
  for (int64_t i = 0; i < kSteps; ++i)
    for (auto& sum : sums) sum = _mm256_fmadd_ps(sum, x, y);
  for (int i = 1; i < kChains; ++i) sums[0] = _mm256_add_ps(sums[0], sums[i]);
  return _mm256_cvtss_f32(sums[0]);
}

// Processors that have no fused instruction multiply and add.
float run_baseline() {
  __m128 sums[kChains];
  for (auto& sum : sums) sum = _mm_set1_ps(1.0f);
  const __m128 x = _mm_set1_ps(0.999f), y = _mm_set1_ps(0.001f);
  for (int64_t i = 0; i < kSteps; ++i)
    for (auto& sum : sums) sum = _mm_add_ps(_mm_mul_ps(sum, x), y);
  for (int i = 1; i < kChains; ++i) sums[0] = _mm_add_ps(sums[0], sums[i]);
  return _mm_cvtss_f32(sums[0]);
}

Loop best_loop() {
  if (__builtin_cpu_supports("avx512f")) return {run_avx512, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {run_avx2, 8};
  return {run_baseline, 4};
}

#elif defined(__aarch64__)

float run_neon() {
  float32x4_t sums[kChains];
  for (auto& sum : sums) sum = vdupq_n_f32(1.0f);
  const float32x4_t x = vdupq_n_f32(0.999f), y = vdupq_n_f32(0.001f);
  for (int64_t i = 0; i < kSteps; ++i)
    for (auto& sum : sums) sum = vfmaq_f32(y, sum, x);
  for (int i = 1; i < kChains; ++i) sums[0] = vaddq_f32(sums[0], sums[i]);
  return vgetq_lane_f32(sums[0], 0);
}

Loop best_loop() { return {run_neon, 4}; }

#endif

}  // namespace

void run_multiply_adds(double operations) {
  static std::atomic<float> kept{0};  // so that the loops are not dropped
  static const Loop loop = best_loop();
  const double each = 2.0 * loop.lanes * kChains * static_cast<double>(kSteps);
  on_all_cores([&](size_t, size_t parts) {
    const auto repeats = static_cast<int64_t>(operations / each / static_cast<double>(parts)) + 1;
    float sum = 0;
    for (int64_t i = 0; i < repeats; ++i) sum += loop.run();
    kept.store(sum, std::memory_order_relaxed);
  });
}

double multiply_add_peak(const Effort& effort) {
  constexpr double kOperations = 1e9;
  const Timing time = measure([] { run_multiply_adds(kOperations); }, [] {}, effort);
  return kOperations / time.seconds / 1e9;
}

}  // namespace backplane::bench
