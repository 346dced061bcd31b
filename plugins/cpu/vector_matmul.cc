// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set; see isa.h for what that forbids.
//
// The inner blocks of a product of packed matrices, as K. Goto and R. van de Geijn describe them (Anatomy of
// High-Performance Matrix Multiplication, 2008): a tile of the product stays in registers while k runs.
#include "cpu/vector_matmul.h"

#include "backplane/kernels/prelude.h"

#include "backplane/kernels/half.h"

#include "cpu/vector.h"

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

// How a tile's left elements are found: in a panel, or in the matrix as it lies. Both give element i of the
// current position, and step to the next.
template <typename T>
struct PackedLeft {
  const T* at;
  BACKPLANE_INLINE T element(int i) const { return at[i]; }
  BACKPLANE_INLINE void next() { at += kTileRows; }
};
// Rows past the last are the last again: their sums are thrown away.
template <typename T>
struct PlainLeft {
  const T* rows[kTileRows];
  int64_t k_stride;
  int64_t at = 0;
  BACKPLANE_INLINE PlainLeft(const T* left, int64_t row_stride, int64_t stride, int64_t m)
      : k_stride(stride) {
#pragma GCC unroll 16
    for (int i = 0; i < kTileRows; ++i) rows[i] = left + (i < m ? i : m - 1) * row_stride;
  }
  BACKPLANE_INLINE T element(int i) const { return rows[i][at]; }
  BACKPLANE_INLINE void next() { at += k_stride; }
};

// One tile of kWide registers in each row. `stride` is the distance of rows of `sums`.
template <typename T, int kWide, typename Left>
BACKPLANE_INLINE void multiply_tile(int64_t k, Left left, const T* right, T* sums, int64_t stride,
                                    bool accumulate) {
  using V = Vector<T>;
  const int64_t lanes = kLanes<T>;
  V tile[kTileRows][kWide];
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kWide; ++j) tile[i][j] = accumulate ? load<V>(sums + i * stride + j * lanes) : V{};
  }
  for (int64_t p = 0; p < k; ++p) {
    V columns[kWide];
#pragma GCC unroll 2
    for (int j = 0; j < kWide; ++j) columns[j] = load<V>(right + j * lanes);
    right += kTileColumns<T>;
#pragma GCC unroll 16
    for (int i = 0; i < kTileRows; ++i) {
      const V one = broadcast(left.element(i));
#pragma GCC unroll 2
      for (int j = 0; j < kWide; ++j) tile[i][j] = multiply_add(one, columns[j], tile[i][j]);
    }
    left.next();
  }
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kWide; ++j) store(sums + i * stride + j * lanes, tile[i][j]);
  }
}

// A tile of which only m rows and n columns are wanted.
template <typename T, int kWide, typename Left>
BACKPLANE_INLINE void multiply_edge(int64_t m, int64_t n, int64_t k, Left left, const T* right, T* sums,
                                    int64_t stride, bool accumulate) {
  const int columns = kWide * static_cast<int>(kLanes<T>);
  T buffer[kTileRows * columns] = {};
  for (int64_t i = 0; accumulate && i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) buffer[i * columns + j] = sums[i * stride + j];
  }
  multiply_tile<T, kWide>(k, left, right, buffer, columns, accumulate);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) sums[i * stride + j] = buffer[i * columns + j];
  }
}

