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

// Whether every value of `from` is one of `compute`, and both are of one class.
inline bool is_widening(DType from, DType compute) noexcept {
  if (from == compute) return true;
  if (is_floating(from)) return compute == DType::Float32 && plugin::size_of(from) == 2;
  return is_integer(from) && is_integer(compute) && is_signed(from) == is_signed(compute) &&
         plugin::size_of(from) < plugin::size_of(compute);
}

}  // namespace backplane::cuda::families

#endif  // BACKPLANE_PLUGINS_CUDA_FAMILIES_TYPES_OF_H_
