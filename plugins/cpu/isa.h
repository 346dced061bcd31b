// SPDX-License-Identifier: Apache-2.0
//
// Which vector instructions the kernels use, chosen once when the plugin loads.
//
// A file of vector loops is compiled once for each instruction set (backplane_cpu_vector_sources in
// CMakeLists.txt) with BACKPLANE_CPU_ISA defined to `baseline`, `avx2` or `avx512`, the namespace that all of
// its code is in. Such a file must define no weak symbol: the linker would keep one copy of, say, an inline
// function, perhaps the AVX-512 one, for everybody. So it includes no C++ library header, calls no inline
// function from outside itself that the compiler may choose not to inline, and keeps its templates in an
// unnamed namespace. It exports one table of function pointers.
#ifndef BACKPLANE_CPU_ISA_H_
#define BACKPLANE_CPU_ISA_H_

namespace backplane::cpu {

enum class Isa { Baseline = 0, Avx2 = 1, Avx512 = 2 };

// The best that this processor, and this build, can do.
Isa best_isa() noexcept;

// What kernels use: the best, or a lower one that the user's option `isa` (BACKPLANE_CPU_ISA) names:
// "baseline", "avx2" or "avx512".
Isa active_isa() noexcept;

// Whether the active set is AVX-512 and the processor has its products of 8-bit integers too.
bool has_vnni() noexcept;

// Called when the backend is created, before any kernel. False, changing nothing, for a name that is unknown
// or beyond best_isa().
bool select_isa(const char* name) noexcept;

// "AVX2+FMA", as properties show it.
const char* isa_name(Isa isa) noexcept;

// Picks the active entry of three.
template <typename T>
const T& choose_isa(const T& baseline, [[maybe_unused]] const T& avx2,
                    [[maybe_unused]] const T& avx512) noexcept {
  switch (active_isa()) {
    case Isa::Avx512:
      return avx512;
    case Isa::Avx2:
      return avx2;
    case Isa::Baseline:
      break;
  }
  return baseline;
}

}  // namespace backplane::cpu

// Declares `extern const Type name;` in the namespace of every instruction set of this build, and
// `const Type& active_name()` that gives the active one. Use inside namespace backplane::cpu.
#if defined(__x86_64__)
#define BACKPLANE_CPU_TABLE(Type, name) \
  namespace baseline {                  \
  extern const Type name;               \
  }                                     \
  namespace avx2 {                      \
  extern const Type name;               \
  }                                     \
  namespace avx512 {                    \
  extern const Type name;               \
  }                                     \
  inline const Type& active_##name() noexcept { return choose_isa(baseline::name, avx2::name, avx512::name); }
#else
#define BACKPLANE_CPU_TABLE(Type, name) \
  namespace baseline {                  \
  extern const Type name;               \
  }                                     \
  inline const Type& active_##name() noexcept { return baseline::name; }
#endif

#endif  // BACKPLANE_CPU_ISA_H_
