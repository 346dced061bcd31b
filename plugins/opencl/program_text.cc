// SPDX-License-Identifier: Apache-2.0
#include "opencl/program_text.h"

namespace backplane::opencl {

using plugin::DType;
using plugin::Instruction;
using plugin::Program;
using plugin::ScalarOp;

namespace {

enum class Domain : uint8_t { Any, Number, Integer, Floating, Logical };
enum class Result : uint8_t { Same, Truth, Free };

struct OperationRow {
  uint16_t number;
  uint8_t arity;
  Domain domain;
  Result result;
  const char* name;
};

constexpr OperationRow kOperations[] = {
#define BACKPLANE_SCALAR_OP(number, name, arity, domain, result) \
  {number, arity, Domain::domain, Result::result, #name},
#include "backplane/plugin/scalar_ops.def"
#undef BACKPLANE_SCALAR_OP
};

const OperationRow* find_operation(ScalarOp op) noexcept {
  for (const OperationRow& row : kOperations)
    if (row.number == static_cast<uint16_t>(op)) return &row;
  return nullptr;
}

bool in_domain(Domain domain, DType type) noexcept {
  switch (domain) {
    case Domain::Any:
      return true;
    case Domain::Number:
      return type != DType::Bool;
    case Domain::Integer:
      return !is_floating(type);
    case Domain::Floating:
      return is_floating(type);
    case Domain::Logical:
      return type == DType::Bool;
  }
  return false;
}

Status malformed(const char* what, uint32_t index) noexcept {
  return plugin::make_status(StatusCode::InvalidArgument, 0, "a malformed program: %s %u", what, index);
}

bool slot_exists(const Program& program, uint8_t slot, uint32_t results) noexcept {
  if (slot >= plugin::kResultSlot) return static_cast<uint32_t>(slot - plugin::kResultSlot) < results;
  if (slot >= plugin::kScalarSlot) return slot - plugin::kScalarSlot < program.scalar_count;
  return slot < program.input_count;
}

Status check_instruction(const Facts& facts, const Program& program, uint32_t index) {
  const Instruction& instruction = program.instructions[index];
  const OperationRow* row = find_operation(instruction.op);
  if (row == nullptr)
    return plugin::make_status(StatusCode::Unimplemented, 0,
                               "scalar operation %u is not known to this plugin",
                               static_cast<unsigned>(instruction.op));
  BACKPLANE_OPENCL_TRY(check_type(facts, instruction.result));
  const bool is_where = instruction.op == ScalarOp::where;
  const DType type = row->arity == 0 ? instruction.result : DType::Bool;
  DType common = type;
  for (uint32_t i = 0; i < row->arity; ++i) {
    if (!slot_exists(program, instruction.args[i], index))
      return malformed("no such slot in instruction", index);
    const DType argument = slot_type(program, instruction.args[i]);
    if (is_where && i == 0) {
      if (argument != DType::Bool) return malformed("the condition is not bool in instruction", index);
      continue;
    }
    if (i == (is_where ? 1u : 0u)) common = argument;
    if (argument != common || !in_domain(row->domain, argument))
      return malformed("argument types do not fit instruction", index);
  }
  const DType wanted = row->result == Result::Truth ? DType::Bool : common;
  if (row->result != Result::Free && instruction.result != wanted)
    return malformed("the result type does not fit instruction", index);
  return kOk;
}

std::string call_text(const Program& program, const Instruction& instruction,
                      const std::function<std::string(uint8_t)>& slot, const std::string& index) {
  const OperationRow& row = *find_operation(instruction.op);
  if (instruction.op == ScalarOp::iota)
    return std::string("bp_iota_") + type_row(instruction.result).suffix + "(" + index + ")";
  const DType last = slot_type(program, instruction.args[row.arity - 1]);
  if (instruction.op == ScalarOp::cast) return cast_text(last, instruction.result, slot(instruction.args[0]));
  std::string text = std::string("bp_") + row.name + "_" + type_row(last).suffix + "(";
  for (uint32_t i = 0; i < row.arity; ++i) text += (i == 0 ? "" : ", ") + slot(instruction.args[i]);
  return text + ")";
}

}  // namespace

DType slot_type(const Program& program, uint8_t slot) {
  if (slot >= plugin::kResultSlot) return program.instructions[slot - plugin::kResultSlot].result;
  return slot >= plugin::kScalarSlot ? program.scalar_types[slot - plugin::kScalarSlot]
                                     : program.input_types[slot];
}

DType output_type(const Program& program, uint32_t index) {
  return slot_type(program, program.outputs[index]);
}

bool is_identity(const Program& program) { return program.output_count == 1 && program.outputs[0] == 0; }

Status check_program(const Facts& facts, const Program& program) {
  if (program.input_count > plugin::kMaxInputs || program.scalar_count > plugin::kMaxScalars ||
      program.instruction_count > plugin::kMaxInstructions || program.output_count > plugin::kMaxOutputs)
    return malformed("counts past the limits; instructions:", program.instruction_count);
  for (uint32_t i = 0; i < program.input_count; ++i)
    BACKPLANE_OPENCL_TRY(check_type(facts, program.input_types[i]));
  for (uint32_t i = 0; i < program.scalar_count; ++i)
    BACKPLANE_OPENCL_TRY(check_type(facts, program.scalar_types[i]));
  for (uint32_t i = 0; i < program.instruction_count; ++i)
    BACKPLANE_OPENCL_TRY(check_instruction(facts, program, i));
  for (uint32_t i = 0; i < program.output_count; ++i)
    if (!slot_exists(program, program.outputs[i], program.instruction_count))
      return malformed("no such slot for output", i);
  return kOk;
}

std::string program_text(const Program& program, const ProgramNames& names,
                         std::vector<std::string>* outputs) {
  std::string text;
  const auto slot = [&](uint8_t number) {
    if (number >= plugin::kResultSlot)
      return names.prefix + "t" + std::to_string(number - plugin::kResultSlot);
    if (number >= plugin::kScalarSlot) return names.scalar(number - plugin::kScalarSlot);
    return names.prefix + "x" + std::to_string(number);
  };
  for (uint8_t i = 0; i < program.input_count; ++i)
    text += std::string("    const ") + type_row(program.input_types[i]).value + " " + slot(i) + " = " +
            names.input(i) + ";\n";
  for (uint8_t i = 0; i < program.instruction_count; ++i) {
    const Instruction& instruction = program.instructions[i];
    text += std::string("    const ") + type_row(instruction.result).value + " " +
            slot(static_cast<uint8_t>(plugin::kResultSlot + i)) + " = " +
            call_text(program, instruction, slot, names.index) + ";\n";
  }
  outputs->clear();
  for (uint32_t i = 0; i < program.output_count; ++i) outputs->push_back(slot(program.outputs[i]));
  return text;
}

std::string scalar_parameters(const Program& program, const ProgramNames& names) {
  std::string text;
  for (uint32_t i = 0; i < program.scalar_count; ++i)
    text += std::string(", const ") + type_row(program.scalar_types[i]).value + " " + names.scalar(i);
  return text;
}

}  // namespace backplane::opencl
