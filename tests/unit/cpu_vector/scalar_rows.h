// SPDX-License-Identifier: Apache-2.0
//
// The shared formulas as C++ compiles them for one value at a time: what every vector loop must agree with.
#ifndef BACKPLANE_TESTS_CPU_VECTOR_SCALAR_ROWS_H_
#define BACKPLANE_TESTS_CPU_VECTOR_SCALAR_ROWS_H_

#include <vector>

#include "backplane/plugin/kernels.h"

namespace backplane::cpu_vector_test {

struct ScalarRow {
  plugin::ScalarOp op;
  const char* name;
  plugin::DType type;  // of the arguments, but for the first of `where`
  int arity;
  bool truth;  // the result is Bool
  // Arguments and result in register form.
  void (*apply)(void* out, const void* const* in);
};
const std::vector<ScalarRow>& scalar_rows();

// Conversions, [from][to], in register form.
using CastFunction = void (*)(void* out, const void* in);
CastFunction scalar_cast(plugin::DType from, plugin::DType to);

}  // namespace backplane::cpu_vector_test

#endif  // BACKPLANE_TESTS_CPU_VECTOR_SCALAR_ROWS_H_
