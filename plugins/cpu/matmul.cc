// SPDX-License-Identifier: Apache-2.0
// The matmul family: how products are cut into blocks.
#include "cpu/families.h"
#include "cpu/matmul_kernel.h"
#include "cpu/scratch.h"

namespace backplane::cpu {
namespace {

using plugin::DType;
using plugin::make_status;
using plugin::Status;
using plugin::StatusCode;

// Positions of k that a block runs over at once: its right panel then stays in the first-level cache.
constexpr int64_t kDepth = 256;
// Multiplications that take some 10 us.
constexpr int64_t kGrain = int64_t{1} << 19;
// A product whose packed factors are no larger than this is one task; a batch of them is many.
constexpr int64_t kSmallBytes = 512 << 10;
constexpr int64_t kSmallProduct = int64_t{1} << 21;
// Multiplications of a part of a small product that another thread is worth waking for.
constexpr int64_t kCutWork = int64_t{1} << 18;
constexpr int64_t kMostCuts = 8;
// Blocks for each thread, so that all end at nearly the same time.
constexpr int64_t kBlocksPerThread = 4;
constexpr int64_t kFewestBlockRows = 24;
// Elements of one factor that are packed at once in a larger product.
constexpr int64_t kPackedElements = int64_t{1} << 24;

constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return divide_up(a, b) * b; }

SumType sum_type(DType type) {
  constexpr SumType kTypes[plugin::kDTypeCount] = {
      SumType::Integer8, SumType::Integer8,  SumType::Integer16, SumType::Integer32, SumType::Integer64,
      SumType::Integer8, SumType::Integer16, SumType::Integer32, SumType::Integer64, SumType::Float32,
      SumType::Float32,  SumType::Float32,   SumType::Float64};
  return kTypes[static_cast<size_t>(type)];
}

// 8-bit factors of 32-bit sums are multiplied in pairs where there is an instruction for it.
const MatmulLoops& loops_for(const plugin::KernelDesc& desc) {
  const MatmulTable& table = active_matmul_table();
  const MatmulLoops& pairs = table.loops[static_cast<size_t>(SumType::Pairs)];
  const SumType type = sum_type(desc.compute_type);
  const bool in_pairs = type == SumType::Integer32 &&
                        pairs.pack_left[static_cast<size_t>(desc.types[1])] != nullptr &&
                        pairs.pack_left[static_cast<size_t>(desc.types[2])] != nullptr;
  return in_pairs ? pairs : table.loops[static_cast<size_t>(type)];
}

// The type whose bits the sums have: that of the descriptor, but float32 for float16 and bfloat16.
DType stored_sum_type(DType type) {
  return type == DType::Float16 || type == DType::BFloat16 ? DType::Float32 : type;
}

// Sums to results: what the descriptor's epilogue does, from the type that sums have here. Empty (no output)
// where sums are the results as they stand.
plugin::Program finishing_program(const plugin::KernelDesc& desc) {
  plugin::Program program = desc.epilogue;
  const bool given = program.output_count != 0 && program.instruction_count != 0;
  if (!given) {
    program = plugin::Program{};
    program.input_count = 1;
    program.output_count = 1;
    program.input_types[0] = desc.compute_type;
    if (desc.types[0] != desc.compute_type) {
      program.instructions[0] = {plugin::ScalarOp::cast, desc.types[0], {0, 0, 0}, {}};
      program.instruction_count = 1;
      program.outputs[0] = plugin::kResultSlot;
    }
  }
  return program;
}

}  // namespace

MatmulKernel::MatmulKernel(CpuDevice& device, const plugin::KernelDesc& desc)
    : CpuKernel(device), loops_(loops_for(desc)) {
  for (int operand = 1; operand <= 2; ++operand) {
    const auto type = static_cast<size_t>(desc.types[operand]);
    pack_left_[operand] = loops_.pack_left[type];
    pack_right_[operand] = loops_.pack_right[type];
    sizes_[operand] = plugin::size_of(desc.types[operand]);
    as_summed_[operand] = desc.types[operand] == stored_sum_type(desc.compute_type);
  }
  const plugin::Program program = finishing_program(desc);
  const DType stored = stored_sum_type(desc.compute_type);
  sum_type_ = stored;
  result_type_ = output_type(program, 0);
  epilogue_inputs_ = program.input_count;
  if (stored != desc.compute_type) {
    plugin::Program rounding{};
    rounding.input_count = 1;
    rounding.output_count = 1;
    rounding.outputs[0] = plugin::kResultSlot;
    rounding.input_types[0] = stored;
    rounding.instruction_count = 1;
    rounding.instructions[0] = {plugin::ScalarOp::cast, desc.compute_type, {0, 0, 0}, {}};
    rounding_ = compile_program(rounding);
  }
  if (!is_identity(program)) finishing_ = compile_program(program);
  sizes_[0] = plugin::size_of(result_type_);
  for (uint32_t i = 1; i < epilogue_inputs_; ++i) sizes_[2 + i] = plugin::size_of(program.input_types[i]);
}

