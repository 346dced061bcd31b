// SPDX-License-Identifier: Apache-2.0
//
// The header of NumPy's .npy files, as the format's specification (numpy/lib/format.py) describes it.
#ifndef BACKPLANE_SRC_IO_NPY_HEADER_H_
#define BACKPLANE_SRC_IO_NPY_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "backplane/dtype.h"
#include "backplane/shape.h"

namespace backplane::internal {

struct NpyHeader {
  DType type = DType::Float32;
  bool swap = false;     // elements are big endian
  bool fortran = false;  // column-major
  Shape shape;
};

// Where the dictionary lies in a file.
struct NpyPreamble {
  uint64_t begin = 0;
  uint64_t size = 0;
};

// Magic, version and length stand in this many bytes, or fewer.
inline constexpr size_t kNpyPreambleBytes = 12;

// Reads the first bytes of a file (kNpyPreambleBytes of them, or all where there are fewer).
// InvalidArgument unless the whole header fits a file of `file_size` bytes.
NpyPreamble parse_npy_preamble(std::span<const std::byte> bytes, uint64_t file_size);

// Reads the dictionary. Only a literal with exactly the keys descr, fortran_order and shape passes.
NpyHeader parse_npy_dictionary(std::string_view text);

// Everything in a version 1.0 file that precedes the data.
std::string format_npy_header(DType type, const Shape& shape);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_IO_NPY_HEADER_H_
