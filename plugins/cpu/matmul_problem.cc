// SPDX-License-Identifier: Apache-2.0
#include "cpu/matmul_problem.h"

namespace backplane::cpu {
namespace {

// Products of fewer elements than this are cut along k where k is at least twice kLeastPart.
constexpr int64_t kFewElements = 64 * 1024;
constexpr int64_t kLeastPart = 8192;
constexpr int64_t kMostParts = 64;
// A single column of this many rows keeps all threads busy as it is.
constexpr int64_t kManyRows = 64;

// A batch whose right factors are all the same, and whose rows follow each other, is one taller product.
void join_batch_with_rows(MatmulProblem& problem) {
  auto& batch = problem.batch;
  while (batch.rank > 0) {
    const int last = batch.rank - 1;
    for (int k = 0; k < kMatmulOperands; ++k) {
      const int64_t expected = k == problem.right ? 0 : problem.m_strides[k] * problem.m;
      if (batch.strides[k][last] != expected) return;
    }
    problem.m *= batch.shape[last];
    batch.remove_dimension(last);
  }
}

void choose_parts(MatmulProblem& problem) {
  problem.part = problem.k;
  if (problem.n == 1 && problem.m >= kManyRows) return;
  if (problem.batch_count * problem.m * problem.n >= kFewElements || problem.k < 2 * kLeastPart) return;
  problem.part = std::max(kLeastPart, (problem.k + kMostParts - 1) / kMostParts);
  problem.parts = (problem.k + problem.part - 1) / problem.part;
}

}  // namespace

MatmulProblem read_problem(const plugin::LaunchArgs& args) {
  MatmulProblem problem;
  const int rank = static_cast<int>(args.rank);
  const int m = rank - 3;
  problem.batch.operands = std::min(static_cast<int>(args.operand_count), kMatmulOperands);
  for (int d = 0; d < rank; ++d) {
    int64_t strides[kMatmulOperands] = {};
    for (uint32_t k = 0; k < args.operand_count && k < kMatmulOperands; ++k)
      strides[k] = args.operand(k).strides[d];
    if (d < m) {
      problem.batch.push(args.shape[d], strides);
    } else if (d == m) {
      std::copy(strides, strides + kMatmulOperands, problem.m_strides);
    } else if (d == m + 1) {
      std::copy(strides, strides + kMatmulOperands, problem.n_strides);
    } else {
      problem.left_k_stride = strides[1];
      problem.right_k_stride = strides[2];
    }
  }
  problem.m = args.shape[m];
  problem.n = args.shape[m + 1];
  problem.k = args.shape[m + 2];
  // A single row is computed as a single column; else the output is to be contiguous along n.
  const bool column = problem.m == 1 && problem.n > 1;
  const bool transposed = column || (problem.n_strides[0] != 1 && problem.n > 1 && problem.m_strides[0] == 1);
  if (transposed) {
    std::swap(problem.m, problem.n);
    std::swap(problem.m_strides, problem.n_strides);
    std::swap(problem.left_k_stride, problem.right_k_stride);
    std::swap(problem.left, problem.right);
  }
  problem.batch.merge();
  join_batch_with_rows(problem);
  problem.batch_count = problem.batch.size();
  choose_parts(problem);
  return problem;
}

}  // namespace backplane::cpu
