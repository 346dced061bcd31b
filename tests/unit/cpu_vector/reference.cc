// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <cmath>

namespace backplane::cpu_vector_test {
namespace {

using plugin::ScalarOp;

template <typename T>
struct Math;
template <>
struct Math<Quad> {
  static Quad exp(Quad a) { return expq(a); }
  static Quad log1p(Quad a) { return log1pq(a); }
  static Quad erfc(Quad a) { return erfcq(a); }
  static Quad sqrt(Quad a) { return sqrtq(a); }
  static Quad tanh(Quad a) { return tanhq(a); }
  static Quad pi() { return 4 * atanq(1); }
};
template <>
struct Math<double> {
  static double exp(double a) { return std::exp(a); }
  static double log1p(double a) { return std::log1p(a); }
  static double erfc(double a) { return std::erfc(a); }
  static double sqrt(double a) { return std::sqrt(a); }
  static double tanh(double a) { return std::tanh(a); }
  static constexpr double pi() { return M_PI; }
};

template <typename T>
T sigmoid(T a, T) {
  return a < 0 ? Math<T>::exp(a) / (1 + Math<T>::exp(a)) : 1 / (1 + Math<T>::exp(-a));
}
template <typename T>
T silu(T a, T) {
  return a < -20000 ? T(0) * a : a * sigmoid<T>(a, 0);
}
template <typename T>
T gelu(T a, T) {
  return a < -1000 ? T(0) * -1 : a / 2 * Math<T>::erfc(-a / Math<T>::sqrt(2));
}
template <typename T>
T gelu_tanh(T a, T) {
  return a * sigmoid<T>(2 * Math<T>::sqrt(2 / Math<T>::pi()) * (a + T(0.044715L) * a * a * a), 0);
}
template <typename T>
T softplus(T a, T) {
  return a > 0 ? a + Math<T>::log1p(Math<T>::exp(-a)) : Math<T>::log1p(Math<T>::exp(a));
}
template <typename T>
T logaddexp(T a, T b) {
  const T most = a > b ? a : b, least = a > b ? b : a;
  return most + Math<T>::log1p(Math<T>::exp(least - most));
}
template <typename T>
T rsqrt(T a, T) {
  return 1 / Math<T>::sqrt(a);
}

#define BACKPLANE_FUNCTION(name, low, high, all, bound32, bound64)                                \
  {                                                                                               \
    ScalarOp::name, #name, 1, [](Quad a, Quad) -> Quad { return name##q(a); },                    \
        [](double a, double) -> double { return std::name(a); }, low, high, all, bound32, bound64 \
  }
#define BACKPLANE_FUNCTION_2(name, low, high, all, bound32, bound64)                                   \
  {                                                                                                    \
    ScalarOp::name, #name, 2, [](Quad a, Quad b) -> Quad { return name##q(a, b); },                    \
        [](double a, double b) -> double { return std::name(a, b); }, low, high, all, bound32, bound64 \
  }
#define BACKPLANE_FORMULA(name, arity, low, high, all, bound32, bound64) \
  { ScalarOp::name, #name, arity, name<Quad>, name<double>, low, high, all, bound32, bound64 }

}  // namespace

const std::vector<Reference>& references() {
  static const std::vector<Reference> all = {
      BACKPLANE_FUNCTION(exp, -110, 90, true, 1, 1),
      BACKPLANE_FUNCTION(expm1, -20, 90, true, 1, 1),
      {ScalarOp::exp2, "exp2", 1, [](Quad a, Quad) -> Quad { return powq(2, a); },
       [](double a, double) -> double { return std::exp2(a); }, -152, 130, true, 1, 1},
      BACKPLANE_FUNCTION(log, 0, 4, true, 1, 1),
      BACKPLANE_FUNCTION(log1p, -1, 4, true, 1, 1),
      BACKPLANE_FUNCTION(log2, 0, 4, true, 1, 1),
      BACKPLANE_FUNCTION(log10, 0, 4, true, 1, 1),
      BACKPLANE_FUNCTION(sin, -200, 200, true, 1, 1),
      BACKPLANE_FUNCTION(cos, -200, 200, true, 1, 1),
      BACKPLANE_FUNCTION(tan, -200, 200, true, 1, 1),
      BACKPLANE_FUNCTION(asin, -1, 1, true, 1, 1),
      BACKPLANE_FUNCTION(acos, -1, 1, true, 1, 1),
      BACKPLANE_FUNCTION(atan, -10, 10, true, 1, 1),
      BACKPLANE_FUNCTION(sinh, -90, 90, true, 2.5, 2),
      BACKPLANE_FUNCTION(cosh, -90, 90, true, 2.5, 2),
      BACKPLANE_FUNCTION(tanh, -20, 20, true, 1, 1),
      BACKPLANE_FUNCTION(asinh, -10, 10, true, 1, 1),
      BACKPLANE_FUNCTION(acosh, 1, 10, true, 1, 1),
      BACKPLANE_FUNCTION(atanh, -1, 1, true, 1, 1),
      BACKPLANE_FUNCTION(erf, -6, 6, true, 2, 1),
      BACKPLANE_FUNCTION(erfc, -6, 12, true, 2.5, 1),
      BACKPLANE_FUNCTION(lgamma, 0, 40, false, 1, 1),
      BACKPLANE_FORMULA(rsqrt, 1, 0, 4, true, 1.5, 1.5),
      BACKPLANE_FORMULA(sigmoid, 1, -110, 20, true, 2.5, 2.5),
      BACKPLANE_FORMULA(silu, 1, -80, 20, false, 3.5, 3.5),
      BACKPLANE_FORMULA(gelu, 1, -3, 10, false, 14, 14),
      BACKPLANE_FORMULA(gelu_tanh, 1, -3, 10, false, 18, 18),
      BACKPLANE_FORMULA(softplus, 1, -100, 100, true, 2, 2),
      BACKPLANE_FORMULA(logaddexp, 2, 0, 100, false, 2, 2),
      BACKPLANE_FUNCTION_2(pow, 0, 20, true, 1, 1),
      BACKPLANE_FUNCTION_2(atan2, -10, 10, true, 2, 2),
      BACKPLANE_FUNCTION_2(hypot, -10, 10, true, 1, 1),
  };
  return all;
}

}  // namespace backplane::cpu_vector_test
