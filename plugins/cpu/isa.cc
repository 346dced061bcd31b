// SPDX-License-Identifier: Apache-2.0
#include "cpu/isa.h"

#include <atomic>
#include <cstring>

namespace backplane::cpu {
namespace {

struct IsaRow {
  const char* option;
  const char* shown;
};

#if defined(__x86_64__)
constexpr IsaRow kRows[] = {{"baseline", "SSE2"}, {"avx2", "AVX2+FMA"}, {"avx512", "AVX-512"}};
#else
constexpr IsaRow kRows[] = {{"baseline", "NEON"}, {"avx2", ""}, {"avx512", ""}};
#endif

Isa detect() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx2 && avx512) return Isa::Avx512;
  if (avx2) return Isa::Avx2;
#endif
  return Isa::Baseline;
}

std::atomic<int> selected{-1};

}  // namespace

Isa best_isa() noexcept {
  static const Isa best = detect();
  return best;
}

Isa active_isa() noexcept {
  const int isa = selected.load(std::memory_order_relaxed);
  return isa < 0 ? best_isa() : static_cast<Isa>(isa);
}

bool has_vnni() noexcept {
#if defined(__x86_64__)
  static const bool found = __builtin_cpu_supports("avx512vnni") != 0;
  return found && active_isa() == Isa::Avx512;
#else
  return false;
#endif
}

bool select_isa(const char* name) noexcept {
  for (int i = 0; i <= static_cast<int>(best_isa()); ++i) {
    if (std::strcmp(kRows[i].option, name) == 0) {
      selected.store(i, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

const char* isa_name(Isa isa) noexcept { return kRows[static_cast<int>(isa)].shown; }

}  // namespace backplane::cpu
