// SPDX-License-Identifier: Apache-2.0
//
// What reduce and matmul do about a prologue or epilogue that is more than a cast: it runs as an elementwise
// kernel of its own, from or into the workspace.
#ifndef BACKPLANE_PLUGINS_CUDA_FAMILIES_WRAPPED_H_
#define BACKPLANE_PLUGINS_CUDA_FAMILIES_WRAPPED_H_

#include <vector>

#include "elementwise.h"
#include "program.h"

namespace backplane::cuda::families {

// LaunchArgs over dimensions [0, rank) of another launch's space, with operands of its own.
class InnerLaunch {
 public:
  InnerLaunch(const LaunchArgs& outer, uint32_t rank) : args_(outer) {
    args_.rank = rank;
    args_.reduced_rank = 0;
  }
  void add(const Operand& operand) { operands_.push_back(operand); }
  void set_scalars(const plugin::Scalar* first, uint32_t count) {
    args_.scalars = first;
    args_.scalar_count = count;
  }
  Status run(Kernel& kernel, Stream& stream) {
    args_.operands = operands_.data();
    args_.operand_count = static_cast<uint32_t>(operands_.size());
    args_.operand_stride = sizeof(Operand);
    return kernel.run(stream, args_);
  }

 private:
  LaunchArgs args_;
  std::vector<Operand> operands_;
};

}  // namespace backplane::cuda::families

#endif  // BACKPLANE_PLUGINS_CUDA_FAMILIES_WRAPPED_H_
