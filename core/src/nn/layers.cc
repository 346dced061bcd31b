// SPDX-License-Identifier: Apache-2.0
#include "backplane/nn/layers.h"

#include <fmt/format.h>

#include <cmath>

#include "backplane/nn/init.h"

namespace backplane::inline v0::nn {
namespace {

void require_positive(const char* what, std::initializer_list<int64_t> sizes) {
  for (const int64_t size : sizes)
    if (size <= 0)
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("{}: a size of {}, which must be positive", what, size));
}

// Weight and bias draw from two disjoint parts of one sequence.
Seed seed_of_bias(Seed seed, const Tensor& weight) {
  return {seed.seed, seed.offset + static_cast<uint64_t>(weight.size())};
}

}  // namespace

Linear::Linear(int64_t in, int64_t out, bool with_bias, const ParameterOptions& options) {
  require_positive("Linear", {in, out});
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  weight = uniform({out, in}, options.seed, -bound, bound, options.dtype, options.device);
  if (with_bias)
    bias = uniform({out}, seed_of_bias(options.seed, weight), -bound, bound, options.dtype, options.device);
}

Tensor Linear::forward(const Tensor& x) const { return linear(x, weight, bias); }

void Linear::visit(const std::string& prefix, const Visitor& visitor) {
  visitor(prefix + "weight", weight);
  if (bias.defined()) visitor(prefix + "bias", bias);
}

LayerNorm::LayerNorm(int64_t size, double epsilon, const ParameterOptions& options) : epsilon_(epsilon) {
  require_positive("LayerNorm", {size});
  weight = ones({size}, options.dtype, options.device);
  bias = zeros({size}, options.dtype, options.device);
}

Tensor LayerNorm::forward(const Tensor& x) const { return layer_norm(x, weight, bias, epsilon_); }

void LayerNorm::visit(const std::string& prefix, const Visitor& visitor) {
  visitor(prefix + "weight", weight);
  visitor(prefix + "bias", bias);
}

Embedding::Embedding(int64_t count, int64_t width, const ParameterOptions& options) {
  require_positive("Embedding", {count, width});
  weight = normal({count, width}, options.seed, 0, 1, options.dtype, options.device);
}

Tensor Embedding::forward(const Tensor& indices) const { return take(weight, indices, 0); }

void Embedding::visit(const std::string& prefix, const Visitor& visitor) {
  visitor(prefix + "weight", weight);
}

Dropout::Dropout(double probability, Seed seed) : probability_(probability), seed_(seed) {
  if (!(probability >= 0 && probability <= 1))
    throw Error(ErrorCode::InvalidArgument, fmt::format("Dropout: probability {}", probability));
}

Dropout::Dropout(const Dropout& other) noexcept
    : ModuleOf(other),
      probability_(other.probability_),
      seed_(other.seed_),
      training_(other.training_),
      blocks_(other.blocks_.load()) {}

Dropout& Dropout::operator=(const Dropout& other) noexcept {
  probability_ = other.probability_;
  seed_ = other.seed_;
  training_ = other.training_;
  blocks_ = other.blocks_.load();
  return *this;
}

Tensor Dropout::forward(const Tensor& x) const {
  if (!training_ || probability_ == 0) return x;
  const auto blocks = static_cast<uint64_t>(x.size()) / 4 + 1;
  const Seed seed{seed_.seed, seed_.offset + blocks_.fetch_add(blocks)};
  const Tensor kept = bernoulli(x.shape(), seed, 1 - probability_, x.device());
  const double scale = probability_ == 1 ? 0 : 1 / (1 - probability_);
  return where(kept, x * scale, 0.0);
}

}  // namespace backplane::inline v0::nn
