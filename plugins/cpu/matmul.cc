// SPDX-License-Identifier: Apache-2.0
// The matmul family: what a kernel is made of, and products that one thread makes whole or a part of.
#include "cpu/families.h"
#include "cpu/matmul_kernel.h"
#include "cpu/scratch.h"

namespace backplane::cpu {
namespace {

using plugin::DType;
using plugin::make_status;
using plugin::Status;
using plugin::StatusCode;

// A product whose packed factors are no larger than this is one task; a batch of them is many.
constexpr int64_t kSmallBytes = 576 << 10;
constexpr int64_t kSmallProduct = int64_t{1} << 24;
// Multiplications of a part of a small product that another thread is worth waking for.
constexpr int64_t kCutWork = int64_t{1} << 18;
constexpr int64_t kMostCuts = 8;
constexpr int64_t kCutRows = 4;

SumType sum_type(DType type) {
  constexpr SumType kTypes[plugin::kDTypeCount] = {
      SumType::Integer8, SumType::Integer8,  SumType::Integer16, SumType::Integer32, SumType::Integer64,
      SumType::Integer8, SumType::Integer16, SumType::Integer32, SumType::Integer64, SumType::Float32,
      SumType::Float32,  SumType::Float32,   SumType::Float64};
  return kTypes[static_cast<size_t>(type)];
}

// 8-bit factors of 32-bit sums are multiplied in fours or in pairs where there is an instruction for it.
const MatmulLoops& loops_for(const plugin::KernelDesc& desc) {
  const MatmulTable& table = active_matmul_table();
  const MatmulLoops& pairs = table.loops[static_cast<size_t>(SumType::Pairs)];
  const SumType type = sum_type(desc.compute_type);
#if defined(__x86_64__)
  if (type == SumType::Integer32 && desc.types[1] == DType::Int8 && desc.types[2] == DType::Int8 &&
      has_vnni())
    return avx512_vnni::quad_loops;
#endif
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

int64_t MatmulKernel::workspace_bytes(const MatmulProblem& problem) const {
  if (is_vector_product(problem) || is_small(problem)) return 0;
  const bool plain = problem.parts == 1 && reads_left_as_it_lies(problem);
  const int64_t rows = plain ? 0 : chunk_rows(problem, problem.m, loops_.rows);
  const int64_t columns = chunk_rows(problem, problem.n, loops_.columns);
  const int64_t sums = problem.parts == 1 ? 0 : problem.parts * round_up(problem.m * problem.n, 64);
  const int64_t k = padded(problem.part);
  return (round_up(rows * k, 64) + round_up(columns * k, 64)) * loops_.panel_size + sums * loops_.size;
}

// Parts of a single small product's rows that are tasks of their own. Each packs the whole right factor, so
// that there are no more than threads.
int64_t MatmulKernel::cuts(const MatmulProblem& problem) const {
  if (problem.batch_count > 1) return 1;
  const int64_t most = std::min({problem.m * problem.n * problem.k / kCutWork, kMostCuts,
                                 int64_t{threads().count()}, divide_up(problem.m, loops_.rows)});
  return std::max<int64_t>(most, 1);
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

// Whole products, or parts of one product's rows, in one thread each.
void MatmulKernel::run_small(const plugin::LaunchArgs& args, const MatmulProblem& problem) const {
  const int64_t k = padded(problem.k);
  const int64_t left_elements = round_up(round_up(problem.m, loops_.rows) * k, 64);
  const int64_t right_elements = round_up(problem.n, loops_.columns) * k;
  const bool shared = problem.right_is_shared();
  const int64_t parts = cuts(problem);
  const int64_t rows = round_up(divide_up(problem.m, parts), kCutRows);
  const int64_t work = std::max<int64_t>(1, problem.m * problem.n * problem.k / parts);
  const int64_t grain = parts > 1 ? 1 : std::max<int64_t>(1, kMatmulGrain / work);
  threads().loop(problem.batch_count * parts, grain, [&](int64_t begin, int64_t end) {
    char* const left = thread_scratch<Scratch::Panels>((left_elements + right_elements) * loops_.panel_size);
    char* const right = left + left_elements * loops_.panel_size;
    for (int64_t i = begin; i < end; ++i) {
      const Product each = product(args, problem, i / parts);
      if (i == begin || (!shared && i % parts == 0))
        pack_all(each, false, 0, problem.n, right, 0, round_up(problem.n, loops_.columns));
      const int64_t first = i % parts * rows;
      FetchAhead ahead;
      if (parts == 1 && i + 1 < end) ahead = factors(product(args, problem, i + 1));
      make_rows(each, left, right, first, std::min(first + rows, problem.m), &ahead);
    }
  });
}

// Where the factors lie, if they have no gaps: the right one, which is packed, first.
FetchAhead MatmulKernel::factors(const Product& product) const {
  const MatmulProblem& problem = product.problem;
  FetchAhead ahead;
  if (problem.right_k_stride == problem.n && problem.n_strides[problem.right] == 1) {
    ahead.at = product.at[problem.right];
    ahead.end = ahead.at + problem.k * problem.n * sizes_[problem.right];
  }
  if (problem.m_strides[problem.left] == problem.k && problem.left_k_stride == 1) {
    ahead.later = product.at[problem.left];
    ahead.later_end = ahead.later + problem.m * problem.k * sizes_[problem.left];
  }
  return ahead;
}

// Rows [begin, end) of a product whose right factor is packed whole; `left` is room for the left one.
void MatmulKernel::make_rows(const Product& product, char* left, const char* right, int64_t begin,
                             int64_t end, FetchAhead* ahead) const {
  const MatmulProblem& problem = product.problem;
  if (begin >= end) return;
  Panels panels{left, right, problem.k, round_up(end - begin, loops_.rows),
                round_up(problem.n, loops_.columns)};
  if (loops_.multiply_unpacked != nullptr && as_summed_[problem.left]) {
    read_as_it_lies(product, begin, panels);
    panels.ahead = ahead;
  } else {
    pack_all(product, true, begin, end - begin, left, 0, panels.rows);
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
  const int64_t deepest = depth();
  threads().loop(problem.parts, 1, [&](int64_t begin, int64_t end) {
    const int64_t left_elements = round_up(loops_.rows * padded(deepest), 64);
    char* const left = thread_scratch<Scratch::Panels>((left_elements + loops_.columns * padded(deepest)) *
                                                       loops_.panel_size);
    char* const right = left + left_elements * loops_.panel_size;
    for (int64_t part = begin; part < end; ++part) {
      const int64_t k_end = std::min((part + 1) * problem.part, problem.k);
      for (int64_t k = part * problem.part; k < k_end; k += deepest) {
        const int64_t depth = std::min(deepest, k_end - k);
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
