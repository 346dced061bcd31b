// SPDX-License-Identifier: Apache-2.0
// The reduce family: prologue, combining, epilogue, in pieces whose number depends on the sizes alone.
#include <cstring>

#include "cpu/families.h"
#include "cpu/kernel.h"
#include "cpu/program.h"
#include "cpu/reduce_plan.h"
#include "cpu/vector_copy.h"
#include "cpu/vector_reduce.h"

namespace backplane::cpu {
namespace {

using plugin::DType;
using plugin::make_status;
using plugin::ReduceOp;
using plugin::Status;
using plugin::StatusCode;

constexpr int64_t kGrainValues = 32768;
constexpr uint64_t kAlignment = 64;

using ReduceWalker = Walker<kReduceOperands>;

bool is_position(uint8_t op) {
  return op == static_cast<uint8_t>(ReduceOp::ArgMax) || op == static_cast<uint8_t>(ReduceOp::ArgMin);
}

constexpr uint64_t round_up(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

int log2_size(DType type) {
  const uint32_t size = plugin::size_of(type);
  return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

// The program with a cast to `type` behind its output, where that is another.
plugin::Program with_cast(const plugin::Program& program, DType type) {
  plugin::Program result = program;
  if (output_type(program, 0) == type) return result;
  plugin::Instruction& cast = result.instructions[result.instruction_count];
  cast = {plugin::ScalarOp::cast, type, {program.outputs[0], 0, 0}, {}};
  result.outputs[0] = static_cast<uint8_t>(plugin::kResultSlot + result.instruction_count++);
  return result;
}

// Whether the program does no more than widen float32 to float64, where its sums and products are made
// anyway.
bool only_widens(const plugin::Program& program) {
  const plugin::Instruction& first = program.instructions[0];
  return program.input_count == 1 && program.output_count == 1 && program.instruction_count == 1 &&
         program.outputs[0] == plugin::kResultSlot && first.op == plugin::ScalarOp::cast &&
         first.result == DType::Float64 && first.args[0] == 0 && program.input_types[0] == DType::Float32;
}

// The loops of float32, with results as they are combined: the widening needs no pass of its own.
ReduceLoops widening_loops(uint8_t op) {
  const auto& loops = active_reduce_table().loops[op];
  ReduceLoops result = loops[static_cast<size_t>(DType::Float32)];
  result.finish = loops[static_cast<size_t>(DType::Float64)].finish;
  return result;
}

bool is_sum(uint8_t op) {
  return op == static_cast<uint8_t>(ReduceOp::Sum) || op == static_cast<uint8_t>(ReduceOp::Prod);
}

// Accumulators of some outputs, side by side; positions only where the operation has them.
struct Partials {
  char* accumulators;
  int64_t* positions;
};

class ReduceKernel final : public CpuKernel {
 public:
  ReduceKernel(CpuDevice& device, const plugin::KernelDesc& desc)
      : CpuKernel(device),
        loops_(active_reduce_table().loops[desc.op][static_cast<size_t>(desc.compute_type)]),
        positions_(is_position(desc.op)),
        result_type_(positions_ ? DType::Int64 : desc.compute_type),
        prologue_inputs_(desc.program.input_count),
        prologue_scalars_(desc.program.scalar_count) {
    plugin::Program prologue = with_cast(desc.program, desc.compute_type);
    if (is_sum(desc.op) && only_widens(prologue)) {
      loops_ = widening_loops(desc.op);
      prologue.instruction_count = 0;
      prologue.outputs[0] = 0;
    }
    direct_ = is_identity(prologue);
    prologue_ = compile_program(prologue);
    output_type_ = result_type_;
    if (desc.epilogue.output_count == 1 && !is_identity(desc.epilogue)) {
      epilogue_ = compile_program(desc.epilogue);
      epilogue_inputs_ = desc.epilogue.input_count;
      output_type_ = output_type(desc.epilogue, 0);
    }
    operand_sizes_[0] = plugin::size_of(output_type_);
    uint32_t* size = operand_sizes_ + 1;
    for (uint32_t k = 0; k < prologue_inputs_; ++k) *size++ = plugin::size_of(desc.program.input_types[k]);
    for (uint32_t k = 1; k < epilogue_inputs_; ++k) *size++ = plugin::size_of(desc.epilogue.input_types[k]);
  }

  Status workspace(const plugin::LaunchArgs* args, uint64_t* bytes) noexcept override {
    *bytes = workspace_bytes(plan_reduce(*args, positions_));
    return plugin::kOk;
  }

  Status run(const plugin::LaunchArgs& args) const override;

 private:
  struct Launch {
    const plugin::LaunchArgs& args;
    const ReducePlan& plan;
    char* base[kReduceOperands];
    uint32_t size[kReduceOperands];  // of an element
  };

  uint64_t accumulators_bytes(const ReducePlan& plan) const {
    return round_up(static_cast<uint64_t>(plan.outputs() * plan.parts) * loops_.accumulator_size);
  }
  uint64_t workspace_bytes(const ReducePlan& plan) const {
    if (plan.parts == 1) return 0;
    const uint64_t positions = positions_ ? static_cast<uint64_t>(plan.outputs() * plan.parts) * 8 : 0;
    return accumulators_bytes(plan) + positions;
  }

  void run_piece(const Launch& launch, int64_t piece) const;
  void reduce_values(const Launch& launch, const int64_t* offsets, int64_t begin, int64_t end,
                     char* accumulator, int64_t* position) const;
  int64_t reduce_halves(const char* values, int64_t count, bool first, char* accumulator) const;
  int64_t rows_at_once(const ReducePlan& plan) const;
  void reduce_lanes(const Launch& launch, const int64_t* offsets, int64_t count, int64_t begin, int64_t end,
                    Partials partials) const;
  const void* make_values(const Launch& launch, const int64_t* offsets, const Space<kReduceOperands>& space,
                          int64_t count, void* buffer) const;
  void combine_parts(const Launch& launch, int64_t first, int64_t count) const;
  void emit(const Launch& launch, int64_t outer, int64_t lane, int64_t count, Partials partials) const;
  Partials workspace_at(const Launch& launch, int64_t part, int64_t output) const;
  Launch prepare(const plugin::LaunchArgs& args, const ReducePlan& plan) const;

  ReduceLoops loops_;
  const bool positions_;
  const DType result_type_;  // what combining gives
  const uint32_t prologue_inputs_;
  const uint32_t prologue_scalars_;
  uint32_t epilogue_inputs_ = 1;
  DType output_type_;
  bool direct_ = false;  // the prologue passes its input 0 on
  CompiledProgramPtr prologue_;
  CompiledProgramPtr epilogue_;  // null: the combined value is the result
  uint32_t operand_sizes_[kReduceOperands] = {};
};

ReduceKernel::Launch ReduceKernel::prepare(const plugin::LaunchArgs& args, const ReducePlan& plan) const {
  Launch launch{args, plan, {}, {}};
  for (uint32_t k = 0; k < args.operand_count && k < kReduceOperands; ++k) {
    launch.base[k] = operand_pointer(args, k);
    launch.size[k] = operand_sizes_[k];
  }
  return launch;
}

Partials ReduceKernel::workspace_at(const Launch& launch, int64_t part, int64_t output) const {
  char* const begin =
      static_cast<char*>(launch.args.workspace->host_pointer()) + launch.args.workspace_offset;
  const int64_t at = part * launch.plan.outputs() + output;
  auto* const positions = reinterpret_cast<int64_t*>(begin + accumulators_bytes(launch.plan));
  return {begin + at * loops_.accumulator_size, positions_ ? positions + at : nullptr};
}

Status ReduceKernel::run(const plugin::LaunchArgs& args) const {
  const ReducePlan plan = plan_reduce(args, positions_);
  if (workspace_bytes(plan) > args.workspace_bytes) {
    return make_status(StatusCode::InvalidArgument, 0, "%s: the workspace has %llu bytes, %llu are needed",
                       args.label, static_cast<unsigned long long>(args.workspace_bytes),
                       static_cast<unsigned long long>(workspace_bytes(plan)));
  }
  const Launch launch = prepare(args, plan);
  const int64_t grain = std::max<int64_t>(1, kGrainValues / (plan.chunk * plan.part));
  threads().loop(plan.pieces(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) run_piece(launch, i);
  });
  if (plan.parts == 1) return plugin::kOk;
  const int64_t combine_grain = std::max<int64_t>(1, kGrainValues / (plan.chunk * plan.parts));
  threads().loop(plan.outer * plan.chunks, combine_grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t lane = i % plan.chunks * plan.chunk;
      const int64_t count = std::min(plan.chunk, plan.lanes - lane);
      const int64_t outer = i / plan.chunks;
      combine_parts(launch, outer * plan.lanes + lane, count);
      emit(launch, outer, lane, count, workspace_at(launch, 0, outer * plan.lanes + lane));
    }
  });
  return plugin::kOk;
}

// A piece is one part of the reduced positions for one chunk of lanes.
void ReduceKernel::run_piece(const Launch& launch, int64_t piece) const {
  const ReducePlan& plan = launch.plan;
  const int64_t part = piece % plan.parts;
  const int64_t lane = piece / plan.parts % plan.chunks * plan.chunk;
  const int64_t outer = piece / (plan.parts * plan.chunks);
  const int64_t count = std::min(plan.chunk, plan.lanes - lane);
  const int64_t begin = part * plan.part;
  const int64_t end = std::min(begin + plan.part, plan.reduced_count);

  alignas(kAlignment) char accumulators[kReduceLanes * 8];
  int64_t positions[kReduceLanes];
  Partials partials{accumulators, positions_ ? positions : nullptr};
  if (plan.parts > 1) partials = workspace_at(launch, part, outer * plan.lanes + lane);

  const int lanes_dimension = plan.kept.rank - 1;
  const ReduceWalker walker(plan.kept, lanes_dimension, outer);
  int64_t offsets[kReduceOperands];
  for (int k = 0; k < plan.kept.operands; ++k) {
    offsets[k] = walker.offset(k) + lane * plan.kept.strides[k][lanes_dimension];
  }
  if (plan.by_lanes) {
    reduce_lanes(launch, offsets, count, begin, end, partials);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      reduce_values(launch, offsets, begin, end, partials.accumulators + i * loops_.accumulator_size,
                    positions_ ? partials.positions + i : nullptr);
      for (int k = 0; k < plan.kept.operands; ++k) offsets[k] += plan.kept.strides[k][lanes_dimension];
    }
  }
  if (plan.parts == 1) emit(launch, outer, lane, count, partials);
}

