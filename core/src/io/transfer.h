// SPDX-License-Identifier: Apache-2.0
//
// Moving a tensor's elements between a file and a device, a chunk at a time.
#ifndef BACKPLANE_SRC_IO_TRANSFER_H_
#define BACKPLANE_SRC_IO_TRANSFER_H_

#include <cstdint>
#include <span>

#include "backplane/tensor.h"
#include "io/file.h"

namespace backplane::internal {

// Whether a bool's bytes are all 0 or 1, as kernels expect.
bool are_truth_values(std::span<const std::byte> bytes) noexcept;

// Fills `tensor` (row-major) from the file at `offset`. Bytes of each element are reversed with `swap`; a
// bool other than 0 becomes 1.
void read_elements(const InputFile& file, uint64_t offset, const Tensor& tensor, bool swap);

// Appends the elements in row-major order, little endian.
void write_elements(OutputFile& file, const Tensor& tensor);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_IO_TRANSFER_H_
