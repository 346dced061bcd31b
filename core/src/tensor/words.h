// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_SRC_TENSOR_WORDS_H_
#define BACKPLANE_SRC_TENSOR_WORDS_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "backplane/dtype.h"

namespace backplane::internal {

// The elements as text, all of one width, formatted as numpy/core/arrayprint.py does: floating numbers with
// the fewest digits that give them back, at most 8 of them fractional, points aligned; in scientific notation
// where one is below 1e-4, one is 1e8 or more (1e16, and then in full, where all are whole), or one is more
// than 1000 times another.
std::vector<std::string> format_elements(std::span<const std::byte> elements, DType type);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_TENSOR_WORDS_H_
