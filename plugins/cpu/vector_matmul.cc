// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set; see isa.h for what that forbids.
#include "cpu/vector_matmul.h"

#include "backplane/kernels/prelude.h"

#include "cpu/vector.h"
#include "cpu/vector_matmul_pack.h"
#include "cpu/vector_matmul_tile.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

template <typename T>
void multiply(int64_t m, int64_t n, int64_t k, const void* left_panels, int64_t left_distance,
              const void* right_panels, int64_t right_distance, void* sums, int64_t stride, bool accumulate) {
  const PackedLeft<T> left = {static_cast<const T*>(left_panels), left_distance};
  multiply_panels<Single<T>>(m, n, k, left, static_cast<const T*>(right_panels), right_distance,
                             static_cast<T*>(sums), stride, accumulate, nullptr);
}

template <typename T>
void multiply_unpacked(int64_t m, int64_t n, int64_t k, const void* left_matrix, int64_t row_stride,
                       int64_t k_stride, const void* right_panels, int64_t right_distance, void* sums,
                       int64_t stride, bool accumulate, FetchAhead* ahead) {
  const PlainLeft<T> left(static_cast<const T*>(left_matrix), row_stride, k_stride);
  multiply_panels<Single<T>>(m, n, k, left, static_cast<const T*>(right_panels), right_distance,
                             static_cast<T*>(sums), stride, accumulate, ahead);
}

#if defined(__x86_64__)
// Distances count elements, of which a word has two.
void multiply_all_pairs(int64_t m, int64_t n, int64_t k, const void* left_panels, int64_t left_distance,
                        const void* right_panels, int64_t right_distance, void* sums, int64_t stride,
                        bool accumulate) {
  const PackedLeft<uint32_t> left = {static_cast<const uint32_t*>(left_panels), left_distance / 2};
  multiply_panels<Pair>(m, n, (k + 1) / 2, left, static_cast<const uint32_t*>(right_panels),
                        right_distance / 2, static_cast<uint32_t*>(sums), stride, accumulate, nullptr);
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
                                   0,
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
                                  0,
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
constexpr MatmulLoops kPairs = {sizeof(uint32_t), sizeof(int16_t), 2, 0, kTileRows, kTileColumns<uint32_t>,
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
