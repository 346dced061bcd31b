// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "backplane/io.h"
#include "io/checked_bytes.h"
#include "io/file.h"
#include "io/npy_header.h"
#include "io/transfer.h"

namespace backplane::inline v0 {
namespace {

using namespace internal;  // NOLINT: the file's own layer

NpyPreamble read_preamble(const InputFile& file) {
  std::vector<std::byte> bytes(std::min<uint64_t>(file.size(), kNpyPreambleBytes));
  file.read(0, bytes);
  return parse_npy_preamble(bytes, file.size());
}

Shape reversed(const Shape& shape) {
  Shape result = shape;
  std::reverse(result.begin(), result.end());
  return result;
}

// Axes n-1, ..., 1, 0.
Shape reversed_axes(int rank) {
  Shape axes;
  for (int axis = rank - 1; axis >= 0; --axis) axes.push_back(axis);
  return axes;
}

Tensor load(const std::filesystem::path& path, const Device& device) {
  const InputFile file(path);
  const NpyPreamble preamble = read_preamble(file);
  std::string text(preamble.size, '\0');
  file.read(preamble.begin, std::as_writable_bytes(std::span(text)));
  const NpyHeader header = parse_npy_dictionary(text);

  const uint64_t begin = preamble.begin + preamble.size;
  const uint64_t bytes = checked_bytes(header.shape, header.type);
  if (bytes > file.size() - begin)
    throw Error(ErrorCode::InvalidArgument, "shape " + header.shape.str() + " of " + to_string(header.type) +
                                                " needs " + std::to_string(bytes) +
                                                " bytes of data; the file has " +
                                                std::to_string(file.size() - begin));
  const bool columns_first = header.fortran && header.shape.rank() > 1;
  const Tensor tensor = empty(columns_first ? reversed(header.shape) : header.shape, header.type, device);
  read_elements(file, begin, tensor, header.swap);
  return columns_first ? tensor.permute(reversed_axes(tensor.rank())).contiguous() : tensor;
}

}  // namespace

Tensor load_npy(const std::filesystem::path& file, const Device& device) {
  return with_file_named("load_npy", file, [&] { return load(file, device); });
}

void save_npy(const std::filesystem::path& file, const Tensor& tensor) {
  with_file_named("save_npy", file, [&] {
    if (tensor.dtype() == DType::BFloat16)
      throw Error(ErrorCode::Unimplemented,
                  "NumPy has no bfloat16; save astype(float32), or in a safetensors file");
    const std::string header = format_npy_header(tensor.dtype(), tensor.shape());
    OutputFile output(file);
    output.write(std::as_bytes(std::span(header)));
    write_elements(output, tensor);
    output.commit();
  });
}

}  // namespace backplane::inline v0
