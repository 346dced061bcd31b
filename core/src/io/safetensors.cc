// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "backplane/io.h"
#include "io/file.h"
#include "io/safetensors_header.h"
#include "io/transfer.h"

namespace backplane::inline v0 {
namespace {

using namespace internal;  // NOLINT: the file's own layer

// Loads entries of one open file.
class Reader {
 public:
  Reader(const InputFile& file, uint64_t data_begin, const Device& device, bool memory_map)
      : file_(file), data_begin_(data_begin), device_(device) {
    const bool host_memory = (device.properties().flags & plugin::kHostMemory) != 0;
    if (memory_map && host_memory) mapping_ = file.map();
  }

  Tensor load(const SafetensorsEntry& entry) const {
    if (mapping_ != nullptr && entry.begin != entry.end) {
      std::byte* data = mapping_->data() + data_begin_ + entry.begin;
      // Kernels expect bools of 0 and 1: others are normalised in a copy.
      if (entry.type != DType::Bool || are_truth_values({data, entry.end - entry.begin}))
        return wrap_host(
            data, entry.shape, entry.type, [keep = mapping_] {}, true, device_);
    }
    const Tensor tensor = empty(entry.shape, entry.type, device_);
    read_elements(file_, data_begin_ + entry.begin, tensor, false);
    return tensor;
  }

 private:
  const InputFile& file_;
  uint64_t data_begin_;
  Device device_;
  std::shared_ptr<Mapping> mapping_;
};

SafetensorsHeader read_header(const InputFile& file, uint64_t* data_begin) {
  std::vector<std::byte> bytes(std::min(file.size(), kSafetensorsLengthBytes));
  file.read(0, bytes);
  const uint64_t length = parse_safetensors_length(bytes, file.size());
  std::string text(length, '\0');
  file.read(kSafetensorsLengthBytes, std::as_writable_bytes(std::span(text)));
  *data_begin = kSafetensorsLengthBytes + length;
  return parse_safetensors_header(text, file.size() - *data_begin);
}

SafetensorsFile load(const std::filesystem::path& path, const Device& device,
                     const SafetensorsOptions& options) {
  const InputFile file(path);
  uint64_t data_begin = 0;
  SafetensorsHeader header = read_header(file, &data_begin);
  for (const std::string& name : options.names)
    if (header.tensors.count(name) == 0)
      throw Error(ErrorCode::NotFound, "no tensor is called '" + name + "'");

  const Reader reader(file, data_begin, device, options.memory_map);
  SafetensorsFile result;
  result.metadata = std::move(header.metadata);
  for (const auto& [name, entry] : header.tensors)
    if (options.names.empty() ||
        std::find(options.names.begin(), options.names.end(), name) != options.names.end())
      result.tensors.emplace(name, reader.load(entry));
  return result;
}

// Widest elements first, so that every tensor is aligned for its type; then by name.
std::vector<const std::pair<const std::string, Tensor>*> file_order(
    const std::map<std::string, Tensor>& tensors) {
  std::vector<const std::pair<const std::string, Tensor>*> order;
  for (const auto& named : tensors) {
    if (!named.second.defined())
      throw Error(ErrorCode::InvalidArgument, "tensor '" + named.first + "' is undefined");
    order.push_back(&named);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return size_of(a->second.dtype()) > size_of(b->second.dtype());
  });
  return order;
}

void save(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
          const std::map<std::string, std::string>& metadata) {
  const auto order = file_order(tensors);
  SafetensorsHeader header;
  header.metadata = metadata;
  uint64_t at = 0;
  for (const auto* named : order) {
    const Tensor& tensor = named->second;
    header.tensors[named->first] = {tensor.dtype(), tensor.shape(), at, at + tensor.nbytes()};
    at += tensor.nbytes();
  }
  const std::string text = format_safetensors_header(header);
  OutputFile output(path);
  output.write(std::as_bytes(std::span(text)));
  for (const auto* named : order) write_elements(output, named->second);
  output.commit();
}

}  // namespace

SafetensorsFile load_safetensors(const std::filesystem::path& file, const Device& device,
                                 const SafetensorsOptions& options) {
  return with_file_named("load_safetensors", file, [&] { return load(file, device, options); });
}

void save_safetensors(const std::filesystem::path& file, const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  with_file_named("save_safetensors", file, [&] { save(file, tensors, metadata); });
}

}  // namespace backplane::inline v0
