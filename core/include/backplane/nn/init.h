// SPDX-License-Identifier: Apache-2.0
//
// Initial values of parameters. Each function writes into the tensor and is a pure function of its shape and
// the seed: the same on every device. `fan_in` of a weight is the product of its dimensions but the first,
// `fan_out` of those but the second, as in PyTorch.
#ifndef BACKPLANE_NN_INIT_H_
#define BACKPLANE_NN_INIT_H_

#include "backplane/random.h"
#include "backplane/tensor.h"

namespace backplane::inline v0::nn::init {

BACKPLANE_API const Tensor& zeros_(const Tensor& parameter);
BACKPLANE_API const Tensor& ones_(const Tensor& parameter);
BACKPLANE_API const Tensor& constant_(const Tensor& parameter, Scalar value);
BACKPLANE_API const Tensor& uniform_(const Tensor& parameter, Seed seed, double low = 0, double high = 1);
BACKPLANE_API const Tensor& normal_(const Tensor& parameter, Seed seed, double mean = 0,
                                    double deviation = 1);

// U(-b, b), b = gain * sqrt(6 / (fan_in + fan_out)): Glorot and Bengio, AISTATS 2010.
BACKPLANE_API const Tensor& xavier_uniform_(const Tensor& weight, Seed seed, double gain = 1);
// N(0, gain^2 * 2 / (fan_in + fan_out)).
BACKPLANE_API const Tensor& xavier_normal_(const Tensor& weight, Seed seed, double gain = 1);
// U(-b, b), b = gain * sqrt(3 / fan_in); gain sqrt(2) is He et al.'s for ReLU, ICCV 2015.
BACKPLANE_API const Tensor& kaiming_uniform_(const Tensor& weight, Seed seed,
                                             double gain = 1.4142135623730951);
BACKPLANE_API const Tensor& kaiming_normal_(const Tensor& weight, Seed seed,
                                            double gain = 1.4142135623730951);

}  // namespace backplane::inline v0::nn::init

#endif  // BACKPLANE_NN_INIT_H_
