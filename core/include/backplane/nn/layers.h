// SPDX-License-Identifier: Apache-2.0
//
// Layers, with PyTorch's names, parameters, layouts and defaults. Shapes: N batch, C channels, H and W height
// and width. Parameters are made on `options.device` with values from `options.seed`: the same seed gives the
// same layer on every device.
#ifndef BACKPLANE_NN_LAYERS_H_
#define BACKPLANE_NN_LAYERS_H_

#include <array>
#include <atomic>

#include "backplane/nn/module.h"
#include "backplane/ops.h"
#include "backplane/random.h"

namespace backplane::inline v0::nn {

struct ParameterOptions {
  Seed seed = 0;
  DType dtype = float32;
  Device device = {};
};

// x (..., in) -> (..., out). weight (out, in), bias (out,): U(-1/sqrt(in), 1/sqrt(in)).
class BACKPLANE_API Linear : public ModuleOf<Linear> {
 public:
  Linear(int64_t in, int64_t out, bool with_bias = true, const ParameterOptions& options = {});
  Tensor forward(const Tensor& x) const override;
  void visit(const std::string& prefix, const Visitor& visitor) override;
  Tensor weight, bias;
};

#define BACKPLANE_ACTIVATION(Name, function)                               \
  class Name : public ModuleOf<Name> {                                     \
   public:                                                                 \
    Tensor forward(const Tensor& x) const override { return function(x); } \
  };
BACKPLANE_ACTIVATION(ReLU, relu)
BACKPLANE_ACTIVATION(SiLU, silu)
BACKPLANE_ACTIVATION(Sigmoid, sigmoid)
BACKPLANE_ACTIVATION(Tanh, tanh)
#undef BACKPLANE_ACTIVATION

class GELU : public ModuleOf<GELU> {
 public:
  explicit GELU(GeluForm form = GeluForm::Exact) : form_(form) {}
  Tensor forward(const Tensor& x) const override { return gelu(x, form_); }

 private:
  GeluForm form_;
};

class Softmax : public ModuleOf<Softmax> {
 public:
  explicit Softmax(int axis = -1) : axis_(axis) {}
  Tensor forward(const Tensor& x) const override { return softmax(x, axis_); }

 private:
  int axis_;
};

// Along the last dimension. weight ones, bias zeros.
class BACKPLANE_API LayerNorm : public ModuleOf<LayerNorm> {
 public:
  explicit LayerNorm(int64_t size, double epsilon = 1e-5, const ParameterOptions& options = {});
  Tensor forward(const Tensor& x) const override;
  void visit(const std::string& prefix, const Visitor& visitor) override;
  Tensor weight, bias;

 private:
  double epsilon_;
};

// Integer indices of any shape (...) -> (..., width): rows of weight (count, width), N(0, 1).
class BACKPLANE_API Embedding : public ModuleOf<Embedding> {
 public:
  Embedding(int64_t count, int64_t width, const ParameterOptions& options = {});
  Tensor forward(const Tensor& indices) const override;
  void visit(const std::string& prefix, const Visitor& visitor) override;
  Tensor weight;
};

// In training mode each element is 0 with the given probability, and the others are divided by what is left;
// each call draws anew. In evaluation mode, the input itself.
class BACKPLANE_API Dropout : public ModuleOf<Dropout> {
 public:
  explicit Dropout(double probability = 0.5, Seed seed = 0);
  Dropout(const Dropout& other) noexcept;
  Dropout& operator=(const Dropout& other) noexcept;
  Tensor forward(const Tensor& x) const override;
  void train(bool on = true) override { training_ = on; }

 private:
  double probability_;
  Seed seed_;
  bool training_ = false;
  mutable std::atomic<uint64_t> blocks_{0};  // drawn so far
};

class Flatten : public ModuleOf<Flatten> {
 public:
  explicit Flatten(int first = 1, int last = -1) : first_(first), last_(last) {}
  Tensor forward(const Tensor& x) const override { return x.flatten(first_, last_); }

 private:
  int first_, last_;
};

using Pair = std::array<int64_t, 2>;  // height, width

struct Conv2dOptions {
  Pair stride = {1, 1};
  Pair padding = {0, 0};
  Pair dilation = {1, 1};
  int64_t groups = 1;
  bool bias = true;
};

// Cross-correlation: x (N, C, H, W) or (C, H, W). weight (out, in / groups, kernel height, kernel width),
// bias (out,): U(-b, b) with b = 1/sqrt(fan_in).
class BACKPLANE_API Conv2d : public ModuleOf<Conv2d> {
 public:
  Conv2d(int64_t in, int64_t out, Pair kernel, const Conv2dOptions& conv = {},
         const ParameterOptions& options = {});
  Tensor forward(const Tensor& x) const override;
  void visit(const std::string& prefix, const Visitor& visitor) override;
  Tensor weight, bias;

 private:
  Conv2dOptions conv_;
};

// Windows over the last two dimensions; a stride of 0 means the window's size. Padding is -inf for the
// maximum; for the mean it is 0 and counts, as in PyTorch, unless `count_padding` is false. InvalidArgument
// for a padding of more than half of the window.
class BACKPLANE_API MaxPool2d : public ModuleOf<MaxPool2d> {
 public:
  explicit MaxPool2d(Pair window, Pair stride = {0, 0}, Pair padding = {0, 0});
  Tensor forward(const Tensor& x) const override;

 private:
  Pair window_, stride_, padding_;
};

class BACKPLANE_API AvgPool2d : public ModuleOf<AvgPool2d> {
 public:
  explicit AvgPool2d(Pair window, Pair stride = {0, 0}, Pair padding = {0, 0}, bool count_padding = true);
  Tensor forward(const Tensor& x) const override;

 private:
  Pair window_, stride_, padding_;
  bool count_padding_;
};

}  // namespace backplane::inline v0::nn

#endif  // BACKPLANE_NN_LAYERS_H_
