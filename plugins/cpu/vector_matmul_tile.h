// SPDX-License-Identifier: Apache-2.0
//
// The inner blocks of a product of packed matrices, as K. Goto and R. van de Geijn describe them (Anatomy of
// High-Performance Matrix Multiplication, 2008): a tile of the product stays in registers while k runs.
// Only for vector_matmul.cc.
#ifndef BACKPLANE_CPU_VECTOR_MATMUL_TILE_H_
#define BACKPLANE_CPU_VECTOR_MATMUL_TILE_H_

#include "cpu/vector.h"
#include "cpu/vector_matmul.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

// A tile: kTileRows rows of two registers. With one register for a left element and two for right ones these
// fill the 16 (AVX-512: 32) registers.
#if defined(__AVX512F__)
constexpr int kTileRows = 12;
#else
constexpr int kTileRows = 6;
#endif
template <typename T>
constexpr int kTileColumns = 2 * static_cast<int>(kLanes<T>);

template <typename V>
BACKPLANE_INLINE V multiply_add(V a, V b, V c) {
  return a * b + c;
}
#if defined(__AVX512F__)
BACKPLANE_INLINE Vector<float> multiply_add(Vector<float> a, Vector<float> b, Vector<float> c) {
  return reinterpret_cast<Vector<float>>(
      _mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
}
BACKPLANE_INLINE Vector<double> multiply_add(Vector<double> a, Vector<double> b, Vector<double> c) {
  return reinterpret_cast<Vector<double>>(_mm512_fmadd_pd(
      reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(b), reinterpret_cast<__m512d>(c)));
}
#elif defined(__AVX2__)
BACKPLANE_INLINE Vector<float> multiply_add(Vector<float> a, Vector<float> b, Vector<float> c) {
  return reinterpret_cast<Vector<float>>(
      _mm256_fmadd_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
}
BACKPLANE_INLINE Vector<double> multiply_add(Vector<double> a, Vector<double> b, Vector<double> c) {
  return reinterpret_cast<Vector<double>>(_mm256_fmadd_pd(
      reinterpret_cast<__m256d>(a), reinterpret_cast<__m256d>(b), reinterpret_cast<__m256d>(c)));
}
#endif

// What a sum is increased by for an element of each factor: their product, or the two products of a pair.
template <typename T>
struct Single {
  using Element = T;
  static constexpr bool kCorrected = false;
  static BACKPLANE_INLINE Vector<T> add(Vector<T> left, Vector<T> right, Vector<T> sum) {
    return multiply_add(left, right, sum);
  }
};

#if defined(__x86_64__)
// Two products of 16-bit factors and their sum, in each lane of 32 bits; exact for factors that had 8 bits.
BACKPLANE_INLINE Vector<uint32_t> multiply_pairs(Vector<uint32_t> a, Vector<uint32_t> b) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector<uint32_t>>(
      _mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Vector<uint32_t>>(
      _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  return reinterpret_cast<Vector<uint32_t>>(
      _mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#endif
}

struct Pair {
  using Element = uint32_t;
  static constexpr bool kCorrected = false;
  static BACKPLANE_INLINE Vector<uint32_t> add(Vector<uint32_t> left, Vector<uint32_t> right,
                                               Vector<uint32_t> sum) {
    return sum + multiply_pairs(left, right);
  }
};
#endif

#if defined(__AVX512VNNI__)
// Four products of 8-bit factors and their sum. The left factors are unsigned, made so by adding 128; a right
// panel therefore starts with what that adds to the sums, but for the sign.
struct Quad {
  using Element = uint32_t;
  static constexpr bool kCorrected = true;
  static BACKPLANE_INLINE Vector<uint32_t> add(Vector<uint32_t> left, Vector<uint32_t> right,
                                               Vector<uint32_t> sum) {
    return reinterpret_cast<Vector<uint32_t>>(_mm512_dpbusd_epi32(
        reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(left), reinterpret_cast<__m512i>(right)));
  }
};
#endif

// How a tile's left elements are found: in panels, or in the matrix as it lies. Both give element i of the
// current position, step to the next, and give what starts at another row.
template <typename T>
struct PackedLeft {
  const T* at;
  int64_t distance;
  BACKPLANE_INLINE T element(int i) const { return at[i / kTileRows * distance + i % kTileRows]; }
  BACKPLANE_INLINE void next() { at += kTileRows; }
  BACKPLANE_INLINE PackedLeft from(int64_t row) const {
    return {at + row / kTileRows * distance + row % kTileRows, distance};
  }
};
// Three rows for each address: what an instruction reaches without another register.
template <typename T>
struct PlainLeft {
  static constexpr int kAddresses = (2 * kTileRows + 2) / 3;
  const T* at[kAddresses];
  int64_t row_stride;
  int64_t k_stride;
  BACKPLANE_INLINE PlainLeft(const T* left, int64_t rows_apart, int64_t positions_apart)
      : row_stride(rows_apart), k_stride(positions_apart) {
    for (int i = 0; i < kAddresses; ++i) at[i] = left + 3 * i * rows_apart;
  }
  BACKPLANE_INLINE T element(int i) const { return at[i / 3][i % 3 * row_stride]; }
  BACKPLANE_INLINE void next() {
#pragma GCC unroll 16
    for (int i = 0; i < kAddresses; ++i) at[i] += k_stride;
  }
  BACKPLANE_INLINE PlainLeft from(int64_t row) const {
    return PlainLeft(at[0] + row * row_stride, row_stride, k_stride);
  }
};

// What the tiles of one right panel have in common.
template <typename T>
struct Strip {
  int64_t k;  // > 0
  const T* right;
  int64_t stride;  // of rows of sums
  bool accumulate;
  FetchAhead* ahead;
};

// What a tile brings into the caches while it is made: a line at each position of k.
struct Fetch {
  const char* at;
  int64_t step;
};

// The next k lines; what is always at hand where there are none.
BACKPLANE_INLINE Fetch take_lines(FetchAhead& ahead, int64_t k, const void* at_hand) {
  constexpr int64_t kLine = 64;
  if (ahead.at >= ahead.end) {
    ahead.at = ahead.later;
    ahead.end = ahead.later_end;
    ahead.later = ahead.later_end;
  }
  if (ahead.at >= ahead.end) return {static_cast<const char*>(at_hand), 0};
  const Fetch fetch = {ahead.at, kLine};
  ahead.at += k * kLine;
  return fetch;
}

template <typename T>
alignas(64) constexpr T kZeros[kTileColumns<T>] = {};

// One tile of kRows rows of kWide registers. Not inlined: beside other code the compiler moves the tile's
// registers to and fro.
template <typename Product, int kRows, int kWide, typename Left>
__attribute__((noinline)) void multiply_tile(const Strip<typename Product::Element>& strip,
                                             const Left& left_of_tile, typename Product::Element* sums,
                                             int64_t stride, bool accumulate, Fetch fetch) {
  using T = typename Product::Element;
  using V = Vector<T>;
  const int64_t lanes = kLanes<T>;
  // A branch for each register, or two loads of all, would cost more than loads of zeros.
  const T* const before = accumulate ? sums : kZeros<T>;
  const int64_t before_stride = accumulate ? stride : 0;
  V tile[kRows][kWide];
#pragma GCC unroll 32
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kWide; ++j) tile[i][j] = load<V>(before + i * before_stride + j * lanes);
  }
  // The tile below comes next.
#pragma GCC unroll 32
  for (int i = 0; i < kRows; ++i) {
    __builtin_prefetch(sums + (kRows + i) * stride, 1);
    __builtin_prefetch(sums + (kRows + i) * stride + kWide * lanes - 1, 1);
  }
  Left left = left_of_tile;
  const T* right = strip.right;
  if constexpr (Product::kCorrected) {
#pragma GCC unroll 2
    for (int j = 0; j < kWide; ++j) {
      const V correction = load<V>(right + j * lanes);
#pragma GCC unroll 32
      for (int i = 0; i < kRows; ++i) tile[i][j] -= correction;
    }
    right += kTileColumns<T>;
  }
  int64_t k = strip.k;
  do {
    V columns[kWide];
#pragma GCC unroll 2
    for (int j = 0; j < kWide; ++j) columns[j] = load<V>(right + j * lanes);
    right += kTileColumns<T>;
    __builtin_prefetch(fetch.at, 0, 3);
    fetch.at += fetch.step;
#pragma GCC unroll 32
    for (int i = 0; i < kRows; ++i) {
      const V one = broadcast(left.element(i));
#pragma GCC unroll 2
      for (int j = 0; j < kWide; ++j) tile[i][j] = Product::add(one, columns[j], tile[i][j]);
    }
    left.next();
  } while (--k != 0);
#pragma GCC unroll 32
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kWide; ++j) store(sums + i * stride + j * lanes, tile[i][j]);
  }
}

