// SPDX-License-Identifier: Apache-2.0
//
// Files written from and read into this device.
#include <unistd.h>

#include <limits>

#include "tensor/check.h"
#include "tensor/rules.h"

namespace backplane::conformance::tensors {
namespace {

namespace fs = std::filesystem;

// A folder of its own, gone at the end.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "backplane-conform-XXXXXX").string();
    require(::mkdtemp(pattern.data()) != nullptr,
            "no folder can be made in " + fs::temp_directory_path().string());
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

Tensor with_random_bits(const Shape& shape, DType type, const Device& device) {
  Numbers numbers(10);
  std::vector<uint64_t> bits(static_cast<size_t>(shape.size()) * size_of(type) / 8 + 1);
  for (uint64_t& word : bits)
    word = type == DType::Bool ? numbers.bits() & 0x0101010101010101u : numbers.bits();
  return from_host(bits.data(), shape, type, device);
}

void npy_keeps_every_bit(const Device& device) {
  const Folder folder;
  for (const DType type : kAllTypes) {
    if (type == bfloat16) continue;
    for (const Shape& shape : awkward_shapes()) {
      const Tensor x = with_random_bits(shape, type, device);
      save_npy(folder / "x.npy", x);
      const Tensor y = load_npy(folder / "x.npy", device);
      require(y.device() == device && y.dtype() == type && y.shape() == shape && bytes_of(y) == bytes_of(x),
              std::string(to_string(type)) + " " + shape.str() + " came back changed");
    }
  }
}

void safetensors_keep_every_bit(const Device& device) {
  const Folder folder;
  std::map<std::string, Tensor> tensors;
  for (const DType type : kAllTypes)
    for (const Shape& shape : awkward_shapes())
      tensors[std::string(to_string(type)) + shape.str()] = with_random_bits(shape, type, device);
  const std::map<std::string, std::string> metadata = {{"format", "pt"}, {"quote\"and\\slash", "\xC3\xA9\n"}};
  save_safetensors(folder / "x.safetensors", tensors, metadata);
  for (const bool memory_map : {false, true}) {
    const SafetensorsFile file = load_safetensors(folder / "x.safetensors", device, {memory_map, {}});
    require(file.metadata == metadata, "the metadata came back changed");
    require(file.tensors.size() == tensors.size(), "another number of tensors came back");
    for (const auto& [name, x] : tensors) {
      const Tensor& y = file.tensors.at(name);
      require(y.device() == device && y.dtype() == x.dtype() && y.shape() == x.shape() &&
                  bytes_of(y) == bytes_of(x),
              name + " came back changed");
    }
  }
}

void views_are_saved_as_they_look(const Device& device) {
  const Folder folder;
  const Tensor x = arange(6, float32, device).reshape({2, 3});
  const std::map<std::string, Tensor> views = {{"transposed", x.transpose()},
                                               {"broadcast", x[0].broadcast_to({4, 3})},
                                               {"flipped", x.flip()},
                                               {"part", x.slice(1, {1, 3})},
                                               {"again", x}};
  save_safetensors(folder / "x.safetensors", views);
  const SafetensorsFile file = load_safetensors(folder / "x.safetensors", device);
  for (const auto& [name, view] : views) {
    expect_same(name, file.tensors.at(name), view);
    save_npy(folder / "x.npy", view);
    expect_same(name + ".npy", load_npy(folder / "x.npy", device), view);
  }
}

void large_tensors_pass_in_chunks(const Device& device) {
  const Folder folder;
  // Rows wider than a chunk, and rows of which several make one.
  for (const Shape& shape : {Shape{3, (5 << 20) / 2 + 1}, Shape{(5 << 20) / 2 + 1, 3}}) {
    const Tensor x = arange(shape.size(), int32, device).reshape(shape);
    save_npy(folder / "x.npy", x.transpose());
    expect_same("a transposed view of 30 MB", load_npy(folder / "x.npy", device), x.transpose());
  }
}

}  // namespace

void add_file_rules(std::vector<Rule>& rules) {
  rules.insert(rules.end(), {
                                {".npy files keep every bit", npy_keeps_every_bit},
                                {"safetensors keep every bit", safetensors_keep_every_bit},
                                {"views are saved as they look (R4)", views_are_saved_as_they_look},
                                {"large tensors pass through files in chunks", large_tensors_pass_in_chunks},
                            });
}

}  // namespace backplane::conformance::tensors
