// SPDX-License-Identifier: Apache-2.0
#include "program.h"

namespace backplane::cuda::families {
namespace {

using plugin::DType;
using plugin::Instruction;
using plugin::Program;
using plugin::ScalarOp;

constexpr OpInfo kOps[] = {
#define BACKPLANE_SCALAR_OP(number, name, arity, domain, result) \
  {number, #name, arity, Domain::domain, Result::result},
#include "backplane/plugin/scalar_ops.def"
#undef BACKPLANE_SCALAR_OP
};

bool is_in(Domain domain, DType type) noexcept {
  const bool floating = type >= DType::Float16;
  switch (domain) {
    case Domain::Any:
      return true;
    case Domain::Number:
      return type != DType::Bool;
    case Domain::Integer:
      return !floating;
    case Domain::Floating:
      return floating;
    case Domain::Logical:
      return type == DType::Bool;
  }
  return false;
}

bool is_type(DType type) noexcept { return plugin::size_of(type) != 0; }

// Slots that exist before instruction `at`.
bool is_slot(const Program& program, uint8_t slot, uint32_t at) noexcept {
  if (slot >= plugin::kResultSlot) return slot - plugin::kResultSlot < static_cast<int>(at);
  if (slot >= plugin::kScalarSlot) return slot - plugin::kScalarSlot < program.scalar_count;
  return slot < program.input_count;
}

Status invalid(const char* what, uint32_t at) noexcept {
  return make_status(StatusCode::InvalidArgument, 0, "elementwise program: %s (at %u)", what, at);
}

Status check_instruction(const Program& program, uint32_t at) noexcept {
  const Instruction& instruction = program.instructions[at];
  const OpInfo* info = find_op(instruction.op);
  if (info == nullptr)
    return make_status(StatusCode::Unimplemented, 0, "scalar operation %u is unknown to this plugin",
                       static_cast<unsigned>(instruction.op));
  if (!is_type(instruction.result)) return invalid("an unknown result type", at);
  for (uint8_t i = 0; i < info->arity; ++i)
    if (!is_slot(program, instruction.args[i], at)) return invalid("an argument that does not exist", at);
  if (info->arity == 0) return kOk;
  const bool chooses = instruction.op == ScalarOp::where;
  const DType type = slot_type(program, instruction.args[chooses ? 1 : 0]);
  if (chooses && slot_type(program, instruction.args[0]) != DType::Bool)
    return invalid("where without a bool", at);
  for (uint8_t i = chooses ? 1 : 0; i < info->arity; ++i)
    if (slot_type(program, instruction.args[i]) != type) return invalid("arguments of different types", at);
  if (!is_in(info->domain, type)) return invalid("an argument type that the operation does not take", at);
  if (info->result == Result::Same && instruction.result != type)
    return invalid("a result type unlike its arguments'", at);
  if (info->result == Result::Truth && instruction.result != DType::Bool)
    return invalid("a result type not bool", at);
  return kOk;
}

}  // namespace

const OpInfo* find_op(ScalarOp op) noexcept {
  for (const OpInfo& info : kOps)
    if (info.op == static_cast<uint16_t>(op)) return &info;
  return nullptr;
}

DType slot_type(const Program& program, uint8_t slot) noexcept {
  if (slot >= plugin::kResultSlot) return program.instructions[slot - plugin::kResultSlot].result;
  if (slot >= plugin::kScalarSlot) return program.scalar_types[slot - plugin::kScalarSlot];
  return program.input_types[slot];
}

Status check_program(const Program& program) noexcept {
  if (program.input_count > plugin::kMaxInputs || program.scalar_count > plugin::kMaxScalars ||
      program.instruction_count > plugin::kMaxInstructions || program.output_count > plugin::kMaxOutputs ||
      program.output_count == 0)
    return invalid("a count out of range", 0);
  for (uint32_t i = 0; i < program.input_count; ++i)
    if (!is_type(program.input_types[i])) return invalid("an unknown input type", i);
  for (uint32_t i = 0; i < program.scalar_count; ++i)
    if (!is_type(program.scalar_types[i])) return invalid("an unknown scalar type", i);
  for (uint32_t i = 0; i < program.instruction_count; ++i) BACKPLANE_TRY(check_instruction(program, i));
  for (uint32_t i = 0; i < program.output_count; ++i)
    if (!is_slot(program, program.outputs[i], program.instruction_count))
      return invalid("an output that does not exist", i);
  return kOk;
}

bool is_identity(const Program& program, DType* type) noexcept {
  if (program.input_count != 1 || program.output_count > 1) return false;
  *type = program.input_types[0];
  if (program.instruction_count == 0) return program.output_count == 0 || program.outputs[0] == 0;
  const Instruction& only = program.instructions[0];
  *type = only.result;
  return program.instruction_count == 1 && program.outputs[0] == plugin::kResultSlot && only.args[0] == 0 &&
         (only.op == ScalarOp::cast || only.op == ScalarOp::positive);
}

plugin::KernelDesc elementwise_desc(const Program& program) noexcept {
  plugin::KernelDesc desc{};
  desc.struct_size = sizeof desc;
  desc.family = plugin::Family::Elementwise;
  desc.layout = plugin::Layout::Strided;
  desc.program = program;
  return desc;
}

}  // namespace backplane::cuda::families
