// SPDX-License-Identifier: Apache-2.0
//
// Convolution and pooling, from overlapping strided views of the padded input.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "backplane/nn/init.h"
#include "backplane/nn/layers.h"
#include "tensor/tensor_impl.h"

namespace backplane::inline v0::nn {
namespace {

struct Window {
  Pair size, stride, padding, dilation;
};

int64_t positions(const char* what, int64_t length, const Window& w, int i) {
  int64_t reach = 0;
  const bool fits = !__builtin_mul_overflow(w.dilation[i], w.size[i] - 1, &reach) && reach < length;
  if (!fits)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}: a window of {} elements, {} apart, on {} elements (padding included)", what,
                            w.size[i], w.dilation[i], length));
  return (length - reach - 1) / w.stride[i] + 1;
}

void check_window(const char* what, const Window& w) {
  for (int i = 0; i < 2; ++i)
    if (w.size[i] <= 0 || w.stride[i] <= 0 || w.dilation[i] <= 0 || w.padding[i] < 0)
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("{}: window {}, stride {}, dilation {}, padding {}", what, w.size[i],
                              w.stride[i], w.dilation[i], w.padding[i]));
}

// A window that lies on padding alone would have nothing to be the maximum or the mean of.
void check_pooling(const char* what, const Window& w) {
  check_window(what, w);
  for (int i = 0; i < 2; ++i)
    if (w.padding[i] > w.size[i] / 2)
      throw Error(
          ErrorCode::InvalidArgument,
          fmt::format("{}: padding {} is more than half of the window, {}", what, w.padding[i], w.size[i]));
}

Tensor padded(const Tensor& x, const Window& w, Scalar value) {
  if (w.padding[0] == 0 && w.padding[1] == 0) return x;
  Shape around;
  around.resize(x.rank());
  around[x.rank() - 2] = w.padding[0];
  around[x.rank() - 1] = w.padding[1];
  return pad(x, around, around, value);
}

// (..., H, W) -> (..., rows, columns, window height, window width), without a copy.
Tensor windows_of(const char* what, const Tensor& x, const Window& w) {
  const int rank = x.rank();
  Shape shape = x.shape();
  Strides strides = x.strides();
  for (int i = 0; i < 2; ++i) {
    const int axis = rank - 2 + i;
    shape[axis] = positions(what, x.size(axis), w, i);
    shape.push_back(w.size[i]);
    strides.push_back(x.strides()[axis] * w.dilation[i]);
    strides[axis] = x.strides()[axis] * w.stride[i];
  }
  return x.as_strided(shape, strides, x.offset());
}

Pair stride_or_window(Pair stride, Pair window) {
  return {stride[0] == 0 ? window[0] : stride[0], stride[1] == 0 ? window[1] : stride[1]};
}

void check_planes(const char* what, const Tensor& x) {
  if (x.rank() < 2)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}: {} has fewer than 2 dimensions", what, internal::describe(*x.impl())));
}

}  // namespace

Conv2d::Conv2d(int64_t in, int64_t out, Pair kernel, const Conv2dOptions& conv,
               const ParameterOptions& options)
    : conv_(conv) {
  check_window("Conv2d", {kernel, conv.stride, conv.padding, conv.dilation});
  if (in <= 0 || out <= 0 || conv.groups <= 0 || in % conv.groups != 0 || out % conv.groups != 0)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("Conv2d: {} groups of {} and {} channels", conv.groups, in, out));
  const Shape shape{out, in / conv.groups, kernel[0], kernel[1]};
  const double bound = 1 / std::sqrt(static_cast<double>(shape.size()) / static_cast<double>(out));
  weight = uniform(shape, options.seed, -bound, bound, options.dtype, options.device);
  const Seed after{options.seed.seed, options.seed.offset + static_cast<uint64_t>(shape.size())};
  if (conv.bias) bias = uniform({out}, after, -bound, bound, options.dtype, options.device);
}

void Conv2d::visit(const std::string& prefix, const Visitor& visitor) {
  visitor(prefix + "weight", weight);
  if (bias.defined()) visitor(prefix + "bias", bias);
}

// Each group's windows become the rows of a matrix, which is multiplied with the group's weights.
Tensor Conv2d::forward(const Tensor& x) const {
  if (x.rank() == 3) return forward(x.expand_dims(0)).squeeze(0);
  const int64_t channels = weight.size(1) * conv_.groups, out = weight.size(0);
  if (x.rank() != 4 || x.size(1) != channels)
    throw Error(ErrorCode::InvalidArgument, fmt::format("Conv2d: input {} for {} channels (N, C, H, W)",
                                                        internal::describe(*x.impl()), channels));
  internal::check_same_device(*x.impl(), *weight.impl(), "Conv2d");
  const Window window{{weight.size(2), weight.size(3)}, conv_.stride, conv_.padding, conv_.dilation};
  const Tensor windows = windows_of("Conv2d", padded(x, window, 0), window).permute({0, 2, 3, 1, 4, 5});
  const int64_t n = windows.size(0), rows = windows.size(1), columns = windows.size(2);
  std::vector<Tensor> results;
  for (int64_t g = 0; g < conv_.groups; ++g) {
    const Slice in_group{g * weight.size(1), (g + 1) * weight.size(1)};
    const Slice out_group{g * out / conv_.groups, (g + 1) * out / conv_.groups};
    const Tensor part = windows.slice(3, in_group)
                            .reshape({n * rows * columns, weight.size(1) * window.size[0] * window.size[1]});
    const Tensor kernels = weight.slice(0, out_group).flatten(1);
    results.push_back(linear(part, kernels, bias.defined() ? bias.slice(0, out_group) : Tensor()));
  }
  const Tensor joined = results.size() == 1 ? results[0] : concat(results, 1);
  return joined.reshape({n, rows, columns, out}).permute({0, 3, 1, 2}).contiguous();
}

MaxPool2d::MaxPool2d(Pair window, Pair stride, Pair padding)
    : window_(window), stride_(stride_or_window(stride, window)), padding_(padding) {
  check_pooling("MaxPool2d", {window_, stride_, padding_, {1, 1}});
}

Tensor MaxPool2d::forward(const Tensor& x) const {
  check_planes("MaxPool2d", x);
  const Window window{window_, stride_, padding_, {1, 1}};
  if (!is_floating(x.dtype()) && (padding_[0] > 0 || padding_[1] > 0))
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("MaxPool2d: padding of {} elements", to_string(x.dtype())));
  const Scalar lowest = -std::numeric_limits<double>::infinity();
  return max(windows_of("MaxPool2d", padded(x, window, lowest), window), {-2, -1});
}

AvgPool2d::AvgPool2d(Pair window, Pair stride, Pair padding, bool count_padding)
    : window_(window),
      stride_(stride_or_window(stride, window)),
      padding_(padding),
      count_padding_(count_padding) {
  check_pooling("AvgPool2d", {window_, stride_, padding_, {1, 1}});
}

Tensor AvgPool2d::forward(const Tensor& x) const {
  check_planes("AvgPool2d", x);
  const Window window{window_, stride_, padding_, {1, 1}};
  const Tensor means = mean(windows_of("AvgPool2d", padded(x, window, 0), window), {-2, -1});
  if (count_padding_ || (padding_[0] == 0 && padding_[1] == 0)) return means;
  // Rescaled by the part of each window that lies on the input.
  const Tensor inside = ones({x.size(-2), x.size(-1)}, means.dtype(), x.device());
  return divide(means, mean(windows_of("AvgPool2d", padded(inside, window, 0), window), {-2, -1}));
}

}  // namespace backplane::inline v0::nn
