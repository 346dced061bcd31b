// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set; see isa.h for what that forbids.
#include "cpu/vector_move.h"

#include "cpu/vector.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

// Bytes from `address` to the next whole register.
int64_t to_alignment(const char* address) {
  return static_cast<int64_t>(-reinterpret_cast<uintptr_t>(address) & (kVectorBytes - 1));
}

void stream(char* dst, const char* src, int64_t bytes) {
  int64_t i = to_alignment(dst);
  if (i > bytes) i = bytes;
  __builtin_memcpy(dst, src, static_cast<size_t>(i));
  for (; i + 4 * kVectorBytes <= bytes; i += 4 * kVectorBytes) {
    __builtin_prefetch(src + i + 1024);
    __builtin_prefetch(src + i + 1024 + 2 * kVectorBytes);
    for (int64_t j = 0; j < 4; ++j) {
      stream_store(dst + i + j * kVectorBytes, load_bytes(src + i + j * kVectorBytes));
    }
  }
  stream_fence();
  __builtin_memcpy(dst + i, src + i, static_cast<size_t>(bytes - i));
}

// The pattern as it continues `shift` bytes in.
uint64_t rotate(uint64_t pattern, int64_t shift) {
  const int bits = static_cast<int>(shift % 8) * 8;
  return bits == 0 ? pattern : pattern >> bits | pattern << (64 - bits);
}

void fill_tail(char* dst, uint64_t pattern, int64_t bytes) {
  for (int64_t i = 0; i < bytes; ++i) dst[i] = static_cast<char>(pattern >> (i % 8 * 8));
}

template <bool kStreaming>
void fill(char* dst, uint64_t pattern, int64_t bytes) {
  int64_t i = to_alignment(dst);
  if (i > bytes) i = bytes;
  fill_tail(dst, pattern, i);
  const Bytes value = broadcast_word(rotate(pattern, i));
  const uint64_t rest = rotate(pattern, i);
  for (; i + kVectorBytes <= bytes; i += kVectorBytes) {
    if (kStreaming) {
      stream_store(dst + i, value);
    } else {
      store_bytes(dst + i, value);
    }
  }
  if (kStreaming) stream_fence();
  fill_tail(dst + i, rest, bytes - i);
}

}  // namespace

const VectorMove vector_move = {stream, fill<false>, fill<true>};

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