// Tile by tile; left_of(first row, rows) gives the left elements of one. Few columns at the end take half the
// work of a whole tile.
template <typename T, typename LeftOf>
BACKPLANE_INLINE void multiply_tiles(int64_t m, int64_t n, int64_t k, LeftOf left_of, const T* right_panels,
                                     int64_t right_distance, T* sums, int64_t stride, bool accumulate) {
  const int64_t columns = kTileColumns<T>;
  const int64_t lanes = kLanes<T>;
  for (int64_t j = 0; j < n; j += columns) {
    const T* const right = right_panels + j / columns * right_distance;
    for (int64_t i = 0; i < m; i += kTileRows) {
      const int64_t rows = m - i < kTileRows ? m - i : kTileRows;
      const auto left = left_of(i, rows);
      T* const tile = sums + i * stride + j;
      if (rows == kTileRows && n - j >= columns) {
        multiply_tile<T, 2>(k, left, right, tile, stride, accumulate);
      } else if (rows == kTileRows && n - j == lanes) {
        multiply_tile<T, 1>(k, left, right, tile, stride, accumulate);
      } else if (n - j <= lanes) {
        multiply_edge<T, 1>(rows, n - j, k, left, right, tile, stride, accumulate);
      } else {
        multiply_edge<T, 2>(rows, n - j < columns ? n - j : columns, k, left, right, tile, stride,
                            accumulate);
      }
    }
  }
}

template <typename T>
void multiply(int64_t m, int64_t n, int64_t k, const void* left_panels, int64_t left_distance,
              const void* right_panels, int64_t right_distance, void* sums, int64_t stride, bool accumulate) {
  const auto left_of = [=](int64_t row, int64_t) {
    return PackedLeft<T>{static_cast<const T*>(left_panels) + row / kTileRows * left_distance};
  };
  multiply_tiles<T>(m, n, k, left_of, static_cast<const T*>(right_panels), right_distance,
                    static_cast<T*>(sums), stride, accumulate);
}

template <typename T>
void multiply_unpacked(int64_t m, int64_t n, int64_t k, const void* left, int64_t row_stride,
                       int64_t k_stride, const void* right_panels, int64_t right_distance, void* sums,
                       int64_t stride, bool accumulate) {
  const auto left_of = [=](int64_t row, int64_t rows) {
    return PlainLeft<T>(static_cast<const T*>(left) + row * row_stride, row_stride, k_stride, rows);
  };
  multiply_tiles<T>(m, n, k, left_of, static_cast<const T*>(right_panels), right_distance,
                    static_cast<T*>(sums), stride, accumulate);
}

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

// A tile of sums; `left` and `right` hold pairs, as 32-bit words.
BACKPLANE_INLINE void multiply_pairs_tile(int64_t k, const uint32_t* left, const uint32_t* right,
                                          uint32_t* sums, int64_t stride, bool accumulate) {
  using V = Vector<uint32_t>;
  const int64_t lanes = kLanes<uint32_t>;
  V tile[kTileRows][2];
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i) {
    tile[i][0] = accumulate ? load<V>(sums + i * stride) : V{};
    tile[i][1] = accumulate ? load<V>(sums + i * stride + lanes) : V{};
  }
  for (int64_t p = 0; p < k; p += 2) {
    const V right0 = load<V>(right), right1 = load<V>(right + lanes);
    right += 2 * lanes;
#pragma GCC unroll 16
    for (int i = 0; i < kTileRows; ++i) {
      const V one = broadcast(left[i]);
      tile[i][0] += multiply_pairs(one, right0);
      tile[i][1] += multiply_pairs(one, right1);
    }
    left += kTileRows;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i) {
    store(sums + i * stride, tile[i][0]);
    store(sums + i * stride + lanes, tile[i][1]);
  }
}

