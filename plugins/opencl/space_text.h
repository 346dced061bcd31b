// SPDX-License-Identifier: Apache-2.0
//
// Operands and iteration spaces as kernel parameters: a pointer `b<k>` for each operand, then all numbers
// (each operand's offset, in elements, and strides; the shape; whatever else the kernel wants), packed into
// as few vectors of longs `g<i>` as will do, because drivers take time for every argument. Where they would
// be more than the device's parameter space holds, they lie in a small buffer instead.
#ifndef BACKPLANE_PLUGINS_OPENCL_SPACE_TEXT_H_
#define BACKPLANE_PLUGINS_OPENCL_SPACE_TEXT_H_

#include <string>
#include <vector>

#include "opencl/types.h"
#include "opencl/variant.h"

namespace backplane::opencl {

struct OperandText {
  std::string memory_type;
  bool is_output;
  uint32_t element_size;
};
OperandText operand_text(plugin::DType type, bool is_output);

// A launch's iteration space, made plain: at least one dimension, and the operands that a kernel uses.
struct Space {
  uint32_t rank = 1;
  uint32_t operand_count = 0;
  int64_t shape[plugin::kMaxRank + 1] = {};
  const plugin::LaunchArgs* args = nullptr;
  // One letter an operand: its innermost stride is 0, 1, or s, which the kernel is told.
  std::string inner;

  int64_t stride(uint32_t operand, uint32_t dimension) const noexcept;
  // Number of points in dimensions [first, last).
  int64_t points(uint32_t first, uint32_t last) const noexcept;
};
Space read_space(const plugin::LaunchArgs& args);

class SpaceText {
 public:
  // `extras`: how many numbers of its own the kernel wants.
  SpaceText(const Facts& facts, std::vector<OperandText> operands, uint32_t rank, std::string inner,
            uint32_t extras = 0);

  // What distinguishes this text from that for other launches of the same kernel.
  std::string key() const;
  // "__global float* b0, ..., const long8 g0": the first parameters of the kernel.
  std::string parameters() const;
  std::string extent(uint32_t dimension) const;
  std::string extra(uint32_t index) const;
  std::string stride(uint32_t operand, uint32_t dimension) const;
  std::string offset(uint32_t operand) const;
  // Statements that take `index` apart into i<first> ... i<last-1>, as numbers of type `type`.
  std::string take_apart(uint32_t first, uint32_t last, const std::string& index,
                         const std::string& type) const;
  // "offset + i0 * stride0 + ..." over dimensions [first, last).
  std::string position(uint32_t operand, uint32_t first, uint32_t last) const;
  // Statements that declare p<k>, every operand's pointer at the indices of dimensions [first, last).
  std::string pointers(uint32_t first, uint32_t last) const;
  // "p1[i * stride]" in the innermost dimension.
  std::string element(uint32_t operand, const std::string& index) const;

  // Sets the parameters; `spill` must live until the launch is queued.
  Status pass(const ClDevice& device, const Space& space, Invocation* invocation, MemoryHandle* spill,
              std::initializer_list<int64_t> extras = {}) const;

 private:
  uint32_t count() const;  // of numbers
  std::string number(uint32_t index) const;

  std::vector<OperandText> operands_;
  uint32_t rank_;
  std::string inner_;
  uint32_t extras_;
  bool in_memory_;  // the numbers lie in a buffer
};

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_SPACE_TEXT_H_
