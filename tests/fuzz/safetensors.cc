// SPDX-License-Identifier: Apache-2.0
//
// The header of safetensors files: what is accepted covers the file's data without hole or overlap, and
// survives being written and read again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "backplane/error.h"
#include "io/safetensors_header.h"
#include "require.h"

namespace {

using namespace backplane;
using namespace backplane::internal;

void check_written_again(const SafetensorsHeader& header, uint64_t data_bytes) {
  const std::string text = format_safetensors_header(header);
  const uint64_t length = parse_safetensors_length(std::as_bytes(std::span(text)), text.size() + data_bytes);
  require(length + kSafetensorsLengthBytes == text.size(), "the length is that of the header");
  const SafetensorsHeader again =
      parse_safetensors_header(std::string_view(text).substr(kSafetensorsLengthBytes), data_bytes);
  require(again.metadata == header.metadata, "metadata survives");
  require(std::equal(header.tensors.begin(), header.tensors.end(), again.tensors.begin(), again.tensors.end(),
                     [](const auto& a, const auto& b) {
                       return a.first == b.first && a.second.type == b.second.type &&
                              a.second.shape == b.second.shape && a.second.begin == b.second.begin &&
                              a.second.end == b.second.end;
                     }),
          "entries survive");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const uint64_t length = parse_safetensors_length(bytes, size);
    require(length <= size - kSafetensorsLengthBytes, "the header lies in the file");
    const uint64_t data_bytes = size - kSafetensorsLengthBytes - length;
    const SafetensorsHeader header = parse_safetensors_header(
        {reinterpret_cast<const char*>(data) + kSafetensorsLengthBytes, length}, data_bytes);
    uint64_t covered = 0;
    for (const auto& [name, entry] : header.tensors) {
      require(entry.begin <= entry.end && entry.end <= data_bytes, "entries lie in the data");
      covered += entry.end - entry.begin;
    }
    require(covered == data_bytes, "entries cover the data");
    check_written_again(header, data_bytes);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::InvalidArgument, "a bad header is InvalidArgument");
  }
  return 0;
}
