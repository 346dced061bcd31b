// SPDX-License-Identifier: Apache-2.0
//
// What the elementary functions' results should be, from arithmetic with at least twice the digits.
#ifndef BACKPLANE_TESTS_CPU_VECTOR_REFERENCE_H_
#define BACKPLANE_TESTS_CPU_VECTOR_REFERENCE_H_

#include <quadmath.h>

#include <vector>

#include "backplane/plugin/kernels.h"

namespace backplane::cpu_vector_test {

__extension__ typedef __float128 Quad;

// A function of one or two arguments and where it is sampled: uniformly in [low, high] and, with `all`, over
// all exponents too (both signs; the reference says NaN where the function does).
struct Reference {
  plugin::ScalarOp op;
  const char* name;
  int arity;
  Quad (*exact)(Quad a, Quad b);
  double (*close)(double a, double b);  // the same in float64, for float32 results
  double low, high;
  bool all;
  double bound32, bound64;  // units in the last place, float32 and float64
};
const std::vector<Reference>& references();

}  // namespace backplane::cpu_vector_test

#endif  // BACKPLANE_TESTS_CPU_VECTOR_REFERENCE_H_