void multiply_all_pairs(int64_t m, int64_t n, int64_t k, const void* left_panels, int64_t left_distance,
                        const void* right_panels, int64_t right_distance, void* sums_address, int64_t stride,
                        bool accumulate) {
  const int64_t columns = kTileColumns<uint32_t>;
  auto* const sums = static_cast<uint32_t*>(sums_address);
  for (int64_t j = 0; j < n; j += columns) {
    // Distances count elements, of which a word has two.
    const auto* const right = static_cast<const uint32_t*>(right_panels) + j / columns * right_distance / 2;
    for (int64_t i = 0; i < m; i += kTileRows) {
      const auto* const left = static_cast<const uint32_t*>(left_panels) + i / kTileRows * left_distance / 2;
      const int64_t rows = m - i < kTileRows ? m - i : kTileRows, wide = n - j < columns ? n - j : columns;
      uint32_t* const tile = sums + i * stride + j;
      if (rows == kTileRows && wide == columns) {
        multiply_pairs_tile(k, left, right, tile, stride, accumulate);
        continue;
      }
      uint32_t buffer[kTileRows * columns] = {};
      for (int64_t r = 0; accumulate && r < rows; ++r) {
        for (int64_t c = 0; c < wide; ++c) buffer[r * columns + c] = tile[r * stride + c];
      }
      multiply_pairs_tile(k, left, right, buffer, columns, accumulate);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < wide; ++c) tile[r * stride + c] = buffer[r * columns + c];
      }
    }
  }
}

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

// 16-bit integers would overflow as int.
BACKPLANE_INLINE float product(float a, float b) { return a * b; }
BACKPLANE_INLINE double product(double a, double b) { return a * b; }
template <typename T>
BACKPLANE_INLINE T product(T a, T b) {
  return static_cast<T>(uint64_t{a} * b);
}

// A row along which the matrix is contiguous: in four registers, added at the end.
template <typename T>
BACKPLANE_INLINE T dot(const T* a, const T* b, int64_t count) {
  using V = Vector<T>;
  const int64_t lanes = kLanes<T>;
  V sums[4] = {V{}, V{}, V{}, V{}};
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    for (int r = 0; r < 4; ++r) {
      sums[r] = multiply_add(load<V>(a + i + r * lanes), load<V>(b + i + r * lanes), sums[r]);
    }
  }
  const V all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  T lane[kLanes<T>];
  store(lane, all);
  for (int64_t width = lanes / 2; width > 0; width /= 2) {
    for (int64_t r = 0; r < width; ++r) lane[r] = static_cast<T>(lane[r] + lane[r + width]);
  }
  T rest = 0;
  for (; i < count; ++i) rest = static_cast<T>(rest + product(a[i], b[i]));
  return static_cast<T>(lane[0] + rest);
}

template <typename T>
void multiply_vector(const void* left, int64_t row_stride, int64_t k_stride, int64_t rows, int64_t k,
                     const void* vector, void* sums_address) {
  const auto* const matrix = static_cast<const T*>(left);
  const auto* const x = static_cast<const T*>(vector);
  auto* const sums = static_cast<T*>(sums_address);
  if (k_stride == 1) {
    for (int64_t i = 0; i < rows; ++i) sums[i] = dot(matrix + i * row_stride, x, k);
    return;
  }
  using V = Vector<T>;
  const int64_t lanes = kLanes<T>;
  for (int64_t i = 0; i < rows; ++i) sums[i] = 0;
  for (int64_t p = 0; p < k; ++p) {
    const T* const column = matrix + p * k_stride;
    const V factor = broadcast(x[p]);
    int64_t i = 0;
    for (; i + lanes <= rows; i += lanes) {
      store(sums + i, multiply_add(load<V>(column + i), factor, load<V>(sums + i)));
    }
    for (; i < rows; ++i) sums[i] = static_cast<T>(sums[i] + product(column[i], x[p]));
  }
}

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

