// SPDX-License-Identifier: Apache-2.0
//
// Files: NumPy's .npy and Hugging Face's safetensors, read into and written from tensors on any device.
//
// Everything read is treated as hostile: sizes are checked before memory is allocated, and nothing in a file
// is executed. Errors name the file: NotFound where it, or the folder to save it in, is not there;
// InvalidArgument with what is wrong in it; Unavailable, with the system's reason and errno as the vendor
// code, where the system refuses to read or write it (no permission, disk full). Saving writes a temporary
// file beside the target and renames it, so that an older file survives a full disk whole. All functions
// block until the file's data has passed between it and the device.
#ifndef BACKPLANE_IO_H_
#define BACKPLANE_IO_H_

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backplane/tensor.h"

namespace backplane::inline v0 {

// Versions 1 to 3, either byte order, C or Fortran order (the tensor is contiguous either way), every element
// type of the same name; no pickled objects, no structured or complex types. As in NumPy, bytes after the
// array are not looked at.
BACKPLANE_API Tensor load_npy(const std::filesystem::path& file, const Device& device = {});

// Version 1.0, little endian, C order. bfloat16, which NumPy does not have, is Unimplemented: convert it
// first.
BACKPLANE_API void save_npy(const std::filesystem::path& file, const Tensor& tensor);

struct SafetensorsOptions {
  // Maps the file into memory and wraps the CPU's tensors around it instead of reading it. The file must then
  // neither change nor shrink while any of them lives (a shorter file is a SIGBUS at the next access), and
  // they are read-only.
  bool memory_map = false;
  // Loads only these tensors, if not empty; NotFound when one is not there.
  std::vector<std::string> names = {};
};

struct SafetensorsFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

// Strict: a header of less than 100 MB, known types, every name once, data that covers the rest of the file
// without hole or overlap.
BACKPLANE_API SafetensorsFile load_safetensors(const std::filesystem::path& file, const Device& device = {},
                                               const SafetensorsOptions& options = {});
BACKPLANE_API void save_safetensors(const std::filesystem::path& file,
                                    const std::map<std::string, Tensor>& tensors,
                                    const std::map<std::string, std::string>& metadata = {});

}  // namespace backplane::inline v0

#endif  // BACKPLANE_IO_H_
