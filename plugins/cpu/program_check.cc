// SPDX-License-Identifier: Apache-2.0
// Whether a program keeps the rules of kernels.h and scalar_ops.def.
#include "backplane/plugin/base.h"
#include "cpu/program.h"
#include "cpu/scalar_op.h"

namespace backplane::cpu {
namespace {

using plugin::DType;
using plugin::Instruction;
using plugin::make_status;
using plugin::Program;
using plugin::Status;
using plugin::StatusCode;

constexpr ScalarOpRow kRows[] = {
#define BACKPLANE_SCALAR_OP(number, name, arity, domain, result) \
  {plugin::ScalarOp::name, #name, arity, OpDomain::domain, OpResult::result},
#include "backplane/plugin/scalar_ops.def"
#undef BACKPLANE_SCALAR_OP
};

bool in_domain(OpDomain domain, DType type) {
  switch (domain) {
    case OpDomain::Any:
      return true;
    case OpDomain::Number:
      return type != DType::Bool;
    case OpDomain::Integer:
      return type < DType::Float16;
    case OpDomain::Floating:
      return type >= DType::Float16;
    case OpDomain::Logical:
      return type == DType::Bool;
  }
  return false;
}

bool known(DType type) { return static_cast<uint32_t>(type) < plugin::kDTypeCount; }

// Of `program`, whose first `instructions` instructions may be used.
bool slot_exists(const Program& program, uint8_t slot, int instructions) {
  if (slot < plugin::kScalarSlot) return slot < program.input_count;
  if (slot < plugin::kResultSlot) return slot - plugin::kScalarSlot < program.scalar_count;
  return slot - plugin::kResultSlot < instructions;
}

Status check_counts(const Program& program) {
  if (program.input_count > plugin::kMaxInputs || program.scalar_count > plugin::kMaxScalars ||
      program.instruction_count > plugin::kMaxInstructions || program.output_count > plugin::kMaxOutputs ||
      program.output_count == 0) {
    return make_status(StatusCode::InvalidArgument, 0,
                       "program of %d inputs, %d scalars, %d instructions, %d outputs", program.input_count,
                       program.scalar_count, program.instruction_count, program.output_count);
  }
  for (int i = 0; i < program.input_count; ++i) {
    if (!known(program.input_types[i]))
      return make_status(StatusCode::Unimplemented, 0, "input %d has the unknown type %d", i,
                         static_cast<int>(program.input_types[i]));
  }
  for (int i = 0; i < program.scalar_count; ++i) {
    if (!known(program.scalar_types[i]))
      return make_status(StatusCode::Unimplemented, 0, "scalar %d has the unknown type %d", i,
                         static_cast<int>(program.scalar_types[i]));
  }
  return plugin::kOk;
}

// The arguments' types against the operation's rules; they exist.
Status check_types(const Program& program, const Instruction& instruction, const ScalarOpRow& row,
                   int index) {
  const bool where = row.op == plugin::ScalarOp::where;
  DType type = instruction.result;
  for (int k = 0; k < row.arity; ++k) {
    const DType given = slot_type(program, instruction.args[k]);
    const bool first = k == (where ? 1 : 0);
    if (first) type = given;
    const bool fits = where && k == 0 ? given == DType::Bool : in_domain(row.domain, given) && given == type;
    if (!fits)
      return make_status(StatusCode::InvalidArgument, 0,
                         "instruction %d: %s does not take type %d as argument %d", index, row.name,
                         static_cast<int>(given), k);
  }
  const DType wanted = row.result == OpResult::Same    ? type
                       : row.result == OpResult::Truth ? DType::Bool
                                                       : instruction.result;
  if (instruction.result == wanted) return plugin::kOk;
  return make_status(StatusCode::InvalidArgument, 0, "instruction %d: %s gives type %d, not %d", index,
                     row.name, static_cast<int>(wanted), static_cast<int>(instruction.result));
}

Status check_instruction(const Program& program, int index) {
  const Instruction& instruction = program.instructions[index];
  const ScalarOpRow* row = find_scalar_op(instruction.op);
  if (row == nullptr || !known(instruction.result))
    return make_status(StatusCode::Unimplemented, 0, "instruction %d: operation %d or type %d is unknown",
                       index, static_cast<int>(instruction.op), static_cast<int>(instruction.result));
  for (int k = 0; k < row->arity; ++k) {
    if (!slot_exists(program, instruction.args[k], index))
      return make_status(StatusCode::InvalidArgument, 0,
                         "instruction %d: %s: argument %d, slot %d, does not exist yet", index, row->name, k,
                         instruction.args[k]);
  }
  return check_types(program, instruction, *row, index);
}

}  // namespace

const ScalarOpRow* find_scalar_op(plugin::ScalarOp op) noexcept {
  for (const ScalarOpRow& row : kRows) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

DType slot_type(const Program& program, uint8_t slot) noexcept {
  if (slot < plugin::kScalarSlot) return program.input_types[slot];
  if (slot < plugin::kResultSlot) return program.scalar_types[slot - plugin::kScalarSlot];
  return program.instructions[slot - plugin::kResultSlot].result;
}

DType output_type(const Program& program, uint32_t index) noexcept {
  return slot_type(program, program.outputs[index]);
}

Status check_program(const Program& program) noexcept {
  Status status = check_counts(program);
  for (int i = 0; status.ok() && i < program.instruction_count; ++i) status = check_instruction(program, i);
  for (int i = 0; status.ok() && i < program.output_count; ++i) {
    if (!slot_exists(program, program.outputs[i], program.instruction_count))
      status = make_status(StatusCode::InvalidArgument, 0, "output %d, slot %d, does not exist", i,
                           program.outputs[i]);
  }
  return status;
}

}  // namespace backplane::cpu