// Multiplications of one product are few, and its factors fit the second-level cache.
bool MatmulKernel::is_small(const MatmulProblem& problem) const {
  const int64_t packed = (round_up(problem.m, loops_.rows) + round_up(problem.n, loops_.columns)) *
                         padded(problem.k) * loops_.panel_size;
  const bool many = problem.batch_count > 1 || problem.m * problem.n * problem.k <= kSmallProduct;
  return problem.parts == 1 && packed <= kSmallBytes && many;
}

// How many of `count` rows are packed at once.
int64_t MatmulKernel::chunk_rows(const MatmulProblem& problem, int64_t count, int64_t width) const {
  const int64_t most = std::max<int64_t>(kPackedElements / std::max<int64_t>(problem.part, 1), 4 * width);
  return round_up(std::min(count, most), width);
}

int64_t MatmulKernel::workspace_bytes(const MatmulProblem& problem) const {
  if (is_vector_product(problem) || is_small(problem)) return 0;
  const int64_t rows = chunk_rows(problem, problem.m, loops_.rows);
  const int64_t columns = chunk_rows(problem, problem.n, loops_.columns);
  const int64_t sums = problem.parts == 1 ? 0 : problem.parts * round_up(problem.m * problem.n, 64);
  const int64_t k = padded(problem.part);
  return (round_up(rows * k, 64) + round_up(columns * k, 64)) * loops_.panel_size + sums * loops_.size;
}

// Parts of a single small product's rows that are tasks of their own.
int64_t MatmulKernel::cuts(const MatmulProblem& problem) const {
  if (problem.batch_count > 1) return 1;
  const int64_t most =
      std::min({problem.m * problem.n * problem.k / kCutWork, kMostCuts, divide_up(problem.m, loops_.rows)});
  int64_t cuts = 1;
  while (2 * cuts <= most) cuts *= 2;
  return cuts;
}

// The most rows of a block, up to what the cache holds, that leave enough blocks for all threads.
int64_t MatmulKernel::block_rows(int64_t rows, int64_t column_blocks) const {
  int64_t size = kMatmulBlockRows;
  while (size > kFewestBlockRows &&
         divide_up(rows, size) * column_blocks < kBlocksPerThread * threads().count())
    size /= 2;
  return size;
}

MatmulKernel::Product MatmulKernel::product(const plugin::LaunchArgs& args, const MatmulProblem& problem,
                                            int64_t index) const {
  Product product{args, problem, {}};
  const Walker<kMatmulOperands> walker(problem.batch, problem.batch.rank, index);
  for (uint32_t k = 0; k < args.operand_count && k < kMatmulOperands; ++k) {
    product.at[k] = operand_pointer(args, k) + walker.offset(static_cast<int>(k)) * sizes_[k];
  }
  return product;
}

Status MatmulKernel::run(const plugin::LaunchArgs& args) const {
  const MatmulProblem problem = read_problem(args);
  const int64_t needed = workspace_bytes(problem);
  if (static_cast<uint64_t>(needed) > args.workspace_bytes) {
    return make_status(StatusCode::InvalidArgument, 0, "%s: the workspace has %llu bytes, %lld are needed",
                       args.label, static_cast<unsigned long long>(args.workspace_bytes),
                       static_cast<long long>(needed));
  }
  if (is_vector_product(problem)) {
    run_vector(args, problem);
    return plugin::kOk;
  }
  if (is_small(problem)) {
    run_small(args, problem);
    return plugin::kOk;
  }
  char* const workspace = static_cast<char*>(args.workspace->host_pointer()) + args.workspace_offset;
  for (int64_t i = 0; i < problem.batch_count; ++i) {
    const Product each = product(args, problem, i);
    if (problem.parts > 1) {
      run_parts(each, workspace);
    } else {
      run_large(each, workspace);
    }
  }
  return plugin::kOk;
}

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

