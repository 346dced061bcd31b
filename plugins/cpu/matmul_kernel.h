// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_CPU_MATMUL_KERNEL_H_
#define BACKPLANE_CPU_MATMUL_KERNEL_H_

#include "cpu/kernel.h"
#include "cpu/matmul_problem.h"
#include "cpu/program.h"
#include "cpu/vector_matmul.h"

namespace backplane::cpu {

// Rows and columns of a block of a product: its left panels stay in the second-level cache.
inline constexpr int64_t kMatmulBlockRows = 96;
inline constexpr int64_t kMatmulBlockColumns = 256;

// Multiplications that take some 10 us.
inline constexpr int64_t kMatmulGrain = int64_t{1} << 19;

constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return divide_up(a, b) * b; }

// Both factors are packed into panels, which takes care of strides and types, and blocks of the product are
// then tasks of their own. Each element's sum runs over k in order whatever the blocks are.
class MatmulKernel final : public CpuKernel {
 public:
  MatmulKernel(CpuDevice& device, const plugin::KernelDesc& desc);

  plugin::Status workspace(const plugin::LaunchArgs* args, uint64_t* bytes) noexcept override {
    *bytes = static_cast<uint64_t>(workspace_bytes(read_problem(*args)));
    return plugin::kOk;
  }
  plugin::Status run(const plugin::LaunchArgs& args) const override;

 private:
  // One product of a launch: addresses of every operand at its origin.
  struct Product {
    const plugin::LaunchArgs& args;
    const MatmulProblem& problem;
    char* at[kMatmulOperands];
  };
  // A block of the product's rows and columns.
  struct Block {
    int64_t row;
    int64_t column;
    int64_t rows;
    int64_t columns;
  };
  // Part of both factors: the right one packed, the left one too or, with `plain`, as it lies. See pack_all.
  struct Panels {
    const char* left;
    const char* right;
    int64_t k;
    int64_t rows;     // that the left panels have room for
    int64_t columns;  // that the right panels have room for
    bool plain = false;
    int64_t row_stride = 0;
    int64_t k_stride = 0;
    FetchAhead* ahead = nullptr;
  };

  bool is_small(const MatmulProblem& problem) const;
  int64_t cuts(const MatmulProblem& problem) const;
  int64_t block_rows(int64_t rows, int64_t column_blocks) const;
  int64_t depth() const;
  // The room that panels need for k positions of the sum, counted in positions.
  int64_t padded(int64_t k) const;
  int64_t chunk_rows(const MatmulProblem& problem, int64_t count, int64_t width) const;
  int64_t workspace_bytes(const MatmulProblem& problem) const;

  Product product(const plugin::LaunchArgs& args, const MatmulProblem& problem, int64_t index) const;
  void run_small(const plugin::LaunchArgs& args, const MatmulProblem& problem) const;
  void make_rows(const Product& product, char* left, const char* right, int64_t begin, int64_t end,
                 FetchAhead* ahead) const;
  FetchAhead factors(const Product& product) const;
  void run_large(const Product& product, char* workspace) const;
  bool reads_left_as_it_lies(const MatmulProblem& problem) const;
  void read_as_it_lies(const Product& product, int64_t first, Panels& panels) const;
  void pack_chunks(const Product& product, const Block& chunk, const Panels& panels, char* left,
                   char* right) const;
  void make_blocks(const Product& product, const Panels& panels, const Block& chunk) const;
  void run_parts(const Product& product, char* workspace) const;
  void pack(const Product& product, bool left, int64_t first, int64_t count, int64_t k_begin, int64_t k,
            char* panels) const;
  void pack_all(const Product& product, bool left, int64_t first, int64_t count, char* panels, int64_t offset,
                int64_t total) const;
  void multiply(const Panels& panels, int64_t row_panel, int64_t column_panel, int64_t m, int64_t n,
                char* sums, int64_t stride) const;
  void make_block(const Product& product, const Panels& panels, const Block& block, int64_t first_row,
                  int64_t first_column) const;
  bool is_vector_product(const MatmulProblem& problem) const;
  void run_vector(const plugin::LaunchArgs& args, const MatmulProblem& problem) const;
  void finish_line(const Product& product, int64_t row, int64_t column, const int64_t* strides, int64_t count,
                   const char* sums) const;
  void finish(const Product& product, const Block& block, const char* sums, int64_t stride) const;

  const MatmulLoops& loops_;
  PackFunction pack_left_[3] = {};  // by operand: 1 and 2
  PackFunction pack_right_[3] = {};
  uint32_t sizes_[kMatmulOperands] = {};
  bool as_summed_[3] = {};  // by operand: of the type that sums are made in
  plugin::DType sum_type_;
  plugin::DType result_type_;
  uint32_t epilogue_inputs_ = 1;
  CompiledProgramPtr finishing_;  // null: sums are results
  CompiledProgramPtr rounding_;   // null but where sums are rounded to a narrower type before the epilogue
};

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_MATMUL_KERNEL_H_
