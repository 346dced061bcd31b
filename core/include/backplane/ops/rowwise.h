// SPDX-License-Identifier: Apache-2.0
//
// Operators on whole rows: normalisations along one dimension, computed in float32 or better. Integers give
// float32.
#ifndef BACKPLANE_OPS_ROWWISE_H_
#define BACKPLANE_OPS_ROWWISE_H_

#include "backplane/tensor.h"

namespace backplane::inline v0 {

BACKPLANE_API Tensor softmax(const Tensor& x, int axis = -1);
BACKPLANE_API const Tensor& softmax_out(const Tensor& result, const Tensor& x, int axis = -1);
BACKPLANE_API Tensor log_softmax(const Tensor& x, int axis = -1);
BACKPLANE_API const Tensor& log_softmax_out(const Tensor& result, const Tensor& x, int axis = -1);

// (x - mean) / sqrt(variance + epsilon) * weight + bias along the last dimension; weight and bias (n,) may be
// undefined.
BACKPLANE_API Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                                double epsilon = 1e-5);
BACKPLANE_API const Tensor& layer_norm_out(const Tensor& result, const Tensor& x, const Tensor& weight = {},
                                           const Tensor& bias = {}, double epsilon = 1e-5);

// x / sqrt(mean(x^2) + epsilon) * weight along the last dimension.
BACKPLANE_API Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double epsilon = 1e-6);
BACKPLANE_API const Tensor& rms_norm_out(const Tensor& result, const Tensor& x, const Tensor& weight = {},
                                         double epsilon = 1e-6);

}  // namespace backplane::inline v0

#endif  // BACKPLANE_OPS_ROWWISE_H_
