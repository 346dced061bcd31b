// SPDX-License-Identifier: Apache-2.0
//
// Reductions and scans, named as in the Python array API. `axes` may be negative; none means all. With
// keepdims the reduced dimensions stay, of size 1. The *_out forms write into a tensor of the result's shape,
// converting to its type. max, min, argmax and argmin of no elements are InvalidArgument; sum of none is 0,
// prod 1, mean NaN. Results are the same bits for every thread count. Sums of float32 obey |error| <= 2
// log2(n) 2^-24 sum|x|.
#ifndef BACKPLANE_OPS_REDUCTION_H_
#define BACKPLANE_OPS_REDUCTION_H_

#include <optional>

#include "backplane/tensor.h"

namespace backplane::inline v0 {

// No axes (all of them), one, or several distinct ones.
class Axes {
 public:
  Axes() noexcept = default;
  Axes(int axis) : axes_{axis} {}                             // NOLINT: implicit on purpose
  Axes(std::initializer_list<int64_t> axes) : axes_(axes) {}  // NOLINT
  explicit Axes(const Shape& axes) noexcept : axes_(axes) {}
  bool all() const noexcept { return axes_.empty(); }
  const Shape& list() const noexcept { return axes_; }

 private:
  Shape axes_;
};

// The result has `type` if given; else integers and bool are summed and multiplied in 64 bits (int64 or
// uint64), floats in their own type.
BACKPLANE_API Tensor sum(const Tensor& x, const Axes& axes = {}, bool keepdims = false,
                         std::optional<DType> type = {});
BACKPLANE_API Tensor prod(const Tensor& x, const Axes& axes = {}, bool keepdims = false,
                          std::optional<DType> type = {});
BACKPLANE_API Tensor max(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
BACKPLANE_API Tensor min(const Tensor& x, const Axes& axes = {}, bool keepdims = false);

// Integers give float32, computed in float64 where the device has it. Nothing overflows or vanishes in
// between.
BACKPLANE_API Tensor mean(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
// Divides by n - correction. NaN when that is not positive.
BACKPLANE_API Tensor var(const Tensor& x, const Axes& axes = {}, bool keepdims = false,
                         double correction = 0);
BACKPLANE_API Tensor std(const Tensor& x, const Axes& axes = {}, bool keepdims = false,
                         double correction = 0);
// Square root of the sum of squares (Frobenius).
BACKPLANE_API Tensor norm(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
BACKPLANE_API Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keepdims = false);

BACKPLANE_API Tensor any(const Tensor& x, const Axes& axes = {}, bool keepdims = false);  // bool
BACKPLANE_API Tensor all(const Tensor& x, const Axes& axes = {}, bool keepdims = false);  // bool

// Position (int64) of the first NaN, else of the first largest (smallest) element; without an axis in the
// flattened tensor.
BACKPLANE_API Tensor argmax(const Tensor& x, std::optional<int> axis = {}, bool keepdims = false);
BACKPLANE_API Tensor argmin(const Tensor& x, std::optional<int> axis = {}, bool keepdims = false);

BACKPLANE_API Tensor cumulative_sum(const Tensor& x, std::optional<int> axis = {},
                                    std::optional<DType> type = {});
BACKPLANE_API Tensor cumulative_prod(const Tensor& x, std::optional<int> axis = {},
                                     std::optional<DType> type = {});

#define BACKPLANE_REDUCTION_OUT(name)                                                                  \
  BACKPLANE_API const Tensor& name##_out(const Tensor& result, const Tensor& x, const Axes& axes = {}, \
                                         bool keepdims = false);
BACKPLANE_REDUCTION_OUT(sum)
BACKPLANE_REDUCTION_OUT(prod)
BACKPLANE_REDUCTION_OUT(max)
BACKPLANE_REDUCTION_OUT(min)
BACKPLANE_REDUCTION_OUT(mean)
BACKPLANE_REDUCTION_OUT(norm)
BACKPLANE_REDUCTION_OUT(logsumexp)
BACKPLANE_REDUCTION_OUT(any)
BACKPLANE_REDUCTION_OUT(all)
#undef BACKPLANE_REDUCTION_OUT
BACKPLANE_API const Tensor& var_out(const Tensor& result, const Tensor& x, const Axes& axes = {},
                                    bool keepdims = false, double correction = 0);
BACKPLANE_API const Tensor& std_out(const Tensor& result, const Tensor& x, const Axes& axes = {},
                                    bool keepdims = false, double correction = 0);
BACKPLANE_API const Tensor& argmax_out(const Tensor& result, const Tensor& x, std::optional<int> axis = {},
                                       bool keepdims = false);
BACKPLANE_API const Tensor& argmin_out(const Tensor& result, const Tensor& x, std::optional<int> axis = {},
                                       bool keepdims = false);
BACKPLANE_API const Tensor& cumulative_sum_out(const Tensor& result, const Tensor& x,
                                               std::optional<int> axis = {});
BACKPLANE_API const Tensor& cumulative_prod_out(const Tensor& result, const Tensor& x,
                                                std::optional<int> axis = {});

}  // namespace backplane::inline v0

#endif  // BACKPLANE_OPS_REDUCTION_H_
