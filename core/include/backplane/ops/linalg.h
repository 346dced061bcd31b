// SPDX-License-Identifier: Apache-2.0
//
// Products. Operands promote to one type; transposed and broadcast views are read where they lie. float16 and
// bfloat16 products are summed in float32 and rounded once; integers wrap.
#ifndef BACKPLANE_OPS_LINALG_H_
#define BACKPLANE_OPS_LINALG_H_

#include <optional>

#include "backplane/tensor.h"

namespace backplane::inline v0 {

// (..., m, k) x (..., k, n) -> (..., m, n), batch dimensions broadcasting; a vector on either side is a row
// or a column whose dimension is dropped again. The result has `type` if given (int8 x int8 -> int32, say),
// else the operands'.
BACKPLANE_API Tensor matmul(const Tensor& a, const Tensor& b, std::optional<DType> type = {});
BACKPLANE_API const Tensor& matmul_out(const Tensor& result, const Tensor& a, const Tensor& b,
                                       std::optional<DType> type = {});

// x (..., in) times the transpose of weight (out, in), plus bias (out,) if defined: PyTorch's layout, one
// kernel.
BACKPLANE_API Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
BACKPLANE_API const Tensor& linear_out(const Tensor& result, const Tensor& x, const Tensor& weight,
                                       const Tensor& bias = {});

BACKPLANE_API Tensor outer(const Tensor& a, const Tensor& b);  // (m,), (n,) -> (m, n)
BACKPLANE_API const Tensor& outer_out(const Tensor& result, const Tensor& a, const Tensor& b);

// Sums over pairs of dimensions: the last `axes` of a with the first `axes` of b, or those listed.
BACKPLANE_API Tensor tensordot(const Tensor& a, const Tensor& b, int axes = 2);
BACKPLANE_API Tensor tensordot(const Tensor& a, const Tensor& b, const Shape& a_axes, const Shape& b_axes);
BACKPLANE_API const Tensor& tensordot_out(const Tensor& result, const Tensor& a, const Tensor& b,
                                          const Shape& a_axes, const Shape& b_axes);

}  // namespace backplane::inline v0

#endif  // BACKPLANE_OPS_LINALG_H_
