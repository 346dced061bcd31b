// SPDX-License-Identifier: Apache-2.0
//
// The header of safetensors files (github.com/huggingface/safetensors, "Format"): 8 bytes of length, little
// endian, then a JSON object that gives every tensor's type, shape and bytes.
#ifndef BACKPLANE_SRC_IO_SAFETENSORS_HEADER_H_
#define BACKPLANE_SRC_IO_SAFETENSORS_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "backplane/dtype.h"
#include "backplane/shape.h"

namespace backplane::internal {

inline constexpr uint64_t kSafetensorsLengthBytes = 8;
inline constexpr uint64_t kSafetensorsHeaderLimit = 100'000'000;  // bytes; a header is smaller

struct SafetensorsEntry {
  DType type = DType::Float32;
  Shape shape;
  uint64_t begin = 0;  // bytes from the end of the header
  uint64_t end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, SafetensorsEntry> tensors;
  std::map<std::string, std::string> metadata;
};

// The header's size from the file's first bytes. InvalidArgument unless it fits a file of `file_size` bytes.
uint64_t parse_safetensors_length(std::span<const std::byte> bytes, uint64_t file_size);

// InvalidArgument unless the text is strictly of the format, no name stands twice, every entry's bytes are
// those of its shape, and the entries cover the `data_bytes` behind the header without hole or overlap.
SafetensorsHeader parse_safetensors_header(std::string_view text, uint64_t data_bytes);

// The length and the header, padded so that data starts at a multiple of 8.
std::string format_safetensors_header(const SafetensorsHeader& header);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_IO_SAFETENSORS_HEADER_H_
