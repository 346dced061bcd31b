// SPDX-License-Identifier: Apache-2.0
//
// Elementwise programs, interpreted: every instruction is looked up once, in a table of functions made from
// the shared formulas, and then called for every point.
#include "null/kernels.h"

#include <cstring>
#include <utility>

#include "backplane/kernels/scalar.h"

namespace backplane::null {
namespace {

using plugin::DType;
using plugin::Instruction;
using plugin::kOk;
using plugin::LaunchArgs;
using plugin::Program;
using plugin::ScalarOp;
using plugin::Status;

// Where operand `index` has its element at the point `at` of the iteration space.
char* element(const LaunchArgs& args, uint32_t index, const int64_t* at, int64_t bytes) noexcept {
  const plugin::Operand& operand = args.operand(index);
  int64_t elements = 0;
  for (uint32_t i = 0; i < args.rank; ++i) elements += at[i] * operand.strides[i];
  return static_cast<char*>(operand.buffer->host_pointer()) + operand.offset + elements * bytes;
}

// Calls visit(point, linear index) for every point of the iteration space, in row-major order.
template <typename Visit>
void for_each_point(const LaunchArgs& args, const Visit& visit) {
  int64_t at[plugin::kMaxRank] = {};
  for (int64_t linear = 0;; ++linear) {
    visit(at, linear);
    uint32_t i = args.rank;
    while (i > 0 && ++at[i - 1] == args.shape[i - 1]) at[--i] = 0;
    if (i == 0) return;
  }
}

// A value of any type.
struct Value {
  unsigned char bytes[8];
};

template <typename T>
T get(const Value& value) noexcept {
  T result;
  std::memcpy(&result, value.bytes, sizeof result);
  return result;
}

template <typename T>
Value put(T result) noexcept {
  Value value{};
  std::memcpy(value.bytes, &result, sizeof result);
  return value;
}

// Gives a formula of any signature one signature.
template <auto kFormula>
struct Call;

template <typename R, typename... Args, R (*kFormula)(Args...)>
struct Call<kFormula> {
  static Value call(const Value* args) noexcept { return call(args, std::index_sequence_for<Args...>()); }
  template <size_t... kIndex>
  static Value call(const Value* args, std::index_sequence<kIndex...>) noexcept {
    return put(kFormula(get<Args>(args[kIndex])...));
  }
};

struct Row {
  ScalarOp op;
  uint32_t arity;
  DType type;  // of the arguments, but for the first of `where`
  DType result;
  Value (*function)(const Value* args) noexcept;
};

// From a type to itself: the table below names cast like any other operation.
BP_FN bp_bool bp_cast_bool(bp_bool a) { return a; }
BP_FN bp_i32 bp_cast_i32(bp_i32 a) { return a; }
BP_FN bp_f32 bp_cast_f32(bp_f32 a) { return a; }

// One row for each operation and each type of its domain.
#define RESULT_Same(type) DType::type
#define RESULT_Free(type) DType::type
#define RESULT_Truth(type) DType::Bool
#define ROW(name, arity, result, type, suffix) \
  {ScalarOp::name, arity, DType::type, RESULT_##result(type), Call<bp_##name##_##suffix>::call},
#define ROWS_Logical(...) ROW(__VA_ARGS__, Bool, bool)
#define ROWS_Floating(...) ROW(__VA_ARGS__, Float32, f32)
#define ROWS_Integer(...) ROW(__VA_ARGS__, Bool, bool) ROW(__VA_ARGS__, Int32, i32)
#define ROWS_Number(...) ROW(__VA_ARGS__, Int32, i32) ROW(__VA_ARGS__, Float32, f32)
#define ROWS_Any(...) ROWS_Number(__VA_ARGS__) ROW(__VA_ARGS__, Bool, bool)
#define BACKPLANE_SCALAR_OP(number, name, arity, domain, result) ROWS_##domain(name, arity, result)

constexpr Row kRows[] = {
#include "backplane/plugin/scalar_ops.def"
    {ScalarOp::cast, 1, DType::Bool, DType::Int32, Call<bp_cast_bool_i32>::call},
    {ScalarOp::cast, 1, DType::Bool, DType::Float32, Call<bp_cast_bool_f32>::call},
    {ScalarOp::cast, 1, DType::Int32, DType::Bool, Call<bp_cast_i32_bool>::call},
    {ScalarOp::cast, 1, DType::Int32, DType::Float32, Call<bp_cast_i32_f32>::call},
    {ScalarOp::cast, 1, DType::Float32, DType::Bool, Call<bp_cast_f32_bool>::call},
    {ScalarOp::cast, 1, DType::Float32, DType::Int32, Call<bp_cast_f32_i32>::call},
};

DType type_of_slot(const Program& program, uint8_t slot) noexcept {
  if (slot >= plugin::kResultSlot) return program.instructions[slot - plugin::kResultSlot].result;
  if (slot >= plugin::kScalarSlot) return program.scalar_types[slot - plugin::kScalarSlot];
  return program.input_types[slot];
}

const Row* find_row(const Program& program, const Instruction& instruction) noexcept {
  for (const Row& row : kRows) {
    if (row.op != instruction.op || row.result != instruction.result) continue;
    if (row.arity == 0 || type_of_slot(program, instruction.args[row.arity - 1]) == row.type) return &row;
  }
  return nullptr;
}

class ElementwiseKernel final : public plugin::KernelBase {
 public:
  explicit ElementwiseKernel(const Program& program) noexcept : program_(program) {
    for (uint32_t i = 0; i < program.instruction_count; ++i)
      rows_[i] = find_row(program, program.instructions[i]);
  }
  void destroy() noexcept override { delete this; }

  Status launch(plugin::Stream*, const LaunchArgs* args) noexcept override {
    Value slots[256];
    for (uint32_t i = 0; i < program_.scalar_count; ++i) {
      const plugin::Scalar scalar = args->scalars[i];
      const bool real = program_.scalar_types[i] == DType::Float32;
      // Integers and truths are the low bytes of 64 bits.
      slots[plugin::kScalarSlot + i] = real ? put(static_cast<bp_f32>(scalar.f)) : put(scalar.u);
    }
    for_each_point(*args, [&](const int64_t* at, int64_t linear) { run(*args, at, linear, slots); });
    return kOk;
  }

 private:
  void run(const LaunchArgs& args, const int64_t* at, int64_t linear, Value* slots) const noexcept {
    for (uint32_t i = 0; i < program_.input_count; ++i) {
      const uint32_t bytes = plugin::size_of(program_.input_types[i]);
      std::memcpy(&slots[i], element(args, program_.output_count + i, at, bytes), bytes);
    }
    for (uint32_t i = 0; i < program_.instruction_count; ++i) {
      Value values[3] = {put(linear)};  // the argument of iota, which has no other
      for (uint32_t k = 0; k < rows_[i]->arity; ++k) values[k] = slots[program_.instructions[i].args[k]];
      slots[plugin::kResultSlot + i] = rows_[i]->function(values);
    }
    for (uint32_t i = 0; i < program_.output_count; ++i) {
      const uint8_t slot = program_.outputs[i];
      const uint32_t bytes = plugin::size_of(type_of_slot(program_, slot));
      std::memcpy(element(args, i, at, bytes), &slots[slot], bytes);
    }
  }

  const Program program_;
  const Row* rows_[plugin::kMaxInstructions] = {};
};

}  // namespace

Status supports(const plugin::KernelDesc& desc) noexcept {
  if (desc.family == plugin::Family::Copy) return kOk;
  if (desc.family != plugin::Family::Elementwise) return plugin::unimplemented("this family of kernels");
  const Program& program = desc.program;
  for (uint32_t i = 0; i < program.instruction_count; ++i)
    if (find_row(program, program.instructions[i]) == nullptr)
      return plugin::make_status(plugin::StatusCode::Unimplemented, 0,
                                 "scalar operation %u with these types is not offered by this device",
                                 static_cast<unsigned>(program.instructions[i].op));
  return kOk;
}

plugin::Kernel* make_kernel(const plugin::KernelDesc& desc) {
  if (desc.family == plugin::Family::Elementwise) return new ElementwiseKernel(desc.program);
  Program copy{};  // no instruction: the output is the input
  copy.input_count = copy.output_count = 1;
  copy.input_types[0] = desc.types[0];
  return new ElementwiseKernel(copy);
}

}  // namespace backplane::null
