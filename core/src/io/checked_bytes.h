// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_SRC_IO_CHECKED_BYTES_H_
#define BACKPLANE_SRC_IO_CHECKED_BYTES_H_

#include <cstdint>

#include "backplane/dtype.h"
#include "backplane/shape.h"

namespace backplane::internal {

// The product of the sizes and the element's size; 0 where a size is 0. InvalidArgument when that passes 63
// bits.
uint64_t checked_bytes(const Shape& shape, DType type);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_IO_CHECKED_BYTES_H_
