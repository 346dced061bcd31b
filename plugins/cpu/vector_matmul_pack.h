// SPDX-License-Identifier: Apache-2.0
//
// From matrices, of any type and strides, to panels. Only for vector_matmul.cc.
#ifndef BACKPLANE_CPU_VECTOR_MATMUL_PACK_H_
#define BACKPLANE_CPU_VECTOR_MATMUL_PACK_H_

#include "backplane/kernels/half.h"

#include "cpu/vector.h"
#include "cpu/vector_matmul_tile.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

template <typename M>
struct Number {
  using Memory = M;
  static BACKPLANE_INLINE M load(M value) { return value; }
};
struct Float16 {
  using Memory = uint16_t;
  static BACKPLANE_INLINE float load(uint16_t value) { return bp_load_f16(value); }
};
struct BFloat16 {
  using Memory = uint16_t;
  static BACKPLANE_INLINE float load(uint16_t value) { return bp_load_bf16(value); }
};

// A panel of `count` <= kWidth rows.
template <typename Source, typename T, int kWidth>
BACKPLANE_INLINE void pack_panel(const typename Source::Memory* source, int64_t row_stride, int64_t k_stride,
                                 int64_t count, int64_t k, T* panel) {
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t i = 0; i < kWidth; ++i) {
      panel[p * kWidth + i] =
          i < count ? static_cast<T>(Source::load(source[i * row_stride + p * k_stride])) : static_cast<T>(0);
    }
  }
}

constexpr int64_t kPageBytes = 4096;

// Rows side by side, of the panels' type. Where every position of k is in a page of its own, several panels
// are made at once, of several cache lines of that page.
template <typename T, int kWidth>
BACKPLANE_INLINE void copy_to_panels(const T* source, int64_t k_stride, int64_t count, int64_t k, T* panel) {
  constexpr int64_t kPanels = 4;
  const bool apart = k_stride * static_cast<int64_t>(sizeof(T)) >= kPageBytes;
  for (; apart && count >= kPanels * kWidth; count -= kPanels * kWidth) {
    for (int64_t p = 0; p < k; ++p) {
#pragma GCC unroll 4
      for (int64_t each = 0; each < kPanels; ++each) {
        __builtin_memcpy(panel + (each * k + p) * kWidth, source + p * k_stride + each * kWidth,
                         sizeof(T) * kWidth);
      }
    }
    source += kPanels * kWidth;
    panel += kPanels * kWidth * k;
  }
  for (; count >= kWidth; count -= kWidth) {
    for (int64_t p = 0; p < k; ++p)
      __builtin_memcpy(panel + p * kWidth, source + p * k_stride, sizeof(T) * kWidth);
    source += kWidth;
    panel += kWidth * k;
  }
  for (int64_t p = 0; count > 0 && p < k; ++p) {
    for (int i = 0; i < kWidth; ++i) panel[p * kWidth + i] = 0;
    copy_few<kWidth>(panel + p * kWidth, source + p * k_stride, count);
  }
}

template <typename A, typename B>
constexpr bool kSame = false;
template <typename A>
constexpr bool kSame<A, A> = true;

template <typename Source, typename T, int kWidth>
void pack(const void* memory, int64_t row_stride, int64_t k_stride, int64_t count, int64_t k, void* panels) {
  const auto* source = static_cast<const typename Source::Memory*>(memory);
  auto* panel = static_cast<T*>(panels);
  if constexpr (kSame<Source, Number<T>> && (kWidth & (kWidth - 1)) == 0) {
    if (row_stride == 1) {
      copy_to_panels<T, kWidth>(source, k_stride, count, k, panel);
      return;
    }
  }
  for (; count >= kWidth; count -= kWidth) {
    if (row_stride == 1) {
      pack_panel<Source, T, kWidth>(source, 1, k_stride, kWidth, k, panel);
    } else if (k_stride == 1) {
      pack_panel<Source, T, kWidth>(source, row_stride, 1, kWidth, k, panel);
    } else {
      pack_panel<Source, T, kWidth>(source, row_stride, k_stride, kWidth, k, panel);
    }
    source += kWidth * row_stride;
    panel += kWidth * k;
  }
  if (count > 0) pack_panel<Source, T, kWidth>(source, row_stride, k_stride, count, k, panel);
}

#if defined(__x86_64__)
// The word of one row's two positions.
BACKPLANE_INLINE uint32_t pair_of(int first, int second) {
  return (static_cast<uint32_t>(first) & 0xffffu) | static_cast<uint32_t>(second) << 16;
}

// As `pack`, two positions of k together for each row.
template <typename Source, int kWidth>
void pack_pairs(const void* memory, int64_t row_stride, int64_t k_stride, int64_t count, int64_t k,
                void* panels) {
  const auto* source = static_cast<const Source*>(memory);
  auto* panel = static_cast<uint32_t*>(panels);
  for (; count > 0; count -= kWidth) {
    const int64_t rows = count < kWidth ? count : kWidth;
    for (int64_t p = 0; p < k; p += 2) {
      const Source* const at = source + p * k_stride;
      if (rows == kWidth && row_stride == 1 && p + 1 < k) {
        for (int64_t i = 0; i < kWidth; ++i) panel[i] = pair_of(at[i], at[k_stride + i]);
      } else {
        for (int64_t i = 0; i < rows; ++i)
          panel[i] = pair_of(at[i * row_stride], p + 1 < k ? at[i * row_stride + k_stride] : 0);
        for (int64_t i = rows; i < kWidth; ++i) panel[i] = 0;
      }
      panel += kWidth;
    }
    source += kWidth * row_stride;
  }
}
#endif

}  // namespace
}  // namespace backplane::cpu::BACKPLANE_CPU_ISA

#endif  // BACKPLANE_CPU_VECTOR_MATMUL_PACK_H_
