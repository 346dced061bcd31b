// SPDX-License-Identifier: Apache-2.0
#include "io/transfer.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "io/chunks.h"

namespace backplane::internal {

static_assert(std::endian::native == std::endian::little, "files hold little-endian elements");

bool are_truth_values(std::span<const std::byte> bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b <= std::byte{1}; });
}

namespace {

void reverse_elements(std::span<std::byte> bytes, size_t element) {
  for (auto at = bytes.begin(); at != bytes.end(); at += static_cast<std::ptrdiff_t>(element))
    std::reverse(at, at + static_cast<std::ptrdiff_t>(element));
}

void make_truth_values(std::span<std::byte> bytes) {
  for (std::byte& b : bytes) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
}

}  // namespace

void read_elements(const InputFile& file, uint64_t offset, const Tensor& tensor, bool swap) {
  std::vector<std::byte> buffer(std::min(tensor.nbytes(), kChunkBytes));
  for_each_chunk(tensor, [&](const Tensor& chunk) {
    const std::span<std::byte> bytes(buffer.data(), chunk.nbytes());
    file.read(offset, bytes);
    offset += bytes.size();
    if (swap) reverse_elements(bytes, size_of(chunk.dtype()));
    if (chunk.dtype() == DType::Bool) make_truth_values(bytes);
    chunk.copy_from_host(bytes.data(), bytes.size());
  });
}

void write_elements(OutputFile& file, const Tensor& tensor) {
  std::vector<std::byte> buffer(std::min(tensor.nbytes(), kChunkBytes));
  for_each_chunk(tensor, [&](const Tensor& chunk) {
    const std::span<std::byte> bytes(buffer.data(), chunk.nbytes());
    chunk.copy_to_host(bytes.data(), bytes.size());
    file.write(bytes);
  });
}

}  // namespace backplane::internal