// `count` < kMost elements, a power of two.
template <int kMost, typename T>
BACKPLANE_INLINE void copy_few(T* to, const T* from, int64_t count) {
#pragma GCC unroll 8
  for (int64_t piece = kMost / 2; piece > 0; piece /= 2) {
    if ((count & piece) == 0) continue;
    __builtin_memcpy(to, from, static_cast<size_t>(piece) * sizeof(T));
    to += piece;
    from += piece;
  }
}

// A tile of which only the first n columns are wanted.
template <typename Product, int kRows, int kWide, typename Left>
__attribute__((noinline)) void multiply_edge(int64_t n, const Strip<typename Product::Element>& strip,
                                             const Left& left, typename Product::Element* sums, Fetch fetch) {
  using T = typename Product::Element;
  const int columns = kWide * static_cast<int>(kLanes<T>);
  alignas(64) T buffer[kRows * columns];
  for (int i = 0; strip.accumulate && i < kRows; ++i)
    copy_few<columns>(buffer + i * columns, sums + i * strip.stride, n);
  multiply_tile<Product, kRows, kWide>(strip, left, buffer, columns, strip.accumulate, fetch);
  for (int i = 0; i < kRows; ++i) copy_few<columns>(sums + i * strip.stride, buffer + i * columns, n);
}

