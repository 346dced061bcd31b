// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_TESTS_CONFORMANCE_TENSOR_COMPARE_H_
#define BACKPLANE_TESTS_CONFORMANCE_TENSOR_COMPARE_H_

#include <string>

#include "backplane/tensor.h"

namespace backplane::conformance::tensors {

// The rule of tests/data/golden/README.md: same type and shape, and |got - want| <= atol + rtol * |want| for
// every element; NaN matches NaN only, an infinity the same infinity only; both tolerances 0 mean exact, with
// +0 equal to -0. The result says what differs first; empty when nothing does.
std::string difference(const Tensor& got, const Tensor& want, double rtol, double atol);

}  // namespace backplane::conformance::tensors

#endif  // BACKPLANE_TESTS_CONFORMANCE_TENSOR_COMPARE_H_
