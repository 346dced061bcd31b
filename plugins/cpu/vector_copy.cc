// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set; see isa.h for what that forbids.
#include "cpu/vector_copy.h"

#include "cpu/vector.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

// 16 bytes, which every instruction set here can interleave in one instruction. Wider registers cross lanes,
// and the memory is the limit anyhow.
template <typename T>
struct Quad {
  using type __attribute__((vector_size(16))) = T;
};

BACKPLANE_INLINE Quad<uint8_t>::type zip_low(Quad<uint8_t>::type a, Quad<uint8_t>::type b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
BACKPLANE_INLINE Quad<uint8_t>::type zip_high(Quad<uint8_t>::type a, Quad<uint8_t>::type b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
BACKPLANE_INLINE Quad<uint16_t>::type zip_low(Quad<uint16_t>::type a, Quad<uint16_t>::type b) {
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
BACKPLANE_INLINE Quad<uint16_t>::type zip_high(Quad<uint16_t>::type a, Quad<uint16_t>::type b) {
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
BACKPLANE_INLINE Quad<uint32_t>::type zip_low(Quad<uint32_t>::type a, Quad<uint32_t>::type b) {
  return __builtin_shufflevector(a, b, 0, 4, 1, 5);
}
BACKPLANE_INLINE Quad<uint32_t>::type zip_high(Quad<uint32_t>::type a, Quad<uint32_t>::type b) {
  return __builtin_shufflevector(a, b, 2, 6, 3, 7);
}
BACKPLANE_INLINE Quad<uint64_t>::type zip_low(Quad<uint64_t>::type a, Quad<uint64_t>::type b) {
  return __builtin_shufflevector(a, b, 0, 2);
}
BACKPLANE_INLINE Quad<uint64_t>::type zip_high(Quad<uint64_t>::type a, Quad<uint64_t>::type b) {
  return __builtin_shufflevector(a, b, 1, 3);
}

// A square of 16 bytes on a side: log2(n) rounds of interleaving row i with row i + n/2.
template <typename T>
BACKPLANE_INLINE void transpose_square(T* dst, int64_t dst_stride, const T* src, int64_t src_stride) {
  using V = typename Quad<T>::type;
  const int n = 16 / static_cast<int>(sizeof(T));
  V rows[n];
  V next[n];
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) rows[i] = load<V>(src + i * src_stride);
#pragma GCC unroll 4
  for (int round = 1; round < n; round *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < n / 2; ++i) {
      next[2 * i] = zip_low(rows[i], rows[i + n / 2]);
      next[2 * i + 1] = zip_high(rows[i], rows[i + n / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) rows[i] = next[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) store(dst + i * dst_stride, rows[i]);
}

// A square of one cache line on a side, by way of a buffer, so that whole lines are read and written at once:
// rows a power of two apart share a cache set, and would throw each other out.
template <typename T>
void transpose_lines(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, bool streaming) {
  const int64_t n = 16 / static_cast<int64_t>(sizeof(T));
  const int64_t tile = 4 * n;
  alignas(64) T buffer[tile * tile];
  for (int64_t b = 0; b < tile; b += n) {
#pragma GCC unroll 4
    for (int64_t a = 0; a < tile; a += n) {
      transpose_square(buffer + a * tile + b, tile, src + b * src_stride + a, src_stride);
    }
  }
  for (int64_t a = 0; a < tile; ++a) {
    char* const out = reinterpret_cast<char*>(dst + a * dst_stride);
    const char* const in = reinterpret_cast<const char*>(buffer + a * tile);
#pragma GCC unroll 4
    for (int64_t i = 0; i < 64; i += kVectorBytes) {
      if (streaming) {
        stream_store(out + i, load_bytes(in + i));
      } else {
        store_bytes(out + i, load_bytes(in + i));
      }
    }
  }
}

// A square of several cache lines on a side, past the caches. A few rows at a time are read along all the
// block, so that each line that comes is used up before rows a power of two apart throw it out.
template <typename T>
void transpose_past_caches(T* dst, int64_t dst_stride, const T* src, int64_t src_stride) {
  const int64_t n = 16 / static_cast<int64_t>(sizeof(T));
  const int64_t side = transpose_block(sizeof(T));
  const int64_t line = 64 / static_cast<int64_t>(sizeof(T));
  alignas(64) T buffer[side * side];
  for (int64_t b = 0; b < side; b += n) {
    for (int64_t a = 0; b + n < side && a < side; a += line) {
#pragma GCC unroll 16
      for (int64_t row = n; row < 2 * n; ++row) __builtin_prefetch(src + (b + row) * src_stride + a);
    }
    for (int64_t a = 0; a < side; a += n)
      transpose_square(buffer + a * side + b, side, src + b * src_stride + a, src_stride);
  }
  for (int64_t a = 0; a < side; ++a) {
    char* const out = reinterpret_cast<char*>(dst + a * dst_stride);
    const char* const in = reinterpret_cast<const char*>(buffer + a * side);
#pragma GCC unroll 8
    for (int64_t i = 0; i < side * static_cast<int64_t>(sizeof(T)); i += kVectorBytes)
      stream_store(out + i, load_bytes(in + i));
  }
}

template <typename T>
void transpose(char* dst_bytes, int64_t dst_stride, const char* src_bytes, int64_t src_stride,
               int64_t a_count, int64_t b_count, bool streaming) {
  T* const dst = reinterpret_cast<T*>(dst_bytes);
  const T* const src = reinterpret_cast<const T*>(src_bytes);
  const int64_t tile = 64 / static_cast<int64_t>(sizeof(T));
  const int64_t block = transpose_block(sizeof(T));
  const bool aligned =
      (reinterpret_cast<uintptr_t>(dst) | static_cast<uintptr_t>(dst_stride) * sizeof(T)) % 64 == 0;
  const int64_t a_blocks = streaming && aligned ? a_count / block * block : 0;
  const int64_t b_blocks = streaming && aligned ? b_count / block * block : 0;
  for (int64_t b = 0; b < b_blocks; b += block) {
    for (int64_t a = 0; a < a_blocks; a += block)
      transpose_past_caches(dst + a * dst_stride + b, dst_stride, src + b * src_stride + a, src_stride);
  }
  const int64_t a_whole = a_count / tile * tile;
  const int64_t b_whole = b_count / tile * tile;
  for (int64_t a = 0; a < a_whole; a += tile) {
    for (int64_t b = a < a_blocks ? b_blocks : 0; b < b_whole; b += tile) {
      transpose_lines(dst + a * dst_stride + b, dst_stride, src + b * src_stride + a, src_stride,
                      streaming && aligned);
    }
  }
  for (int64_t a = 0; a < a_count; ++a) {
    for (int64_t b = a < a_whole ? b_whole : 0; b < b_count; ++b)
      dst[a * dst_stride + b] = src[b * src_stride + a];
  }
  if (streaming) stream_fence();
}

template <typename T>
void strided(char* dst_bytes, int64_t dst_stride, const char* src_bytes, int64_t src_stride, int64_t count) {
  T* const dst = reinterpret_cast<T*>(dst_bytes);
  const T* const src = reinterpret_cast<const T*>(src_bytes);
  if (dst_stride == 1 && src_stride == 0) {
    const T value = *src;
    for (int64_t i = 0; i < count; ++i) dst[i] = value;
  } else if (dst_stride == 1 && src_stride == -1) {
    for (int64_t i = 0; i < count; ++i) dst[i] = src[-i];
  } else if (dst_stride == 1 && src_stride == 2) {
    for (int64_t i = 0; i < count; ++i) dst[i] = src[2 * i];
  } else {
    for (int64_t i = 0; i < count; ++i) dst[i * dst_stride] = src[i * src_stride];
  }
}

}  // namespace

const VectorCopy vector_copy = {
    {transpose<uint8_t>, transpose<uint16_t>, transpose<uint32_t>, transpose<uint64_t>},
    {strided<uint8_t>, strided<uint16_t>, strided<uint32_t>, strided<uint64_t>}};

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
