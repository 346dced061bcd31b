// SPDX-License-Identifier: Apache-2.0
//
// Pieces of text and of arithmetic that several families' generators share.
#ifndef BACKPLANE_PLUGINS_OPENCL_GENERATE_H_
#define BACKPLANE_PLUGINS_OPENCL_GENERATE_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "opencl/facts.h"

namespace backplane::opencl {

// Before a loop over independent elements: lets PoCL's compiler vectorise it although the output may be an
// input. Other compilers pass over what they do not know.
inline constexpr char kIndependent[] = "#pragma clang loop vectorize(assume_safety)\n";

std::string joined(std::initializer_list<std::string_view> parts);

// "__attribute__((reqd_work_group_size(n, 1, 1))) __kernel void name("
std::string kernel_head(const char* name, size_t group);

constexpr uint64_t groups_for(uint64_t items, uint64_t each) noexcept { return (items + each - 1) / each; }

// How many elements one work-item of a CPU takes: enough work to be worth a work-item, and enough work-items
// to share them out evenly.
inline int64_t cpu_chunk(int64_t items, uint32_t units) noexcept {
  const int64_t even = items / (int64_t{8} * std::max<uint32_t>(1, units));
  return std::clamp<int64_t>((even + 63) / 64 * 64, 1024, 32768);
}

// Bytes that one work-item of the byte copy takes.
inline constexpr uint64_t kCopyChunk = uint64_t{1} << 17;
std::string copy_bytes_source();

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_GENERATE_H_
