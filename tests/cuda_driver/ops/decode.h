// SPDX-License-Identifier: Apache-2.0
// What every family of instructions uses to decode itself, and the table of families.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "exec/decoder.h"

namespace cuda_double {

enum class Rounding : uint8_t { kNone, kNearest, kZero, kDown, kUp };

// One statement being decoded. Modifiers are taken off one by one; what is left at the end is an error.
class Decoding {
 public:
  Decoding(FunctionBuilder& builder, const Statement& statement, Instr& instr);

  FunctionBuilder& builder;
  const Statement& statement;
  Instr& instr;

  [[noreturn]] void fail(const std::string& what) const;

  bool accept(std::string_view modifier);  // takes it if it is there
  void require(std::string_view modifier);
  void ignore(std::initializer_list<std::string_view> modifiers);
  // Takes the modifier that is one of `choices` and returns its index, or -1.
  int choose(std::initializer_list<std::string_view> choices);
  Type type();                  // takes the next type; fails where there is none
  Rounding rounding();          // takes .rn .rz .rm .rp
  Rounding integer_rounding();  // takes .rni .rzi .rmi .rpi
  void finish() const;          // fails where a modifier is left

  size_t operands() const { return statement.operands.size(); }
  void expect_operands(size_t least, size_t most) const;
  const Operand& operand(size_t i) const;

  // Slots. `type` gives the width that the operand must have.
  uint32_t source(size_t i, Type type) { return source(operand(i), type); }
  uint32_t source(const Operand& operand, Type type);
  uint32_t destination(size_t i, Type type) { return destination(operand(i), type); }
  uint32_t destination(const Operand& operand, Type type);
  uint32_t predicate(const Operand& operand);  // of a register or a constant 0 or 1; not negated
  const uint32_t* list(std::vector<uint32_t> slots);

 private:
  uint32_t symbol(const Operand& operand, Type type);
  void check_width(const Operand& operand, Type type) const;

  std::vector<std::string_view> rest_;
};

struct OpcodeRow {
  std::string_view name;  // up to the first dot
  void (*decode)(Decoding&);
};

// One table a family, each in its own file.
std::span<const OpcodeRow> integer_opcodes();
std::span<const OpcodeRow> carry_opcodes();
std::span<const OpcodeRow> bit_opcodes();
std::span<const OpcodeRow> float_opcodes();
std::span<const OpcodeRow> approximate_opcodes();
std::span<const OpcodeRow> compare_opcodes();
std::span<const OpcodeRow> convert_opcodes();
std::span<const OpcodeRow> move_opcodes();
std::span<const OpcodeRow> memory_opcodes();
std::span<const OpcodeRow> atomic_opcodes();
std::span<const OpcodeRow> warp_opcodes();
std::span<const OpcodeRow> control_opcodes();
std::span<const OpcodeRow> logic_opcodes();

// add, sub, mul, fma, min, … exist for integers and for floating point: the type decides.
void decode_integer_arithmetic(Decoding& decoding, Type type);
void decode_float_arithmetic(Decoding& decoding, Type type);
void decode_carry_out(Decoding& decoding);  // add.cc, sub.cc and mad.cc, .cc already taken

void decode_statement(FunctionBuilder& builder, const Statement& statement, Instr& instr);

}  // namespace cuda_double
