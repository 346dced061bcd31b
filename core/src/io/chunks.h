// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_SRC_IO_CHUNKS_H_
#define BACKPLANE_SRC_IO_CHUNKS_H_

#include <algorithm>
#include <cstdint>

#include "backplane/tensor.h"

namespace backplane::internal {

// Host memory that a file's data passes through.
inline constexpr uint64_t kChunkBytes = 8u << 20;

// Calls function(view) for views of `tensor` of at most kChunkBytes that follow one another in row-major
// order and cover it. Nothing is called for a tensor without elements.
template <typename Function>
void for_each_chunk(const Tensor& tensor, const Function& function) {
  if (tensor.nbytes() == 0) return;
  if (tensor.nbytes() <= kChunkBytes) return function(tensor);
  const int64_t rows = tensor.size(0);
  const uint64_t row_bytes = tensor.nbytes() / static_cast<uint64_t>(rows);
  if (row_bytes > kChunkBytes) {
    for (int64_t row = 0; row < rows; ++row) for_each_chunk(tensor.select(0, row), function);
    return;
  }
  const auto step = static_cast<int64_t>(kChunkBytes / row_bytes);
  for (int64_t row = 0; row < rows; row += step)
    function(tensor.slice(0, {row, std::min(rows, row + step), 1}));
}

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_IO_CHUNKS_H_