// `count` values along the innermost dimension of `space`: the input itself where that is what the prologue
// gives.
const void* ReduceKernel::make_values(const Launch& launch, const int64_t* offsets,
                                      const Space<kReduceOperands>& space, int64_t count,
                                      void* buffer) const {
  const int inner = space.rank - 1;
  if (direct_ && (space.strides[1][inner] == 1 || count == 1))
    return launch.base[1] + offsets[1] * launch.size[1];
  const void* inputs[plugin::kMaxInputs];
  int64_t strides[plugin::kMaxInputs];
  for (uint32_t k = 0; k < prologue_inputs_; ++k) {
    inputs[k] = launch.base[k + 1] + offsets[k + 1] * launch.size[k + 1];
    strides[k] = space.strides[k + 1][inner];
  }
  run_program_tile(*prologue_, inputs, strides, launch.args.scalars, &buffer, count, 0);
  return buffer;
}

// Values that lie as they are combined: a tile of the first half with one of the second, until no two tiles
// are left or there is no room for more. Combined in the order of tiles; how many values that were.
int64_t ReduceKernel::reduce_halves(const char* values, int64_t count, bool first, char* accumulator) const {
  constexpr int64_t kMostTiles = 32;
  alignas(8) char tiles[kMostTiles * 8];
  const int64_t half = std::min(count / (2 * kReduceTile), kMostTiles / 2);
  const int64_t bytes = kReduceTile * operand_sizes_[1];
  const uint32_t size = loops_.accumulator_size;
  for (int64_t i = 0; i < half; ++i) {
    loops_.pair(values + i * bytes, values + (half + i) * bytes, kReduceTile, tiles + i * size,
                tiles + (half + i) * size);
  }
  if (first) std::memcpy(accumulator, tiles, size);
  for (int64_t i = first ? 1 : 0; i < 2 * half; ++i)
    loops_.combine(accumulator, nullptr, tiles + i * size, nullptr, 1);
  return 2 * half * kReduceTile;
}

