// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_PLUGINS_OPENCL_REDUCE_TEXT_H_
#define BACKPLANE_PLUGINS_OPENCL_REDUCE_TEXT_H_

#include <string>
#include <vector>

#include "opencl/accumulate.h"
#include "opencl/space_text.h"

namespace backplane::opencl {

// The programs of one reduction in one layout. All kernels have the same parameters: the space's, the
// scalars, and "partials, partials_at (in acc_t), outputs, splits, split_size, reduced".
class ReduceText {
 public:
  ReduceText(const plugin::KernelDesc& desc, const SpaceText& space, const Space& launch,
             uint32_t reduced_rank);

  // A CPU work-item takes `outputs_each` outputs, one after the other, in one split each.
  std::string rows(int64_t outputs_each) const;
  // A CPU work-item takes up to kColumns outputs that are neighbours, side by side.
  std::string columns() const;
  // A GPU group takes one output in one split.
  std::string group(size_t size) const;
  static constexpr int kColumns = 64;

 private:
  // A kernel of its own, in each of these programs: a work-item puts the splits of one output together.
  std::string finish() const;
  std::string head(const char* name, size_t group) const;
  std::string value(const std::string& index_of_inner) const;
  std::string store(const std::string& acc) const;
  std::string keep(const std::string& acc, const std::string& output) const;

  const plugin::KernelDesc& desc_;
  const SpaceText& space_;
  const Space& launch_;
  uint32_t rank_;
  uint32_t kept_;
  Accumulator accumulator_;
};

plugin::DType reduce_result_type(const plugin::KernelDesc& desc);
std::vector<OperandText> reduce_operands(const plugin::KernelDesc& desc);

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_REDUCE_TEXT_H_
