// SPDX-License-Identifier: Apache-2.0
//
// The header of .npy files: what is accepted lies inside the file and survives being written and read again.
#include "io/npy_header.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "backplane/error.h"
#include "io/checked_bytes.h"
#include "require.h"

namespace {

using namespace backplane;
using namespace backplane::internal;

void check_written_again(const NpyHeader& header) {
  const std::string text = format_npy_header(header.type, header.shape);
  require(text.size() % 64 == 0, "the data starts at a multiple of 64");
  const auto bytes = std::as_bytes(std::span(text));
  const NpyPreamble preamble = parse_npy_preamble(bytes.first(kNpyPreambleBytes), text.size());
  require(preamble.begin + preamble.size == text.size(), "the header ends where the data starts");
  const NpyHeader again = parse_npy_dictionary(std::string_view(text).substr(preamble.begin));
  require(again.type == header.type && again.shape == header.shape && !again.swap && !again.fortran,
          "what is written is what was read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const NpyPreamble preamble = parse_npy_preamble(bytes.first(std::min(size, kNpyPreambleBytes)), size);
    require(preamble.begin <= size && preamble.size <= size - preamble.begin, "the header lies in the file");
    const NpyHeader header =
        parse_npy_dictionary({reinterpret_cast<const char*>(data) + preamble.begin, preamble.size});
    for (const int64_t each : header.shape) require(each >= 0, "no size is negative");
    check_written_again(header);
    checked_bytes(header.shape, header.type);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::InvalidArgument, "a bad header is InvalidArgument");
  }
  return 0;
}