// One output: its values, tile by tile.
void ReduceKernel::reduce_values(const Launch& launch, const int64_t* offsets, int64_t begin, int64_t end,
                                 char* accumulator, int64_t* position) const {
  const Space<kReduceOperands>& space = launch.plan.reduced;
  const int inner = space.rank - 1;
  const int64_t row = space.shape[inner];
  ReduceWalker walker(space, inner, begin / row);
  int64_t along = begin % row;
  alignas(kAlignment) char buffer[kReduceTile * 8];
  for (int64_t at = begin; at < end;) {
    const int64_t run = std::min(row - along, end - at);
    int64_t count = std::min(kReduceTile, run);
    int64_t from[kReduceOperands];
    for (uint32_t k = 1; k <= prologue_inputs_; ++k) {
      const int operand = static_cast<int>(k);
      from[k] = offsets[k] + walker.offset(operand) + along * space.strides[k][inner];
    }
    const void* const values = make_values(launch, from, space, count, buffer);
    if (values != buffer && loops_.pair != nullptr && run >= 2 * kReduceTile) {
      count = reduce_halves(static_cast<const char*>(values), run, at == begin, accumulator);
    } else if (at == begin) {
      loops_.row(values, count, at, accumulator, position);
    } else {
      alignas(8) char next[8];
      int64_t next_position = 0;
      loops_.row(values, count, at, next, &next_position);
      loops_.combine(accumulator, position, next, &next_position, 1);
    }
    at += count;
    along += count;
    if (along == row) {
      along = 0;
      walker.next();
    }
  }
}

