// SPDX-License-Identifier: Apache-2.0
#include "io/checked_bytes.h"

#include <algorithm>
#include <string>

#include "backplane/error.h"

namespace backplane::internal {

uint64_t checked_bytes(const Shape& shape, DType type) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t bytes = size_of(type);
  for (const int64_t size : shape)
    if (__builtin_mul_overflow(bytes, size, &bytes))
      throw Error(ErrorCode::InvalidArgument,
                  "the bytes of shape " + shape.str() + " of " + to_string(type) + " overflow 63 bits");
  return static_cast<uint64_t>(bytes);
}

}  // namespace backplane::internal