template <typename Source, typename T, int kWidth>
void pack(const void* memory, int64_t row_stride, int64_t k_stride, int64_t count, int64_t k, void* panels) {
  const auto* source = static_cast<const typename Source::Memory*>(memory);
  auto* panel = static_cast<T*>(panels);
  for (; count >= kWidth; count -= kWidth) {
    if (row_stride == 1) {
      for (int64_t p = 0; p < k; ++p) {
        for (int i = 0; i < kWidth; ++i)
          panel[p * kWidth + i] = static_cast<T>(Source::load(source[p * k_stride + i]));
      }
    } else if (k_stride == 1) {
      for (int64_t p = 0; p < k; ++p) {
        for (int i = 0; i < kWidth; ++i)
          panel[p * kWidth + i] = static_cast<T>(Source::load(source[i * row_stride + p]));
      }
    } else {
      for (int64_t p = 0; p < k; ++p) {
        for (int i = 0; i < kWidth; ++i) {
          panel[p * kWidth + i] = static_cast<T>(Source::load(source[i * row_stride + p * k_stride]));
        }
      }
    }
    source += kWidth * row_stride;
    panel += kWidth * k;
  }
  for (int64_t p = 0; count > 0 && p < k; ++p) {
    for (int64_t i = 0; i < kWidth; ++i) {
      panel[p * kWidth + i] =
          i < count ? static_cast<T>(Source::load(source[i * row_stride + p * k_stride])) : static_cast<T>(0);
    }
  }
}

template <typename T>
void add(void* into, const void* from, int64_t count) {
  auto* const sums = static_cast<T*>(into);
  const auto* const more = static_cast<const T*>(from);
  for (int64_t i = 0; i < count; ++i) sums[i] = static_cast<T>(sums[i] + more[i]);
}

#define BACKPLANE_PACK_INTEGERS(T, width)                                                                    \
  nullptr, pack<Number<int8_t>, T, width>, pack<Number<int16_t>, T, width>, pack<Number<int32_t>, T, width>, \
      pack<Number<int64_t>, T, width>, pack<Number<uint8_t>, T, width>, pack<Number<uint16_t>, T, width>,    \
      pack<Number<uint32_t>, T, width>, pack<Number<uint64_t>, T, width>
#define BACKPLANE_PACK_FLOATS(T, width)                                             \
  pack<Float16, T, width>, pack<BFloat16, T, width>, pack<Number<float>, T, width>, \
      pack<Number<double>, T, width>

template <typename T>
constexpr MatmulLoops kFloating = {sizeof(T),
                                   sizeof(T),
                                   1,
                                   kTileRows,
                                   kTileColumns<T>,
                                   {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                    nullptr, BACKPLANE_PACK_FLOATS(T, kTileRows)},
                                   {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                    nullptr, BACKPLANE_PACK_FLOATS(T, kTileColumns<T>)},
                                   multiply<T>,
                                   multiply_unpacked<T>,
                                   multiply_vector<T>,
                                   add<T>};

template <typename T>
constexpr MatmulLoops kInteger = {sizeof(T),
                                  sizeof(T),
                                  1,
                                  kTileRows,
                                  kTileColumns<T>,
                                  {BACKPLANE_PACK_INTEGERS(T, kTileRows)},
                                  {BACKPLANE_PACK_INTEGERS(T, kTileColumns<T>)},
                                  multiply<T>,
                                  nullptr,
                                  multiply_vector<T>,
                                  add<T>};

// clang-format off
#if defined(__x86_64__)
#define BACKPLANE_PACK_PAIRS(width) \
  nullptr, pack_pairs<int8_t, width>, nullptr, nullptr, nullptr, pack_pairs<uint8_t, width>
constexpr MatmulLoops kPairs = {sizeof(uint32_t), sizeof(int16_t), 2, kTileRows, kTileColumns<uint32_t>,
                                {BACKPLANE_PACK_PAIRS(kTileRows)}, {BACKPLANE_PACK_PAIRS(kTileColumns<uint32_t>)},
                                multiply_all_pairs, nullptr, multiply_vector<uint32_t>, add<uint32_t>};
#else
constexpr MatmulLoops kPairs = {};
#endif
// clang-format on

}  // namespace

const MatmulTable matmul_table = {{kFloating<float>, kFloating<double>, kInteger<uint8_t>, kInteger<uint16_t>,
                                   kInteger<uint32_t>, kInteger<uint64_t>, kPairs}};

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