// How many rows of lanes lie behind each other in every input, so that they are one row of more lanes.
int64_t ReduceKernel::rows_at_once(const ReducePlan& plan) const {
  const int lanes_dimension = plan.kept.rank - 1;
  if (positions_ || plan.lanes > kReduceLanes / 8 || plan.reduced.rank != 1) return 1;
  for (uint32_t k = 1; k <= prologue_inputs_; ++k) {
    if (plan.kept.strides[k][lanes_dimension] != 1 || plan.reduced.strides[k][0] != plan.lanes) return 1;
  }
  return kReduceLanes / plan.lanes;
}

// Many outputs side by side: row after row, or several rows as one, whose parts are combined in the end.
void ReduceKernel::reduce_lanes(const Launch& launch, const int64_t* offsets, int64_t count, int64_t begin,
                                int64_t end, Partials partials) const {
  const Space<kReduceOperands>& space = launch.plan.reduced;
  ReduceWalker walker(space, space.rank, begin);
  alignas(kAlignment) char buffer[kReduceLanes * 8];
  alignas(kAlignment) char wide[kReduceLanes * 8];
  const int64_t most = std::min(rows_at_once(launch.plan), end - begin);
  char* const accumulators = most == 1 ? partials.accumulators : wide;
  for (int64_t at = begin; at < end;) {
    const int64_t rows = std::min(most, end - at);
    int64_t from[kReduceOperands];
    for (uint32_t k = 1; k <= prologue_inputs_; ++k) {
      from[k] = offsets[k] + (most == 1 ? walker.offset(static_cast<int>(k)) : at * space.strides[k][0]);
    }
    const void* const values = make_values(launch, from, launch.plan.kept, rows * count, buffer);
    (at == begin ? loops_.start : loops_.add)(values, rows * count, at, accumulators, partials.positions);
    at += rows;
    if (most == 1) walker.next();
  }
  if (most == 1) return;
  for (int64_t row = 1; row < most; ++row) {
    loops_.combine(wide, nullptr, wide + row * count * loops_.accumulator_size, nullptr, count);
  }
  std::memcpy(partials.accumulators, wide, static_cast<size_t>(count) * loops_.accumulator_size);
}

