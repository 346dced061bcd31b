// SPDX-License-Identifier: Apache-2.0
#include "opencl/generate.h"

namespace backplane::opencl {

std::string kernel_head(const char* name, size_t group) {
  return "__attribute__((reqd_work_group_size(" + std::to_string(group) + ", 1, 1)))\n__kernel void " + name +
         "(";
}

std::string copy_bytes_source() {
  return kernel_head("copy_bytes", 1) +
         "__global uchar* dst, const ulong dst_at, __global const uchar* src, const ulong src_at, const "
         "ulong n) {\n"
         "  const ulong chunk = " +
         std::to_string(kCopyChunk) +
         "UL;\n"
         "  const ulong first = get_global_id(0) * chunk;\n"
         "  const ulong last = min(first + chunk, n);\n"
         "  dst += dst_at;\n"
         "  src += src_at;\n"
         "  ulong i = first;\n"
         "  for (; i + 64 <= last; i += 64) {\n"
         "    const uchar16 a = vload16(0, src + i), b = vload16(0, src + i + 16);\n"
         "    const uchar16 c = vload16(0, src + i + 32), d = vload16(0, src + i + 48);\n"
         "    vstore16(a, 0, dst + i);\n"
         "    vstore16(b, 0, dst + i + 16);\n"
         "    vstore16(c, 0, dst + i + 32);\n"
         "    vstore16(d, 0, dst + i + 48);\n"
         "  }\n"
         "  for (; i < last; ++i) dst[i] = src[i];\n"
         "}\n";
}

}  // namespace backplane::opencl
