// SPDX-License-Identifier: Apache-2.0
#include "opencl/generate.h"

namespace backplane::opencl {

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string kernel_head(const char* name, size_t group) {
  return "__attribute__((reqd_work_group_size(" + std::to_string(group) + ", 1, 1)))\n__kernel void " + name +
         "(";
}

std::string copy_bytes_source() {
  return kernel_head("copy_bytes", 1) +
         "__global uchar* dst, const ulong dst_at, __global const uchar* src, const ulong src_at, const "
         "ulong n) {\n"
         "  const ulong chunk = " +
         std::to_string(kCopyChunk) + "UL;\n" + R"(  const ulong first = get_global_id(0) * chunk;
  const ulong last = min(first + chunk, n);
  dst += dst_at;
  src += src_at;
  ulong i = first;
#if defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
  // Past the caches: the copy is too large to be read back from them.
  if ((((ulong)dst ^ (ulong)src) & 7) == 0) {
    for (; i < last && ((ulong)(dst + i) & 31) != 0; ++i) dst[i] = src[i];
    for (; i + 32 <= last; i += 32)
      __builtin_nontemporal_store(vload4(0, (__global const ulong*)(src + i)), (__global ulong4*)(dst + i));
  }
#endif
#endif
#pragma clang loop vectorize(assume_safety)
  for (; i < last; ++i) dst[i] = src[i];
}
)";
}

}  // namespace backplane::opencl
