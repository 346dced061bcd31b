// SPDX-License-Identifier: Apache-2.0
//
// Kernels of matrix products. The iteration space is batch..., m, n, k.
//
// CPU: the operands are packed into panels, a's of `tile_rows` rows, b's of two vectors' columns, so that the
// innermost loop reads both in order; a work-item keeps one such tile of sums in registers at a time. Small
// products skip the packing. GPU: a group loads square tiles into local memory.
#ifndef BACKPLANE_PLUGINS_OPENCL_MATMUL_TEXT_H_
#define BACKPLANE_PLUGINS_OPENCL_MATMUL_TEXT_H_

#include <string>
#include <vector>

#include "opencl/space_text.h"

namespace backplane::opencl {

// What a CPU's registers hold: 16 of 16 or 32 bytes, or 32 of 64.
struct MatmulTile {
  int64_t rows;     // of a panel of a
  int64_t lanes;    // of one vector
  int64_t columns;  // of a panel of b: two vectors
};
MatmulTile matmul_tile(const Facts& facts, plugin::DType compute_type);

std::vector<OperandText> matmul_operands(const plugin::KernelDesc& desc);

class MatmulText {
 public:
  MatmulText(const Facts& facts, const plugin::KernelDesc& desc, const SpaceText& space, uint32_t rank);

  // The kernels pack and multiply.
  std::string packed() const;
  std::string small() const;
  std::string group() const;

  static constexpr int64_t kDepth = 256;        // of the block of k that stays in the first-level cache
  static constexpr int64_t kPanels = 8;         // of a, taken by one work-item
  static constexpr int64_t kSmallColumns = 32;  // taken by one work-item of small()
  static constexpr int64_t kGroupSide = 64;     // rows and columns of a GPU group's tile

 private:
  std::string types() const;
  std::string pack() const;
  std::string pack_panel(bool is_a) const;
  std::string multiply() const;
  std::string head(const char* name, size_t group, const std::string& parameters) const;
  std::string scalar_list() const;
  std::string multiply_add(const std::string& a, const std::string& b, const std::string& sum,
                           bool vector) const;
  std::string load(bool is_a, const std::string& row, const std::string& k) const;
  std::string store(const std::string& sum, const std::string& row, const std::string& column) const;

  const plugin::KernelDesc& desc_;
  const SpaceText& space_;
  const uint32_t rank_;
  const MatmulTile tile_;
  const std::string type_;
};

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_MATMUL_TEXT_H_