// As many tiles of kRows rows as there is room for from `row` on; returns the row after them.
template <typename Product, int kRows, int kWide, typename Left>
BACKPLANE_INLINE int64_t multiply_rows(int64_t row, int64_t m, int64_t n,
                                       const Strip<typename Product::Element>& strip, const Left& left,
                                       typename Product::Element* sums) {
  const bool whole = n == kWide * kLanes<typename Product::Element>;
  for (; row + kRows <= m; row += kRows) {
    auto* const tile = sums + row * strip.stride;
    const Fetch fetch = take_lines(*strip.ahead, strip.k, strip.right);
    if (whole) {
      multiply_tile<Product, kRows, kWide>(strip, left.from(row), tile, strip.stride, strip.accumulate,
                                           fetch);
    } else {
      multiply_edge<Product, kRows, kWide>(n, strip, left.from(row), tile, fetch);
    }
  }
  return row;
}

// The columns of one right panel, n of them. A tile one register wide has twice the rows: with fewer sums at
// once each would wait for the one before it.
template <typename Product, int kWide, typename Left>
BACKPLANE_INLINE void multiply_strip(int64_t m, int64_t n, const Strip<typename Product::Element>& strip,
                                     const Left& left, typename Product::Element* sums) {
  int64_t row = 0;
  if constexpr (kWide == 1) row = multiply_rows<Product, 2 * kTileRows, kWide>(row, m, n, strip, left, sums);
  row = multiply_rows<Product, kTileRows, kWide>(row, m, n, strip, left, sums);
  if constexpr (kTileRows > 8) row = multiply_rows<Product, 8, kWide>(row, m, n, strip, left, sums);
  row = multiply_rows<Product, 4, kWide>(row, m, n, strip, left, sums);
  row = multiply_rows<Product, 2, kWide>(row, m, n, strip, left, sums);
  multiply_rows<Product, 1, kWide>(row, m, n, strip, left, sums);
}

// Panel by panel. Without something else to fetch ahead, each fetches the next.
template <typename Product, typename Left>
BACKPLANE_INLINE void multiply_panels(int64_t m, int64_t n, int64_t k, const Left& left,
                                      const typename Product::Element* right, int64_t right_distance,
                                      typename Product::Element* sums, int64_t stride, bool accumulate,
                                      FetchAhead* ahead) {
  using T = typename Product::Element;
  const int64_t columns = kTileColumns<T>;
  for (int64_t i = 0; k == 0 && !accumulate && i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) sums[i * stride + j] = 0;
  }
  for (int64_t j = 0; k > 0 && j < n; j += columns) {
    const T* const panel = right + j / columns * right_distance;
    FetchAhead next;
    if (j + columns < n) {
      next.at = reinterpret_cast<const char*>(panel + right_distance);
      next.end = next.at + k * columns * static_cast<int64_t>(sizeof(T));
    }
    const Strip<T> strip = {k, panel, stride, accumulate, ahead != nullptr ? ahead : &next};
    if (n - j > kLanes<T>) {
      multiply_strip<Product, 2>(m, n - j < columns ? n - j : columns, strip, left, sums + j);
    } else {
      multiply_strip<Product, 1>(m, n - j, strip, left, sums + j);
    }
  }
}

}  // namespace
}  // namespace backplane::cpu::BACKPLANE_CPU_ISA

#endif  // BACKPLANE_CPU_VECTOR_MATMUL_TILE_H_
