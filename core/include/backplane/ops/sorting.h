// SPDX-License-Identifier: Apache-2.0
//
// Sorting and searching, along one axis. Sorting is stable; NaN of either sign comes last, in both
// directions.
#ifndef BACKPLANE_OPS_SORTING_H_
#define BACKPLANE_OPS_SORTING_H_

#include <utility>

#include "backplane/tensor.h"

namespace backplane::inline v0 {

BACKPLANE_API Tensor sort(const Tensor& x, int axis = -1, bool descending = false);
BACKPLANE_API const Tensor& sort_out(const Tensor& result, const Tensor& x, int axis = -1,
                                     bool descending = false);
BACKPLANE_API Tensor argsort(const Tensor& x, int axis = -1, bool descending = false);  // int64
BACKPLANE_API const Tensor& argsort_out(const Tensor& result, const Tensor& x, int axis = -1,
                                        bool descending = false);

// The k largest (smallest) values in order, and their int64 positions; equal ones by position.
BACKPLANE_API std::pair<Tensor, Tensor> topk(const Tensor& x, int64_t k, int axis = -1, bool largest = true);

enum class Side { Left, Right };
// Where each of `values` would be inserted into the sorted 1-dimensional `sorted`, to keep it sorted: int64.
BACKPLANE_API Tensor searchsorted(const Tensor& sorted, const Tensor& values, Side side = Side::Left);
BACKPLANE_API const Tensor& searchsorted_out(const Tensor& result, const Tensor& sorted, const Tensor& values,
                                             Side side = Side::Left);

// The distinct elements, flattened and sorted; each NaN is distinct. Waits for the count. The second form
// gives counts too.
BACKPLANE_API Tensor unique_values(const Tensor& x);
BACKPLANE_API std::pair<Tensor, Tensor> unique_counts(const Tensor& x);

}  // namespace backplane::inline v0

#endif  // BACKPLANE_OPS_SORTING_H_
