// SPDX-License-Identifier: Apache-2.0
//
// One matrix product, or a batch of them, as the launch asks for it and as it is computed.
#ifndef BACKPLANE_CPU_MATMUL_PROBLEM_H_
#define BACKPLANE_CPU_MATMUL_PROBLEM_H_

#include <cstdint>

#include "cpu/iteration.h"

namespace backplane::cpu {

// The output, both factors, the epilogue's inputs but the first.
inline constexpr int kMatmulOperands = 3 + plugin::kMaxInputs - 1;

struct MatmulProblem {
  Space<kMatmulOperands> batch;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  int64_t m_strides[kMatmulOperands] = {};
  int64_t n_strides[kMatmulOperands] = {};
  int64_t left_k_stride = 0;
  int64_t right_k_stride = 0;
  // Which operands are the left and the right factor: 1 and 2, or the other way round where the product is
  // computed transposed because the output is contiguous along m.
  int left = 1;
  int right = 2;

  int64_t batch_count = 1;

  // Sums over parts of k this long are made apart, and then added in pairs: where there are too few elements
  // of the product to keep all threads busy. Depends on the sizes alone, for it changes the sums' rounding.
  int64_t part = 0;
  int64_t parts = 1;

  bool right_is_shared() const {
    bool shared = true;
    for (int d = 0; d < batch.rank; ++d) shared = shared && batch.strides[right][d] == 0;
    return shared;
  }
};

// `operands` of them are used; the rest have no strides.
MatmulProblem read_problem(const plugin::LaunchArgs& args);

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_MATMUL_PROBLEM_H_
