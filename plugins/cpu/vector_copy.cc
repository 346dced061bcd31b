// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set; see isa.h for what that forbids.
#include "cpu/vector_copy.h"

#include "cpu/vector.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

// 16 bytes, which every instruction set here can interleave in one instruction; with AVX-512 64 bytes of
// wider elements, of which it can do the same.
#if defined(__AVX512F__)
template <typename T>
constexpr int kSquareBytes = sizeof(T) < 4 ? 16 : 64;
#else
template <typename T>
constexpr int kSquareBytes = 16;
#endif
template <typename T>
constexpr int kSquare = kSquareBytes<T> / static_cast<int>(sizeof(T));
// Elements on a side of what a call for results past the caches handles best: of a buffer of 16 KiB or less,
// or without one as many as one translation buffer has entries for.
template <typename T>
constexpr int64_t kBlock = kSquareBytes<T> == 64 ? 256
                           : sizeof(T) == 1      ? 128
                           : sizeof(T) == 8      ? 32
                                                 : 64;
template <typename T>
struct Quad {
  using type __attribute__((vector_size(kSquareBytes<T>))) = T;
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
#if defined(__AVX512F__)
BACKPLANE_INLINE Quad<uint32_t>::type zip_low(Quad<uint32_t>::type a, Quad<uint32_t>::type b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
BACKPLANE_INLINE Quad<uint32_t>::type zip_high(Quad<uint32_t>::type a, Quad<uint32_t>::type b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
BACKPLANE_INLINE Quad<uint64_t>::type zip_low(Quad<uint64_t>::type a, Quad<uint64_t>::type b) {
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
BACKPLANE_INLINE Quad<uint64_t>::type zip_high(Quad<uint64_t>::type a, Quad<uint64_t>::type b) {
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
#else
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
#endif

// The rows of a square become its columns: log2(n) rounds of interleaving row i with row i + n/2.
template <typename T>
BACKPLANE_INLINE void transpose_rows(typename Quad<T>::type (&rows)[kSquare<T>]) {
  constexpr int n = kSquare<T>;
  typename Quad<T>::type next[n];
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
}

template <typename T, bool kPastCaches = false>
BACKPLANE_INLINE void transpose_square(T* dst, int64_t dst_stride, const T* src, int64_t src_stride) {
  using V = typename Quad<T>::type;
  constexpr int n = kSquare<T>;
  V rows[n];
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) rows[i] = load<V>(src + i * src_stride);
  transpose_rows<T>(rows);
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) {
    if constexpr (kPastCaches) {
      stream_store(dst + i * dst_stride, rows[i]);
    } else {
      store(dst + i * dst_stride, rows[i]);
    }
  }
}

// A square of one cache line on a side, by way of a buffer, so that whole lines are read and written at once:
// rows a power of two apart share a cache set, and would throw each other out.
template <typename T>
void transpose_lines(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, bool streaming) {
  const int64_t n = kSquare<T>;
  const int64_t tile = 64 / static_cast<int64_t>(sizeof(T));
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

// Past the caches, whole squares of a cache line on a side, as registers of a line can do. Squares go along
// rows of the result; those below come meanwhile.
template <typename T>
void transpose_in_registers(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t a_count,
                            int64_t b_count) {
  constexpr int64_t n = kSquare<T>;
  for (int64_t a = 0; a < a_count; a += n) {
    const int64_t ahead = a + n < a_count ? a + n : a;
    for (int64_t b = 0; b < b_count; b += n) {
#pragma GCC unroll 16
      for (int64_t row = b; row < b + n; ++row) __builtin_prefetch(src + row * src_stride + ahead);
      transpose_square<T, true>(dst + a * dst_stride + b, dst_stride, src + b * src_stride + a, src_stride);
    }
  }
}

// Past the caches, a square of several cache lines on a side, by way of a buffer. A few rows at a time are
// read along all the block, so that each line that comes is used up before rows a power of two apart throw it
// out.
template <typename T>
void transpose_in_buffer(T* dst, int64_t dst_stride, const T* src, int64_t src_stride) {
  const int64_t n = kSquare<T>;
  const int64_t side = kBlock<T>;
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

// What transpose_past_caches needs the counts to be multiples of.
template <typename T>
constexpr int64_t kPastUnit = kSquareBytes<T> == 64 ? kSquare<T> : kBlock<T>;

template <typename T>
void transpose_past_caches(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t a_count,
                           int64_t b_count) {
  if constexpr (kSquareBytes<T> == 64) {
    transpose_in_registers(dst, dst_stride, src, src_stride, a_count, b_count);
  } else {
    for (int64_t b = 0; b < b_count; b += kBlock<T>) {
      for (int64_t a = 0; a < a_count; a += kBlock<T>)
        transpose_in_buffer(dst + a * dst_stride + b, dst_stride, src + b * src_stride + a, src_stride);
    }
  }
}

template <typename T>
void transpose(char* dst_bytes, int64_t dst_stride, const char* src_bytes, int64_t src_stride,
               int64_t a_count, int64_t b_count, bool streaming) {
  T* const dst = reinterpret_cast<T*>(dst_bytes);
  const T* const src = reinterpret_cast<const T*>(src_bytes);
  const int64_t tile = 64 / static_cast<int64_t>(sizeof(T));
  const bool aligned =
      (reinterpret_cast<uintptr_t>(dst) | static_cast<uintptr_t>(dst_stride) * sizeof(T)) % 64 == 0;
  const int64_t a_blocks = streaming && aligned ? a_count / kPastUnit<T> * kPastUnit<T> : 0;
  const int64_t b_blocks = streaming && aligned ? b_count / kPastUnit<T> * kPastUnit<T> : 0;
  transpose_past_caches(dst, dst_stride, src, src_stride, a_blocks, b_blocks);
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
    {kBlock<uint8_t>, kBlock<uint16_t>, kBlock<uint32_t>, kBlock<uint64_t>},
    {transpose<uint8_t>, transpose<uint16_t>, transpose<uint32_t>, transpose<uint64_t>},
    {strided<uint8_t>, strided<uint16_t>, strided<uint32_t>, strided<uint64_t>}};

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
