// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set; see isa.h for what that forbids.
// Between arrays and elements that lie apart.
#include "cpu/vector.h"
#include "cpu/vector_loops.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

template <typename T>
void gather(void* out, const void* in, int64_t stride, int64_t n) {
  T* __restrict to = static_cast<T*>(out);
  const T* __restrict from = static_cast<const T*>(in);
  for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
}

template <typename T>
void scatter(void* out, int64_t stride, const void* in, int64_t n) {
  T* __restrict to = static_cast<T*>(out);
  const T* __restrict from = static_cast<const T*>(in);
  for (int64_t i = 0; i < n; ++i) to[i * stride] = from[i];
}

template <typename T>
void fill(void* out, const void* value, int64_t n) {
  T copy;
  __builtin_memcpy(&copy, value, sizeof copy);
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = copy;
}

void stream(void* out, const void* in, int64_t bytes) {
  char* to = static_cast<char*>(out);
  const char* from = static_cast<const char*>(in);
  int64_t head = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(to) & (kVectorBytes - 1));
  if (head > bytes) head = bytes;
  __builtin_memcpy(to, from, static_cast<size_t>(head));
  int64_t i = head;
  for (; i + kVectorBytes <= bytes; i += kVectorBytes) stream_store(to + i, load_bytes(from + i));
  __builtin_memcpy(to + i, from + i, static_cast<size_t>(bytes - i));
}

void fence() { stream_fence(); }

}  // namespace

const StrideTable stride_loops = {{gather<uint8_t>, gather<uint16_t>, gather<uint32_t>, gather<uint64_t>},
                                  {scatter<uint8_t>, scatter<uint16_t>, scatter<uint32_t>, scatter<uint64_t>},
                                  {fill<uint8_t>, fill<uint16_t>, fill<uint32_t>, fill<uint64_t>},
                                  stream,
                                  fence};

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
