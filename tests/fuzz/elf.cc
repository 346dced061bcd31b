// SPDX-License-Identifier: Apache-2.0
//
// The reader of shared objects: no input makes it read outside the file, hang, or call a file sound that
// names a symbol it does not hold.
#include "loader/elf.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "require.h"

namespace {

constexpr size_t kSymbolBytes = 64;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace backplane::internal;
  const ReadAt read = [=](uint64_t offset, void* to, size_t bytes) {
    if (offset > size || bytes > size - offset) return false;
    if (bytes > 0) std::memcpy(to, data + offset, bytes);
    return true;
  };
  const ElfResult result = read_elf(read, size, {"backplane_plugin", kSymbolBytes, 8});
  require(result.file.symbol_bytes.size() <= kSymbolBytes, "no more bytes than were asked for");
  if (!result.file.exports_symbol) require(result.file.symbol_bytes.empty(), "no bytes without the symbol");
  if (result.file.symbol_text) require(result.file.symbol_text->size() <= size, "text comes from the file");
  for (const auto& name : result.file.needed) require(name.size() <= size, "names come from the file");
  return 0;
}
