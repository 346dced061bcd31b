// SPDX-License-Identifier: Apache-2.0
//
// Accumulators as OpenCL C, for reductions, scans and the rows of softmax: a type `acc_t` and the functions
// acc_none(), acc_add(a, x, position), acc_merge(a, b) (b after a) and acc_value(a).
#ifndef BACKPLANE_PLUGINS_OPENCL_ACCUMULATE_H_
#define BACKPLANE_PLUGINS_OPENCL_ACCUMULATE_H_

#include <string>

#include "opencl/types.h"

namespace backplane::opencl {

struct Accumulator {
  std::string text;
  uint32_t size;             // bytes of one acc_t
  plugin::DType value_type;  // of acc_value
};

// Sums of float32 carry their rounding errors along (O. Møller, "Quasi double-precision in floating point
// addition", 1965; D. Knuth's TwoSum), so that the error bound holds whatever the order of addition. Sums and
// products of the half types are kept in float32 and rounded at the end.
Accumulator accumulator(plugin::ReduceOp op, plugin::DType type);

// The same under other names: `prefix` instead of "acc".
std::string renamed(const Accumulator& accumulator, const char* prefix);

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_ACCUMULATE_H_
