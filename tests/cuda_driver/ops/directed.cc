// SPDX-License-Identifier: Apache-2.0
// Arithmetic in a rounding mode other than the default one, and with flushing or saturation. This file is
// compiled with -frounding-math, and its loads and stores lie between the calls that change the mode.
#include <cfenv>

#include "ops/float_ops.h"
#include "ops/lanes.h"

namespace cuda_double {
namespace {

class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) {
    static constexpr int kModes[] = {FE_TONEAREST, FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(kModes[static_cast<int>(rounding)]);
  }
  ~RoundingScope() { std::fesetround(FE_TONEAREST); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;
};

struct Add {
  template <class T>
  static T apply(T a, T b, T) {
    return a + b;
  }
};
struct Sub {
  template <class T>
  static T apply(T a, T b, T) {
    return a - b;
  }
};
struct Mul {
  template <class T>
  static T apply(T a, T b, T) {
    return a * b;
  }
};
struct Div {
  template <class T>
  static T apply(T a, T b, T) {
    return a / b;
  }
};
struct Fma {
  template <class T>
  static T apply(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct Sqrt {
  template <class T>
  static T apply(T a, T, T) {
    return std::sqrt(a);
  }
};
struct Rcp {
  template <class T>
  static T apply(T a, T, T) {
    return T{1} / a;
  }
};

float flush_if(float value, bool ftz) { return ftz ? flush(value) : value; }
double flush_if(double value, bool) { return value; }

template <class Op, class T>
[[gnu::noinline]] void compute(Warp& warp, const Instr& instr, T* result) {
  const T *a = warp.at<T>(instr.a), *b = warp.at<T>(instr.b), *c = warp.at<T>(instr.c);
  const bool ftz = mode_ftz(instr.mode);
  for (uint32_t rest = warp.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    result[lane] = Op::apply(flush_if(a[lane], ftz), flush_if(b[lane], ftz), flush_if(c[lane], ftz));
  }
}

template <class Op, class T>
void directed(Warp& warp, const Instr& instr) {
  T result[kLanes];
  {
    const RoundingScope scope(mode_rounding(instr.mode));
    compute<Op, T>(warp, instr, result);
  }
  T* dst = warp.at<T>(instr.dst);
  for_lanes(warp.mask, [&](int lane) {
    const T value = flush_if(canonical(result[lane]), mode_ftz(instr.mode));
    dst[lane] = mode_sat(instr.mode) ? saturate(value) : value;
  });
}

struct Row {
  std::string_view name;
  Handler f32, f64;
};
constexpr Row kRows[] = {
    {"add", directed<Add, float>, directed<Add, double>},
    {"sub", directed<Sub, float>, directed<Sub, double>},
    {"mul", directed<Mul, float>, directed<Mul, double>},
    {"div", directed<Div, float>, directed<Div, double>},
    {"fma", directed<Fma, float>, directed<Fma, double>},
    {"sqrt", directed<Sqrt, float>, directed<Sqrt, double>},
    {"rcp", directed<Rcp, float>, directed<Rcp, double>},
};

}  // namespace

Handler directed_handler(std::string_view name, bool wide) {
  for (const Row& row : kRows) {
    if (row.name == name) return wide ? row.f64 : row.f32;
  }
  return nullptr;
}

}  // namespace cuda_double