// A block of sums from whole panels, kDepth positions of k at a time.
void MatmulKernel::multiply(const Panels& panels, int64_t row_panel, int64_t column_panel, int64_t m,
                            int64_t n, char* sums, int64_t stride) const {
  const int64_t left_distance = padded(panels.k) * loops_.rows;
  const int64_t right_distance = padded(panels.k) * loops_.columns;
  int64_t k = 0;
  do {
    const int64_t depth = std::min(kDepth, panels.k - k);
    const char* const right =
        panels.right + (column_panel * right_distance + k * loops_.columns) * loops_.panel_size;
    if (panels.plain) {
      const int64_t row = row_panel * loops_.rows;
      loops_.multiply_unpacked(
          m, n, depth, panels.left + (row * panels.row_stride + k * panels.k_stride) * loops_.size,
          panels.row_stride, panels.k_stride, right, right_distance, sums, stride, k > 0);
    } else {
      loops_.multiply(m, n, depth,
                      panels.left + (row_panel * left_distance + k * loops_.rows) * loops_.panel_size,
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

// Whole products, or parts of one product's rows, in one thread each.
void MatmulKernel::run_small(const plugin::LaunchArgs& args, const MatmulProblem& problem) const {
  const int64_t k = padded(problem.k);
  const int64_t left_elements = round_up(round_up(problem.m, loops_.rows) * k, 64);
  const int64_t right_elements = round_up(problem.n, loops_.columns) * k;
  const bool shared = problem.right_is_shared();
  const int64_t parts = cuts(problem);
  const int64_t rows = round_up(divide_up(problem.m, parts), loops_.rows);
  const int64_t work = std::max<int64_t>(1, problem.m * problem.n * problem.k / parts);
  const int64_t grain = parts > 1 ? 1 : std::max<int64_t>(1, kGrain / work);
  threads().loop(problem.batch_count * parts, grain, [&](int64_t begin, int64_t end) {
    char* const left = thread_scratch<Scratch::Panels>((left_elements + right_elements) * loops_.panel_size);
    char* const right = left + left_elements * loops_.panel_size;
    for (int64_t i = begin; i < end; ++i) {
      const Product each = product(args, problem, i / parts);
      if (i == begin || (!shared && i % parts == 0)) pack(each, false, 0, problem.n, 0, problem.k, right);
      const int64_t first = i % parts * rows;
      make_rows(each, left, right, first, std::min(first + rows, problem.m));
    }
  });
}

// Rows [begin, end) of a product whose right factor is packed whole; `left` is room for the left one.
void MatmulKernel::make_rows(const Product& product, char* left, const char* right, int64_t begin,
                             int64_t end) const {
  const MatmulProblem& problem = product.problem;
  Panels panels{left, right, problem.k};
  panels.plain = loops_.multiply_unpacked != nullptr && as_summed_[problem.left];
  panels.row_stride = problem.m_strides[problem.left];
  panels.k_stride = problem.left_k_stride;
  if (begin >= end) return;
  if (panels.plain) {
    panels.left = product.at[problem.left] + begin * panels.row_stride * sizes_[problem.left];
  } else {
    pack(product, true, begin, end - begin, 0, problem.k, left);
  }
  for (int64_t column = 0; column < problem.n; column += kMatmulBlockColumns) {
    for (int64_t row = begin; row < end; row += kMatmulBlockRows) {
      make_block(product, panels,
                 {row, column, std::min(kMatmulBlockRows, end - row),
                  std::min(kMatmulBlockColumns, problem.n - column)},
                 begin, 0);
    }
  }
}

// One product on all threads: chunks of both factors are packed, then blocks of the product made of them.
void MatmulKernel::run_large(const Product& product, char* workspace) const {
  const MatmulProblem& problem = product.problem;
  const int64_t row_chunk = chunk_rows(problem, problem.m, loops_.rows);
  const int64_t column_chunk = chunk_rows(problem, problem.n, loops_.columns);
  char* const left = workspace;
  const int64_t k = padded(problem.k);
  char* const right = left + round_up(row_chunk * k, 64) * loops_.panel_size;
  const auto pack_chunk = [&](bool is_left, int64_t first, int64_t count, char* panels) {
    const int64_t width = is_left ? loops_.rows : loops_.columns;
    const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(width * problem.k, 1));
    threads().loop(divide_up(count, width), grain, [&](int64_t begin, int64_t end) {
      const int64_t rows = std::min(end * width, count) - begin * width;
      pack(product, is_left, first + begin * width, rows, 0, problem.k,
           panels + begin * width * k * loops_.panel_size);
    });
  };
  for (int64_t first_column = 0; first_column < problem.n; first_column += column_chunk) {
    const int64_t columns = std::min(column_chunk, problem.n - first_column);
    pack_chunk(false, first_column, columns, right);
    for (int64_t first_row = 0; first_row < problem.m; first_row += row_chunk) {
      const int64_t rows = std::min(row_chunk, problem.m - first_row);
      pack_chunk(true, first_row, rows, left);
      const int64_t column_blocks = divide_up(columns, kMatmulBlockColumns);
      const int64_t height = block_rows(rows, column_blocks);
      const int64_t row_blocks = divide_up(rows, height);
      const int64_t work = std::max<int64_t>(1, height * std::min(columns, kMatmulBlockColumns) * problem.k);
      threads().loop(row_blocks * column_blocks, std::max<int64_t>(1, kGrain / work),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; ++i) {
                         const int64_t row = i % row_blocks * height;
                         const int64_t column = i / row_blocks * kMatmulBlockColumns;
                         make_block(product, {left, right, problem.k},
                                    {first_row + row, first_column + column, std::min(height, rows - row),
                                     std::min(kMatmulBlockColumns, columns - column)},
                                    first_row, first_column);
                       }
                     });
    }
  }
}

// A small product with a long k: every part of k is a product of its own; they are added in pairs.
void MatmulKernel::run_parts(const Product& product, char* workspace) const {
  const MatmulProblem& problem = product.problem;
  const int64_t elements = round_up(problem.m * problem.n, 64);
  const int64_t row_chunk = chunk_rows(problem, problem.m, loops_.rows);
  const int64_t column_chunk = chunk_rows(problem, problem.n, loops_.columns);
  const int64_t k_padded = padded(problem.part);
  char* const sums =
      workspace +
      (round_up(row_chunk * k_padded, 64) + round_up(column_chunk * k_padded, 64)) * loops_.panel_size;
  const auto sums_of = [&](int64_t part) { return sums + part * elements * loops_.size; };
  threads().loop(problem.parts, 1, [&](int64_t begin, int64_t end) {
    const int64_t left_elements = round_up(loops_.rows * kDepth, 64);
    char* const left =
        thread_scratch<Scratch::Panels>((left_elements + loops_.columns * kDepth) * loops_.panel_size);
    char* const right = left + left_elements * loops_.panel_size;
    for (int64_t part = begin; part < end; ++part) {
      const int64_t k_end = std::min((part + 1) * problem.part, problem.k);
      for (int64_t k = part * problem.part; k < k_end; k += kDepth) {
        const int64_t depth = std::min(kDepth, k_end - k);
        for (int64_t column = 0; column < problem.n; column += loops_.columns) {
          const int64_t columns = std::min<int64_t>(loops_.columns, problem.n - column);
          pack(product, false, column, columns, k, depth, right);
          for (int64_t row = 0; row < problem.m; row += loops_.rows) {
            const int64_t rows = std::min<int64_t>(loops_.rows, problem.m - row);
            pack(product, true, row, rows, k, depth, left);
            loops_.multiply(rows, columns, depth, left, 0, right, 0,
                            sums_of(part) + (row * problem.n + column) * loops_.size, problem.n,
                            k > part * problem.part);
          }
        }
      }
    }
  });
  for (int64_t step = 1; step < problem.parts; step *= 2) {
    for (int64_t part = 0; part + step < problem.parts; part += 2 * step) {
      loops_.add(sums_of(part), sums_of(part + step), problem.m * problem.n);
    }
  }
  for (int64_t column = 0; column < problem.n; column += kMatmulBlockColumns) {
    finish(product, {0, column, problem.m, std::min(kMatmulBlockColumns, problem.n - column)},
           sums + column * loops_.size, problem.n);
  }
}

namespace {

Status invalid(const char* what) { return make_status(StatusCode::InvalidArgument, 0, "matmul: %s", what); }

}  // namespace

Status supports_matmul(const CpuDevice&, const plugin::KernelDesc& desc) {
  for (const DType type : {desc.compute_type, desc.types[0], desc.types[1], desc.types[2]}) {
    if (plugin::size_of(type) == 0) return invalid("a type is unknown");
    if (type == DType::Bool) return make_status(StatusCode::Unimplemented, 0, "matmul: bool has no products");
  }
  const MatmulLoops& loops = active_matmul_table().loops[static_cast<size_t>(sum_type(desc.compute_type))];
  if (loops.pack_left[static_cast<size_t>(desc.types[1])] == nullptr ||
      loops.pack_left[static_cast<size_t>(desc.types[2])] == nullptr) {
    return make_status(StatusCode::Unimplemented, 0, "matmul: integers and floating values do not mix");
  }
  if (desc.epilogue.output_count == 0 || desc.epilogue.instruction_count == 0) return plugin::kOk;
  if (Status status = check_program(desc.epilogue); !status.ok()) return status;
  if (desc.epilogue.output_count != 1 || output_type(desc.epilogue, 0) != desc.types[0]) {
    return invalid("the epilogue needs one output, of the result's type");
  }
  if (desc.epilogue.input_count == 0 || desc.epilogue.input_types[0] != desc.compute_type) {
    return invalid("the epilogue's input 0 is not of the type that sums are made in");
  }
  return plugin::kOk;
}

Status create_matmul(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  *kernel = new MatmulKernel(device, desc);
  return plugin::kOk;
}

}  // namespace backplane::cpu
