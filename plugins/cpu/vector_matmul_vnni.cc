// SPDX-License-Identifier: Apache-2.0
// Products of 8-bit integers with AVX-512's instruction for four at a time; see isa.h for what that forbids.
#include "cpu/vector.h"
#include "cpu/vector_matmul.h"
#include "cpu/vector_matmul_tile.h"

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

constexpr int kLeftRows = kTileRows;
constexpr int kRightRows = kTileColumns<uint32_t>;
constexpr uint32_t kTo128 = 0x80808080u;  // from signed bytes to what is 128 more, and unsigned

// One row's four positions, of which `count` exist.
BACKPLANE_INLINE uint32_t quad_of(const int8_t* at, int64_t k_stride, int64_t count) {
  uint32_t quad = 0;
  for (int64_t q = 0; q < count; ++q) quad |= uint32_t{static_cast<uint8_t>(at[q * k_stride])} << (8 * q);
  return quad;
}

// Rows side by side: kRightRows of them lie next to each other at each position.
BACKPLANE_INLINE void transpose_quad(const int8_t* at, int64_t k_stride, uint32_t* panel) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(at);
  for (int i = 0; i < kRightRows; ++i) {
    panel[i] = bytes[i] | uint32_t{bytes[k_stride + i]} << 8 | uint32_t{bytes[2 * k_stride + i]} << 16 |
               uint32_t{bytes[3 * k_stride + i]} << 24;
  }
}

// A position of four, of `rows` <= kWidth rows.
template <int kWidth>
BACKPLANE_INLINE void pack_quad(const int8_t* at, int64_t row_stride, int64_t k_stride, int64_t rows,
                                int64_t positions, uint32_t* panel) {
  if (kWidth == kRightRows && rows == kWidth && row_stride == 1 && positions == 4) {
    transpose_quad(at, k_stride, panel);
    return;
  }
  for (int64_t i = 0; i < rows; ++i) {
    if (k_stride == 1 && positions == 4) {
      __builtin_memcpy(panel + i, at + i * row_stride, 4);
    } else {
      panel[i] = quad_of(at + i * row_stride, k_stride, positions);
    }
  }
  for (int64_t i = rows; i < kWidth; ++i) panel[i] = 0;
}

// What 128 in place of each left factor adds to the sums of a right panel's columns.
BACKPLANE_INLINE void write_corrections(const uint32_t* quads, int64_t count, uint32_t* corrections) {
  using V = Vector<uint32_t>;
  const V left = broadcast(kTo128);
  for (int64_t j = 0; j < kRightRows; j += kLanes<uint32_t>) {
    V sums = {};
    for (int64_t p = 0; p < count; ++p) sums = Quad::add(left, load<V>(quads + p * kRightRows + j), sums);
    store(corrections + j, sums);
  }
}

template <int kWidth>
void pack_quads(const void* memory, int64_t row_stride, int64_t k_stride, int64_t count, int64_t k,
                void* panels) {
  const auto* source = static_cast<const int8_t*>(memory);
  auto* panel = static_cast<uint32_t*>(panels);
  for (; count > 0; count -= kWidth) {
    uint32_t* const quads = panel + kWidth;
    uint32_t* at = quads;
    for (int64_t p = 0; p < k; p += 4, at += kWidth) {
      pack_quad<kWidth>(source + p * k_stride, row_stride, k_stride, count < kWidth ? count : kWidth,
                        k - p < 4 ? k - p : 4, at);
    }
    if constexpr (kWidth == kRightRows) {
      write_corrections(quads, (k + 3) / 4, panel);
    } else {
      for (uint32_t* quad = quads; quad < at; ++quad) *quad ^= kTo128;
    }
    source += kWidth * row_stride;
    panel = at;
  }
}

// Distances count bytes, of which a word has four.
void multiply_quads(int64_t m, int64_t n, int64_t k, const void* left_panels, int64_t left_distance,
                    const void* right_panels, int64_t right_distance, void* sums, int64_t stride,
                    bool accumulate) {
  const PackedLeft<uint32_t> left = {static_cast<const uint32_t*>(left_panels) + kLeftRows,
                                     left_distance / 4};
  multiply_panels<Quad>(m, n, (k + 3) / 4, left, static_cast<const uint32_t*>(right_panels),
                        right_distance / 4, static_cast<uint32_t*>(sums), stride, accumulate, nullptr);
}

void add(void* into, const void* from, int64_t count) {
  auto* const sums = static_cast<uint32_t*>(into);
  const auto* const more = static_cast<const uint32_t*>(from);
  for (int64_t i = 0; i < count; ++i) sums[i] += more[i];
}

}  // namespace

// Int8 is the second type.
const MatmulLoops quad_loops = {sizeof(uint32_t),
                                sizeof(int8_t),
                                4,
                                4,
                                kLeftRows,
                                kRightRows,
                                {nullptr, pack_quads<kLeftRows>},
                                {nullptr, pack_quads<kRightRows>},
                                multiply_quads,
                                nullptr,
                                nullptr,
                                add};

}  // namespace backplane::cpu::BACKPLANE_CPU_ISA
