// SPDX-License-Identifier: Apache-2.0
//
// A small reader of ELF shared objects. A truncated or foreign object can kill the process inside dlopen, and
// any object's constructors run there: this says beforehand whether a file is sound and what it exports, and
// executes nothing of it. Every offset, size and count in the file is taken for hostile.
#ifndef BACKPLANE_SRC_LOADER_ELF_H_
#define BACKPLANE_SRC_LOADER_ELF_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace backplane::internal {

// Copies `bytes` bytes at `offset` of the file to `to`; false when that fails.
using ReadAt = std::function<bool(uint64_t offset, void* to, size_t bytes)>;

struct ElfFile {
  std::vector<std::string> needed;  // names of the libraries it wants, in order
  std::string soname;               // empty when it has none

  // Whether the data symbol that was asked for is exported, its size, and its first bytes as the file has
  // them (none where it holds none), which relocation and constructors may yet change.
  bool exports_symbol = false;
  uint64_t symbol_size = 0;
  std::vector<uint8_t> symbol_bytes;

  // The string that the pointer at `pointer_offset` in the symbol will point to, where that can be told.
  std::optional<std::string> symbol_text;
};

struct ElfQuery {
  const char* symbol = nullptr;  // null: none
  size_t bytes = 0;
  size_t pointer_offset = 0;
};

struct ElfResult {
  ElfFile file;
  std::string defect;  // empty: a sound ELF64 shared object for this machine
};

ElfResult read_elf(const ReadAt& read, uint64_t file_size, const ElfQuery& query);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_LOADER_ELF_H_
