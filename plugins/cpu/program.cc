// SPDX-License-Identifier: Apache-2.0
// Translating a program: which loop makes each result, and where in scratch memory it lies.
#include "cpu/program.h"

#include <algorithm>
#include <cstring>

#include "backplane/kernels/scalar.h"
#include "cpu/compiled_program.h"
#include "cpu/scalar_op.h"

namespace backplane::cpu {
namespace {

using plugin::DType;
using plugin::ScalarOp;

bool is_half(DType type) { return type == DType::Float16 || type == DType::BFloat16; }

int value_of(uint8_t slot) {
  if (slot < plugin::kScalarSlot) return slot;
  if (slot < plugin::kResultSlot) return kFirstScalar + slot - plugin::kScalarSlot;
  return kFirstResult + slot - plugin::kResultSlot;
}

const Loop* find_row(const LoopTable& table, ScalarOp op, DType type) {
  for (int i = 0; i < table.count; ++i) {
    if (table.rows[i].op == op && table.rows[i].type == type) return &table.rows[i];
  }
  return nullptr;
}

const Loop* find_loop_of(ScalarOp op, DType type) {
  const LoopTable* const tables[] = {&active_float32_loops(), &active_float64_loops(),
                                     &active_integer_loops(), &active_truth_loops()};
  for (const LoopTable* table : tables) {
    if (const Loop* loop = find_row(*table, op, type)) return loop;
  }
  return nullptr;
}

// float16 and bfloat16 have loops of their own only where float32's would not do.
const Loop* find_loop(ScalarOp op, DType type) {
  const Loop* loop = find_loop_of(op, type);
  if (loop == nullptr && is_half(type)) loop = find_loop_of(op, DType::Float32);
  return loop;
}

// In float32 additions, from measurements: a function, a division, all else.
int cost_of(ScalarOp op, DType type) {
  if (op >= ScalarOp::exp && op != ScalarOp::relu && op != ScalarOp::leaky_relu && op != ScalarOp::clip)
    return 8;
  if (op == ScalarOp::pow || op == ScalarOp::atan2 || op == ScalarOp::hypot || op == ScalarOp::logaddexp)
    return 12;
  if (op == ScalarOp::floor_divide || op == ScalarOp::remainder) return 12;
  return type == DType::Float64 || type == DType::Int64 || type == DType::UInt64 ? 2 : 1;
}

// What one tile's scratch memory may take of the first-level cache.
constexpr int64_t kScratchBytes = 24 << 10;
constexpr int64_t kLongestTile = 1024;

}  // namespace

int register_log2(DType type) noexcept { return is_half(type) ? 2 : memory_log2(type); }

int memory_log2(DType type) noexcept {
  const uint32_t size = plugin::size_of(type);
  return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

uint64_t scalar_register(DType type, plugin::Scalar scalar) noexcept {
  uint64_t bits = 0;
  if (type == DType::Float64) {
    std::memcpy(&bits, &scalar.f, 8);
  } else if (type >= DType::Float16) {
    const float value = type == DType::Float16    ? bp_cast_f64_f16(scalar.f)
                        : type == DType::BFloat16 ? bp_cast_f64_bf16(scalar.f)
                                                  : bp_cast_f64_f32(scalar.f);
    std::memcpy(&bits, &value, 4);
  } else if (type == DType::Bool) {
    bits = scalar.u != 0;
  } else {
    bits = scalar.u;
  }
  return bits;
}

uint64_t element_register(DType type, const void* element) noexcept {
  uint64_t bits = 0;
  if (is_half(type)) {
    uint16_t half;
    std::memcpy(&half, element, 2);
    const float value = type == DType::Float16 ? bp_load_f16(half) : bp_load_bf16(half);
    std::memcpy(&bits, &value, 4);
  } else {
    std::memcpy(&bits, element, plugin::size_of(type));
  }
  return bits;
}

CompiledProgram::CompiledProgram(const plugin::Program& program) : program_(program) {
  for (int i = 0; i < program.input_count; ++i) types_[i] = program.input_types[i];
  for (int i = 0; i < program.scalar_count; ++i) types_[kFirstScalar + i] = program.scalar_types[i];
  for (int i = 0; i < program.instruction_count; ++i) {
    types_[kFirstResult + i] = program.instructions[i].result;
    compile_step(i);
  }
  for (int i = 0; i < program.output_count; ++i) {
    const int value = value_of(program.outputs[i]);
    needs_array_[value] = true;
    // Storing one output must not change what another is copied from.
    if (value < kFirstScalar) needs_copy_[value] = program.output_count > 1;
    const bool last = value == kFirstResult + program.instruction_count - 1;
    if (last && !is_half(types_[value])) direct_output_ = i;
  }
  assign_places();
  drop_needless_rounding();

  const Step& only = steps_[0];
  bool whole = program.instruction_count == 1 && program.output_count == 1 && direct_output_ == 0 &&
               only.loop != nullptr && only.round == nullptr;
  for (int k = 0; k < only.arity; ++k) whole = whole && !is_half(types_[only.args[k]]);
  single_ = whole;
}

void CompiledProgram::compile_step(int index) {
  const plugin::Instruction& instruction = program_.instructions[index];
  Step& step = steps_[index];
  step.arity = find_scalar_op(instruction.op)->arity;
  for (int k = 0; k < step.arity; ++k) step.args[k] = static_cast<uint8_t>(value_of(instruction.args[k]));
  const DType result = instruction.result;
  // `where` chooses between values of its second argument's type.
  const DType type = step.arity == 0 ? result : types_[step.args[step.arity - 1]];
  cost_ += cost_of(instruction.op, type);
  const ConvertTable& convert = active_convert_loops();
  bool splats = false;
  if (instruction.op == ScalarOp::iota) {
    step.iota = convert.iota[static_cast<int>(result)];
  } else if (instruction.op == ScalarOp::cast) {
    step.cast = convert.cast[static_cast<int>(type)][static_cast<int>(result)];
  } else {
    const Loop& loop = *find_loop(instruction.op, type);
    step.loop = loop.run;
    step.stream = loop.stream;
    splats = (loop.flags & kLoopTakesSplat) != 0;
    if ((loop.flags & kLoopIsExact) == 0) step.round = convert.round[static_cast<int>(result)];
  }
  for (int k = 0; k < step.arity && !splats; ++k) needs_array_[step.args[k]] = true;
  single_takes_splats_ = splats;
}

// Storing rounds too: a result that no instruction uses needs no rounding of its own.
void CompiledProgram::drop_needless_rounding() {
  bool used[kMaxValues] = {};
  for (int i = 0; i < program_.instruction_count; ++i) {
    for (int k = 0; k < steps_[i].arity; ++k) used[steps_[i].args[k]] = true;
  }
  for (int i = 0; i < program_.instruction_count; ++i) {
    if (!used[kFirstResult + i]) steps_[i].round = nullptr;
  }
}

// Inputs and scalars keep a place for the whole run; a result's place is free again after its last use.
void CompiledProgram::assign_places() {
  int last_use[kMaxValues] = {};
  for (int i = 0; i < program_.instruction_count; ++i) {
    for (int k = 0; k < steps_[i].arity; ++k) last_use[steps_[i].args[k]] = i;
  }
  for (int i = 0; i < program_.output_count; ++i)
    last_use[value_of(program_.outputs[i])] = plugin::kMaxInstructions;
  int64_t widest = 4;
  const auto take = [&](int value, int place) {
    places_[value] = static_cast<uint8_t>(place);
    place_count_ = std::max(place_count_, place + 1);
    widest = std::max(widest, int64_t{1} << register_log2(types_[value]));
  };
  for (int i = 0; i < program_.input_count; ++i) take(i, place_count_);
  for (int i = 0; i < program_.scalar_count; ++i) take(kFirstScalar + i, place_count_);

  const int first_free = place_count_;
  for (int i = 0; i < program_.instruction_count; ++i) {
    int place = first_free;
    const auto taken = [&](int candidate) {
      for (int j = 0; j < i; ++j) {
        if (places_[kFirstResult + j] == candidate && last_use[kFirstResult + j] >= i) return true;
      }
      return false;
    };
    while (taken(place)) ++place;
    take(kFirstResult + i, place);
  }
  // One more: elements on their way between memory and registers.
  ++place_count_;
  const int64_t fitting = kScratchBytes / (widest * place_count_);
  tile_ = std::clamp(fitting / kSplatBytes * kSplatBytes, kSplatBytes, kLongestTile);
  place_bytes_ = tile_ * widest;
}

CompiledProgramPtr compile_program(const plugin::Program& program) {
  return CompiledProgramPtr(new CompiledProgram(program));
}

void DeleteCompiledProgram::operator()(CompiledProgram* program) const noexcept { delete program; }

void run_program_tile(const CompiledProgram& program, const void* const* inputs, const int64_t* input_strides,
                      const plugin::Scalar* scalars, void* const* outputs, int64_t n,
                      int64_t first) noexcept {
  static constexpr int64_t kContiguous[plugin::kMaxOutputs] = {1, 1, 1, 1};
  program.run({inputs, input_strides, scalars, outputs, kContiguous, first, false}, n);
}

}  // namespace backplane::cpu
