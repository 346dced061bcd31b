// SPDX-License-Identifier: Apache-2.0
//
// Operators that move elements: joining, splitting, indexing, padding. Free forms of Tensor's views stand
// here too, under the array API's names. Indices may be int32 or int64, negative ones count from the end; one
// out of range touches no memory outside its tensor and surfaces as InvalidArgument, naming the operator, at
// the next read or synchronise of the result.
#ifndef BACKPLANE_OPS_MANIPULATION_H_
#define BACKPLANE_OPS_MANIPULATION_H_

#include <optional>
#include <vector>

#include "backplane/ops/elementwise.h"
#include "backplane/tensor.h"

namespace backplane::inline v0 {

// Views.
BACKPLANE_API Tensor permute_dims(const Tensor& x, const Shape& axes);
BACKPLANE_API Tensor reshape(const Tensor& x, const Shape& shape);
BACKPLANE_API Tensor broadcast_to(const Tensor& x, const Shape& shape);
BACKPLANE_API std::vector<Tensor> broadcast_arrays(const std::vector<Tensor>& tensors);
BACKPLANE_API Tensor expand_dims(const Tensor& x, int axis);
BACKPLANE_API Tensor squeeze(const Tensor& x, std::optional<int> axis = {});
BACKPLANE_API Tensor flip(const Tensor& x, std::optional<int> axis = {});
BACKPLANE_API Tensor moveaxis(const Tensor& x, int from, int to);
// Parts of the given number, or of the given sizes, along an axis; views. InvalidArgument unless they fit
// exactly.
BACKPLANE_API std::vector<Tensor> split(const Tensor& x, int parts, int axis = 0);
BACKPLANE_API std::vector<Tensor> split(const Tensor& x, const Shape& sizes, int axis = 0);
BACKPLANE_API std::vector<Tensor> unstack(const Tensor& x, int axis = 0);

// Joining: types promote.
BACKPLANE_API Tensor concat(const std::vector<Tensor>& tensors, int axis = 0);
BACKPLANE_API const Tensor& concat_out(const Tensor& result, const std::vector<Tensor>& tensors,
                                       int axis = 0);
BACKPLANE_API Tensor stack(const std::vector<Tensor>& tensors, int axis = 0);
BACKPLANE_API const Tensor& stack_out(const Tensor& result, const std::vector<Tensor>& tensors, int axis = 0);

BACKPLANE_API Tensor roll(const Tensor& x, const Shape& shift,
                          const Shape& axes = {});  // flattened without axes
BACKPLANE_API Tensor repeat(const Tensor& x, int64_t repeats,
                            std::optional<int> axis = {});  // flattened without axis
BACKPLANE_API Tensor tile(const Tensor& x, const Shape& repetitions);
// `before` and `after` give one count a dimension; the new elements have `value`.
BACKPLANE_API Tensor pad(const Tensor& x, const Shape& before, const Shape& after, Scalar value = 0);
BACKPLANE_API const Tensor& roll_out(const Tensor& result, const Tensor& x, const Shape& shift,
                                     const Shape& axes = {});
BACKPLANE_API const Tensor& repeat_out(const Tensor& result, const Tensor& x, int64_t repeats,
                                       std::optional<int> axis = {});
BACKPLANE_API const Tensor& tile_out(const Tensor& result, const Tensor& x, const Shape& repetitions);
BACKPLANE_API const Tensor& pad_out(const Tensor& result, const Tensor& x, const Shape& before,
                                    const Shape& after, Scalar value = 0);

// Lower and upper triangles of the last two dimensions, the rest zero; k shifts the diagonal to the right.
BACKPLANE_API Tensor tril(const Tensor& x, int k = 0);
BACKPLANE_API const Tensor& tril_out(const Tensor& result, const Tensor& x, int k = 0);
BACKPLANE_API Tensor triu(const Tensor& x, int k = 0);
BACKPLANE_API const Tensor& triu_out(const Tensor& result, const Tensor& x, int k = 0);

// Elements at `indices` along an axis. take: indices of any shape, which replaces the axis. take_along_axis:
// indices of x's rank, broadcasting but along the axis.
BACKPLANE_API Tensor take(const Tensor& x, const Tensor& indices, int axis = 0);
BACKPLANE_API const Tensor& take_out(const Tensor& result, const Tensor& x, const Tensor& indices,
                                     int axis = 0);
BACKPLANE_API Tensor take_along_axis(const Tensor& x, const Tensor& indices, int axis = -1);
BACKPLANE_API const Tensor& take_along_axis_out(const Tensor& result, const Tensor& x, const Tensor& indices,
                                                int axis = -1);

// A copy of x with values written at `indices` along an axis (shapes as for take_along_axis; values broadcast
// to the indices); of several writes to one place the last, in row-major order of the indices, wins. scatter_
// writes into x itself.
BACKPLANE_API Tensor scatter(const Tensor& x, const Tensor& indices, const Operand& values, int axis = -1);
BACKPLANE_API const Tensor& scatter_(const Tensor& x, const Tensor& indices, const Operand& values,
                                     int axis = -1);
BACKPLANE_API const Tensor& scatter_out(const Tensor& result, const Tensor& x, const Tensor& indices,
                                        const Operand& values, int axis = -1);

// x[mask]: the elements where a bool mask, of x's leading dimensions, is true. Waits for the count.
BACKPLANE_API Tensor index(const Tensor& x, const Tensor& mask);
// One int64 tensor a dimension with the coordinates of the elements that are not zero, in row-major order.
// Waits for the count.
BACKPLANE_API std::vector<Tensor> nonzero(const Tensor& x);

}  // namespace backplane::inline v0

#endif  // BACKPLANE_OPS_MANIPULATION_H_
