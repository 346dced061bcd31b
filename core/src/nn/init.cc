// SPDX-License-Identifier: Apache-2.0
#include "backplane/nn/init.h"

#include <fmt/format.h>

#include <cmath>

namespace backplane::inline v0::nn::init {
namespace {

struct Fans {
  double in, out;
};

Fans fans_of(const Tensor& weight, const char* what) {
  if (weight.rank() < 2)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}: shape {} has fewer than 2 dimensions", what, weight.shape().str()));
  const auto size = static_cast<double>(weight.size());
  const auto per = [&](int axis) {
    return weight.size(axis) == 0 ? 1.0 : size / static_cast<double>(weight.size(axis));
  };
  return {per(0), per(1)};
}

double bounded(double fan) { return fan > 0 ? fan : 1; }

}  // namespace

const Tensor& zeros_(const Tensor& parameter) { return parameter.fill(0); }
const Tensor& ones_(const Tensor& parameter) { return parameter.fill(1); }
const Tensor& constant_(const Tensor& parameter, Scalar value) { return parameter.fill(value); }
const Tensor& uniform_(const Tensor& parameter, Seed seed, double low, double high) {
  return uniform_out(parameter, seed, low, high);
}
const Tensor& normal_(const Tensor& parameter, Seed seed, double mean, double deviation) {
  return normal_out(parameter, seed, mean, deviation);
}

const Tensor& xavier_uniform_(const Tensor& weight, Seed seed, double gain) {
  const Fans fans = fans_of(weight, "xavier_uniform_");
  const double bound = gain * std::sqrt(6 / bounded(fans.in + fans.out));
  return uniform_out(weight, seed, -bound, bound);
}

const Tensor& xavier_normal_(const Tensor& weight, Seed seed, double gain) {
  const Fans fans = fans_of(weight, "xavier_normal_");
  return normal_out(weight, seed, 0, gain * std::sqrt(2 / bounded(fans.in + fans.out)));
}

const Tensor& kaiming_uniform_(const Tensor& weight, Seed seed, double gain) {
  const double bound = gain * std::sqrt(3 / bounded(fans_of(weight, "kaiming_uniform_").in));
  return uniform_out(weight, seed, -bound, bound);
}

const Tensor& kaiming_normal_(const Tensor& weight, Seed seed, double gain) {
  return normal_out(weight, seed, 0, gain / std::sqrt(bounded(fans_of(weight, "kaiming_normal_").in)));
}

}  // namespace backplane::inline v0::nn::init
