// SPDX-License-Identifier: Apache-2.0
// How products are cut into blocks, and blocks made of panels.
#include <atomic>

#include "cpu/matmul_kernel.h"
#include "cpu/scratch.h"

namespace backplane::cpu {
namespace {

// Positions of k that a block runs over at once: a right panel then stays near the first-level cache, and
// sums are read and written again as seldom as that allows.
constexpr int64_t kPanelBytes = 64 << 10;
constexpr int64_t kDepthBytes = 2048;
// Blocks for each thread, so that all end at nearly the same time.
constexpr int64_t kBlocksPerThread = 16;
constexpr int64_t kFewestBlockRows = 12;
// Bytes between rows of a left factor that is read as it lies: where rows are further apart, too many of them
// share a set of the first-level cache and a page holds too little of each.
constexpr int64_t kPlainRowBytes = 2048;
// Elements that are packed in some 8 us.
constexpr int64_t kPackGrain = 32 << 10;
// Elements of one factor that are packed at once in a larger product.
constexpr int64_t kPackedElements = int64_t{1} << 24;

}  // namespace

void MatmulKernel::pack(const Product& product, bool left, int64_t first, int64_t count, int64_t k_begin,
                        int64_t k, char* panels) const {
  const MatmulProblem& problem = product.problem;
  const int operand = left ? problem.left : problem.right;
  const int64_t row_stride = left ? problem.m_strides[operand] : problem.n_strides[operand];
  const int64_t k_stride = left ? problem.left_k_stride : problem.right_k_stride;
  const char* const source =
      product.at[operand] + (first * row_stride + k_begin * k_stride) * sizes_[operand];
  (left ? pack_left_ : pack_right_)[operand](source, row_stride, k_stride, count, k, panels);
}

int64_t MatmulKernel::depth() const {
  return std::min(kPanelBytes / (loops_.columns * loops_.panel_size), kDepthBytes / loops_.panel_size);
}

int64_t MatmulKernel::padded(int64_t k) const {
  const auto room = [&](int64_t positions) { return round_up(positions, loops_.k_step) + loops_.k_extra; };
  const int64_t rest = k % depth();
  return k / depth() * room(depth()) + (rest == 0 ? 0 : room(rest));
}

// All of k, depth() positions after depth() positions: `total` rows are packed for each of these before the
// next, of which this call packs those from `offset` on.
void MatmulKernel::pack_all(const Product& product, bool left, int64_t first, int64_t count, char* panels,
                            int64_t offset, int64_t total) const {
  for (int64_t k = 0; k < product.problem.k; k += depth()) {
    const int64_t deep = std::min(depth(), product.problem.k - k);
    pack(product, left, first, count, k, deep,
         panels + (total * padded(k) + offset * padded(deep)) * loops_.panel_size);
  }
}

// A block of sums from whole panels, depth() positions of k at a time.
void MatmulKernel::multiply(const Panels& panels, int64_t row_panel, int64_t column_panel, int64_t m,
                            int64_t n, char* sums, int64_t stride) const {
  int64_t k = 0;
  do {
    const int64_t depth = std::min(this->depth(), panels.k - k);
    const int64_t left_distance = padded(depth) * loops_.rows;
    const int64_t right_distance = padded(depth) * loops_.columns;
    const char* const right =
        panels.right + (panels.columns * padded(k) + column_panel * right_distance) * loops_.panel_size;
    if (panels.plain) {
      const int64_t row = row_panel * loops_.rows;
      loops_.multiply_unpacked(
          m, n, depth, panels.left + (row * panels.row_stride + k * panels.k_stride) * loops_.size,
          panels.row_stride, panels.k_stride, right, right_distance, sums, stride, k > 0, panels.ahead);
    } else {
      loops_.multiply(m, n, depth,
                      panels.left + (panels.rows * padded(k) + row_panel * left_distance) * loops_.panel_size,
                      left_distance, right, right_distance, sums, stride, k > 0);
    }
    k += depth;
  } while (k < panels.k);
}

// One block of results; panels start at the product's row `first_row` and column `first_column`.
void MatmulKernel::make_block(const Product& product, const Panels& panels, const Block& block,
                              int64_t first_row, int64_t first_column) const {
  const MatmulProblem& problem = product.problem;
  const int64_t row_panel = (block.row - first_row) / loops_.rows;
  const int64_t column_panel = (block.column - first_column) / loops_.columns;
  const bool direct =
      finishing_ == nullptr && rounding_ == nullptr && (problem.n_strides[0] == 1 || problem.n == 1);
  if (direct) {
    char* const out =
        product.at[0] + (block.row * problem.m_strides[0] + block.column * problem.n_strides[0]) * sizes_[0];
    multiply(panels, row_panel, column_panel, block.rows, block.columns, out, problem.m_strides[0]);
    return;
  }
  char* const sums = thread_scratch<Scratch::Sums>(kMatmulBlockRows * kMatmulBlockColumns * loops_.size);
  multiply(panels, row_panel, column_panel, block.rows, block.columns, sums, kMatmulBlockColumns);
  finish(product, block, sums, kMatmulBlockColumns);
}

// How many of `count` rows are packed at once.
int64_t MatmulKernel::chunk_rows(const MatmulProblem& problem, int64_t count, int64_t width) const {
  const int64_t most = std::max<int64_t>(kPackedElements / std::max<int64_t>(problem.part, 1), 4 * width);
  return round_up(std::min(count, most), width);
}

// The most rows of a block, up to what the cache holds, that leave enough blocks for all threads.
int64_t MatmulKernel::block_rows(int64_t rows, int64_t column_blocks) const {
  int64_t size = kMatmulBlockRows;
  while (size > kFewestBlockRows &&
         divide_up(rows, size) * column_blocks < kBlocksPerThread * threads().count())
    size /= 2;
  return size;
}

// The left factor from row `first` on.
void MatmulKernel::read_as_it_lies(const Product& product, int64_t first, Panels& panels) const {
  const MatmulProblem& problem = product.problem;
  panels.plain = true;
  panels.row_stride = problem.m_strides[problem.left];
  panels.k_stride = problem.left_k_stride;
  panels.left = product.at[problem.left] + first * panels.row_stride * sizes_[problem.left];
}

// Whether packing the left factor of a larger product would cost more than it gains.
bool MatmulKernel::reads_left_as_it_lies(const MatmulProblem& problem) const {
  return loops_.multiply_unpacked != nullptr && as_summed_[problem.left] && problem.left_k_stride == 1 &&
         std::abs(problem.m_strides[problem.left]) * sizes_[problem.left] <= kPlainRowBytes;
}

// One product on all threads: chunks of both factors are packed, then blocks of the product made of them.
void MatmulKernel::run_large(const Product& product, char* workspace) const {
  const MatmulProblem& problem = product.problem;
  const bool plain = reads_left_as_it_lies(problem);
  const int64_t row_chunk = plain ? problem.m : chunk_rows(problem, problem.m, loops_.rows);
  const int64_t column_chunk = chunk_rows(problem, problem.n, loops_.columns);
  const int64_t k = padded(problem.k);
  char* const right = workspace;
  char* const left = right + round_up(column_chunk * k, 64) * loops_.panel_size;
  for (int64_t first_column = 0; first_column < problem.n; first_column += column_chunk) {
    const int64_t columns = std::min(column_chunk, problem.n - first_column);
    for (int64_t first_row = 0; first_row < problem.m; first_row += row_chunk) {
      const int64_t rows = std::min(row_chunk, problem.m - first_row);
      Panels panels{left, right, problem.k, round_up(rows, loops_.rows), round_up(columns, loops_.columns)};
      if (plain) read_as_it_lies(product, first_row, panels);
      pack_chunks(product, {first_row, first_column, plain ? 0 : rows, first_row == 0 ? columns : 0}, panels,
                  left, right);
      make_blocks(product, panels, {first_row, first_column, rows, columns});
    }
  }
}

// Packs the rows of both factors that make `chunk` of the product.
void MatmulKernel::pack_chunks(const Product& product, const Block& chunk, const Panels& panels, char* left,
                               char* right) const {
  const int64_t right_panels = divide_up(chunk.columns, loops_.columns);
  const int64_t left_panels = divide_up(chunk.rows, loops_.rows);
  const auto pack_some = [&](bool is_left, int64_t begin, int64_t end) {
    if (begin >= end) return;
    const int64_t width = is_left ? loops_.rows : loops_.columns;
    const int64_t count = std::min(end * width, is_left ? chunk.rows : chunk.columns) - begin * width;
    const int64_t first = (is_left ? chunk.row : chunk.column) + begin * width;
    pack_all(product, is_left, first, count, is_left ? left : right, begin * width,
             is_left ? panels.rows : panels.columns);
  };
  const int64_t grain = std::max<int64_t>(1, kPackGrain / std::max<int64_t>(loops_.columns * panels.k, 1));
  threads().loop(right_panels + left_panels, grain, [&](int64_t begin, int64_t end) {
    pack_some(false, begin, std::min(end, right_panels));
    pack_some(true, std::max(begin, right_panels) - right_panels, end - right_panels);
  });
}

// The blocks of `chunk`, which the panels are those of. Each thread takes the next when it is done with one:
// ranges given out beforehand would end at different times.
void MatmulKernel::make_blocks(const Product& product, const Panels& panels, const Block& chunk) const {
  const int64_t column_blocks = divide_up(chunk.columns, kMatmulBlockColumns);
  const int64_t height = block_rows(chunk.rows, column_blocks);
  const int64_t row_blocks = divide_up(chunk.rows, height);
  const int64_t blocks = row_blocks * column_blocks;
  const int64_t work = std::max<int64_t>(1, height * std::min(chunk.columns, kMatmulBlockColumns) * panels.k);
  std::atomic<int64_t> next = 0;
  threads().loop(blocks, std::max<int64_t>(1, kMatmulGrain / work), [&](int64_t, int64_t) {
    for (int64_t i = next++; i < blocks; i = next++) {
      const int64_t row = i % row_blocks * height;
      const int64_t column = i / row_blocks * kMatmulBlockColumns;
      make_block(product, panels,
                 {chunk.row + row, chunk.column + column, std::min(height, chunk.rows - row),
                  std::min(kMatmulBlockColumns, chunk.columns - column)},
                 chunk.row, chunk.column);
    }
  });
}

}  // namespace backplane::cpu
