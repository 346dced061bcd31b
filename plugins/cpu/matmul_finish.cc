// SPDX-License-Identifier: Apache-2.0
// From sums to results, and products with a single column.
#include "cpu/matmul_kernel.h"
#include "cpu/scratch.h"
#include "cpu/vector_copy.h"

namespace backplane::cpu {
namespace {

using plugin::DType;

// Multiplications that take some 10 us where every factor is used once, and memory is the limit.
constexpr int64_t kVectorGrain = 64 << 10;

int log2_size(DType type) {
  const uint32_t size = plugin::size_of(type);
  return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

}  // namespace

// `count` <= kMatmulBlockColumns sums that lie side by side, through the epilogue, to the results from `row`
// and `column` on in the direction of `strides`: m_strides or n_strides.
void MatmulKernel::finish_line(const Product& product, int64_t row, int64_t column, const int64_t* strides,
                               int64_t count, const char* sums) const {
  const MatmulProblem& problem = product.problem;
  const auto address = [&](uint32_t k) {
    return product.at[k] + (row * problem.m_strides[k] + column * problem.n_strides[k]) * sizes_[k];
  };
  const bool contiguous = strides[0] == 1 || count == 1;
  alignas(64) char rounded[kMatmulBlockColumns * 8];
  alignas(64) char stored[kMatmulBlockColumns * 8];
  char* const out = address(0);
  const void* inputs[plugin::kMaxInputs] = {sums};
  int64_t input_strides[plugin::kMaxInputs] = {1};
  if (rounding_ != nullptr) {
    void* const outputs[] = {rounded};
    run_program_tile(*rounding_, inputs, input_strides, nullptr, outputs, count, 0);
    inputs[0] = rounded;
  }
  const void* results = inputs[0];
  if (finishing_ != nullptr) {
    for (uint32_t k = 1; k < epilogue_inputs_; ++k) {
      inputs[k] = address(2 + k);
      input_strides[k] = strides[2 + k];
    }
    void* const outputs[] = {contiguous ? out : stored};
    run_program_tile(*finishing_, inputs, input_strides, product.args.scalars, outputs, count, 0);
    if (contiguous) return;
    results = stored;
  }
  active_vector_copy().strided[log2_size(result_type_)](out, contiguous ? 1 : strides[0],
                                                        static_cast<const char*>(results), 1, count);
}

// Sums of a block, row by row.
void MatmulKernel::finish(const Product& product, const Block& block, const char* sums,
                          int64_t stride) const {
  for (int64_t i = 0; i < block.rows; ++i) {
    finish_line(product, block.row + i, block.column, product.problem.n_strides, block.columns,
                sums + i * stride * loops_.size);
  }
}

// Whether the product is that of a matrix, as it lies, and a column.
bool MatmulKernel::is_vector_product(const MatmulProblem& problem) const {
  const bool walked = problem.left_k_stride == 1 || problem.m_strides[problem.left] == 1;
  return problem.n == 1 && problem.parts == 1 && walked && as_summed_[problem.left] &&
         as_summed_[problem.right];
}

void MatmulKernel::run_vector(const plugin::LaunchArgs& args, const MatmulProblem& problem) const {
  const int64_t blocks = (problem.m + kMatmulBlockColumns - 1) / kMatmulBlockColumns;
  const int64_t work = std::max<int64_t>(1, std::min(problem.m, kMatmulBlockColumns) * problem.k);
  threads().loop(problem.batch_count * blocks, std::max<int64_t>(1, kVectorGrain / work),
                 [&](int64_t begin, int64_t end) {
                   char* const vector =
                       thread_scratch<Scratch::Panels>(std::max<int64_t>(problem.k, 1) * loops_.size);
                   alignas(64) char sums[kMatmulBlockColumns * 8];
                   for (int64_t i = begin; i < end; ++i) {
                     const Product each = product(args, problem, i / blocks);
                     const int64_t row = i % blocks * kMatmulBlockColumns;
                     const int64_t rows = std::min(kMatmulBlockColumns, problem.m - row);
                     if (i == begin || i % blocks == 0) {
                       active_vector_copy().strided[log2_size(sum_type_)](vector, 1, each.at[problem.right],
                                                                          problem.right_k_stride, problem.k);
                     }
                     const int64_t row_stride = problem.m_strides[problem.left];
                     loops_.multiply_vector(each.at[problem.left] + row * row_stride * loops_.size,
                                            row_stride, problem.left_k_stride, rows, problem.k, vector, sums);
                     finish_line(each, row, 0, problem.m_strides, rows, sums);
                   }
                 });
}

}  // namespace backplane::cpu
