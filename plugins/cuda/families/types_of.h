// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_PLUGINS_CUDA_FAMILIES_TYPES_OF_H_
#define BACKPLANE_PLUGINS_CUDA_FAMILIES_TYPES_OF_H_

#include "launch.h"

namespace backplane::cuda::families {

// Whether elements of type `from` may be accumulated in the class of `compute` without being cast to
// `compute` first: the class is the type itself, or integers, which wrap alike whenever they are cut.
inline bool is_direct(DType from, DType compute) noexcept {
  if (from == compute) return true;
  if (is_floating(compute)) return compute == DType::Float32 || compute == DType::Float64;
  return is_integer(compute) && !is_floating(from);
}

}  // namespace backplane::cuda::families

#endif  // BACKPLANE_PLUGINS_CUDA_FAMILIES_TYPES_OF_H_
