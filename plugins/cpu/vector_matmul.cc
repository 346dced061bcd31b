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

// One tile. `stride` is the distance of rows of `sums`.
template <typename T>
BACKPLANE_INLINE void multiply_tile(int64_t k, const T* left, const T* right, T* sums, int64_t stride,
                                    bool accumulate) {
  using V = Vector<T>;
  constexpr int64_t lanes = kLanes<T>;
  V tile[kTileRows][2];
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i) tile[i][0] = tile[i][1] = V{};
  if (accumulate) {
#pragma GCC unroll 16
    for (int i = 0; i < kTileRows; ++i) {
      tile[i][0] = load<V>(sums + i * stride);
      tile[i][1] = load<V>(sums + i * stride + lanes);
    }
  }
  for (int64_t p = 0; p < k; ++p) {
    const V right0 = load<V>(right);
    const V right1 = load<V>(right + lanes);
    right += 2 * lanes;
#pragma GCC unroll 16
    for (int i = 0; i < kTileRows; ++i) {
      const V one = broadcast(left[i]);
      tile[i][0] = multiply_add(one, right0, tile[i][0]);
      tile[i][1] = multiply_add(one, right1, tile[i][1]);
    }
    left += kTileRows;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i) {
    store(sums + i * stride, tile[i][0]);
    store(sums + i * stride + lanes, tile[i][1]);
  }
}

// A tile of which only m rows and n columns are wanted.
template <typename T>
void multiply_edge(int64_t m, int64_t n, int64_t k, const T* left, const T* right, T* sums, int64_t stride,
                   bool accumulate) {
  constexpr int columns = kTileColumns<T>;
  T buffer[kTileRows * columns] = {};
  for (int64_t i = 0; accumulate && i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) buffer[i * columns + j] = sums[i * stride + j];
  }
  multiply_tile<T>(k, left, right, buffer, columns, accumulate);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) sums[i * stride + j] = buffer[i * columns + j];
  }
}

template <typename T>
void multiply(int64_t m, int64_t n, int64_t k, const void* left_panels, int64_t left_distance,
              const void* right_panels, int64_t right_distance, void* sums_address, int64_t stride,
              bool accumulate) {
  constexpr int columns = kTileColumns<T>;
  auto* const sums = static_cast<T*>(sums_address);
  for (int64_t j = 0; j < n; j += columns) {
    const T* const right = static_cast<const T*>(right_panels) + j / columns * right_distance;
    for (int64_t i = 0; i < m; i += kTileRows) {
      const T* const left = static_cast<const T*>(left_panels) + i / kTileRows * left_distance;
      T* const tile = sums + i * stride + j;
      if (m - i >= kTileRows && n - j >= columns) {
        multiply_tile<T>(k, left, right, tile, stride, accumulate);
      } else {
        multiply_edge<T>(m - i < kTileRows ? m - i : kTileRows, n - j < columns ? n - j : columns, k, left,
                         right, tile, stride, accumulate);
      }
    }
  }
}

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
  constexpr int64_t lanes = kLanes<T>;
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
  constexpr int64_t lanes = kLanes<T>;
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
                                   kTileRows,
                                   kTileColumns<T>,
                                   {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                    nullptr, BACKPLANE_PACK_FLOATS(T, kTileRows)},
                                   {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                    nullptr, BACKPLANE_PACK_FLOATS(T, kTileColumns<T>)},
                                   multiply<T>,
                                   multiply_vector<T>,
                                   add<T>};

template <typename T>
constexpr MatmulLoops kInteger = {sizeof(T),
                                  kTileRows,
                                  kTileColumns<T>,
                                  {BACKPLANE_PACK_INTEGERS(T, kTileRows)},
                                  {BACKPLANE_PACK_INTEGERS(T, kTileColumns<T>)},
                                  multiply<T>,
                                  multiply_vector<T>,
                                  add<T>};

}  // namespace

const MatmulTable matmul_table = {{kFloating<float>, kFloating<double>, kInteger<uint8_t>, kInteger<uint16_t>,
                                   kInteger<uint32_t>, kInteger<uint64_t>}};

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