// Parts are combined in pairs, and those in pairs: in the same order whoever does it, and with the error of a
// tree.
void ReduceKernel::combine_parts(const Launch& launch, int64_t first, int64_t count) const {
  const int64_t parts = launch.plan.parts;
  for (int64_t step = 1; step < parts; step *= 2) {
    for (int64_t part = 0; part + step < parts; part += 2 * step) {
      const Partials into = workspace_at(launch, part, first);
      const Partials from = workspace_at(launch, part + step, first);
      loops_.combine(into.accumulators, into.positions, from.accumulators, from.positions, count);
    }
  }
}

// Results, through the epilogue, to where they belong.
void ReduceKernel::emit(const Launch& launch, int64_t outer, int64_t lane, int64_t count,
                        Partials partials) const {
  const Space<kReduceOperands>& kept = launch.plan.kept;
  const int lanes_dimension = kept.rank - 1;
  const ReduceWalker walker(kept, lanes_dimension, outer);
  const auto address = [&](int k) {
    return launch.base[k] + (walker.offset(k) + lane * kept.strides[k][lanes_dimension]) * launch.size[k];
  };
  const int64_t out_stride = kept.strides[0][lanes_dimension];
  const bool contiguous = out_stride == 1 || count == 1;
  alignas(kAlignment) char results[kReduceLanes * 8];
  alignas(kAlignment) char stored[kReduceLanes * 8];
  char* const out = address(0);
  char* const target = contiguous ? out : stored;
  loops_.finish(partials.accumulators, partials.positions, count, epilogue_ == nullptr ? target : results);
  if (epilogue_ != nullptr) {
    const void* inputs[plugin::kMaxInputs] = {results};
    int64_t strides[plugin::kMaxInputs] = {1};
    for (uint32_t k = 1; k < epilogue_inputs_; ++k) {
      const int operand = static_cast<int>(prologue_inputs_ + k);
      inputs[k] = address(operand);
      strides[k] = kept.strides[operand][lanes_dimension];
    }
    void* outputs[] = {target};
    run_program_tile(*epilogue_, inputs, strides, launch.args.scalars + prologue_scalars_, outputs, count, 0);
  }
  if (!contiguous) active_vector_copy().strided[log2_size(output_type_)](out, out_stride, stored, 1, count);
}

Status invalid(const char* what) { return make_status(StatusCode::InvalidArgument, 0, "reduce: %s", what); }

}  // namespace

Status supports_reduce(const CpuDevice&, const plugin::KernelDesc& desc) {
  if (desc.op >= kReduceOps) {
    return make_status(StatusCode::Unimplemented, 0, "reduce: operation %u is unknown",
                       static_cast<unsigned>(desc.op));
  }
  if (plugin::size_of(desc.compute_type) == 0) return invalid("the type to combine in is unknown");
  if (active_reduce_table().loops[desc.op][static_cast<size_t>(desc.compute_type)].accumulator_size == 0) {
    return make_status(StatusCode::Unimplemented, 0,
                       "reduce: sums and products of bool are not offered; count in int64");
  }
  if (Status status = check_program(desc.program); !status.ok()) return status;
  if (desc.program.output_count != 1) return invalid("the prologue needs one output");
  if (desc.program.instruction_count == plugin::kMaxInstructions &&
      output_type(desc.program, 0) != desc.compute_type) {
    return invalid("the prologue's result is not of the type to combine in");
  }
  if (desc.epilogue.output_count == 0) return plugin::kOk;
  if (Status status = check_program(desc.epilogue); !status.ok()) return status;
  const DType combined = is_position(desc.op) ? DType::Int64 : desc.compute_type;
  if (desc.epilogue.output_count != 1) return invalid("the epilogue needs one output");
  if (desc.epilogue.input_count == 0 || desc.epilogue.input_types[0] != combined) {
    return invalid("the epilogue's input 0 is not of the combined type");
  }
  return plugin::kOk;
}

Status create_reduce(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  *kernel = new ReduceKernel(device, desc);
  return plugin::kOk;
}

}  // namespace backplane::cpu
