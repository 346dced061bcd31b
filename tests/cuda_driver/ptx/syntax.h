// SPDX-License-Identifier: Apache-2.0
// A PTX module as written: variables, functions, and statements whose registers are already numbered.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/types.h"

namespace cuda_double {

struct Relocation {
  uint64_t offset = 0;      // where in the initialiser
  std::string_view symbol;  // whose address is stored there
  int64_t addend = 0;
  bool generic = false;
  uint32_t line = 0;
};

struct Variable {
  std::string_view name;
  Space space = Space::kGlobal;
  Type type = Type::kB8;
  uint32_t alignment = 1;
  uint64_t size = 0;  // bytes; 0 for `extern .shared name[]`
  bool external = false;
  std::vector<uint8_t> initial;
  std::vector<Relocation> relocations;
  uint32_t line = 0;
};

struct Operand {
  enum class Kind : uint8_t {
    kNone,
    kRegister,
    kSpecial,
    kInteger,
    kFloat32,
    kFloat64,
    kSymbol,
    kAddress,
    kVector,
    kList,
    kSink,
  };
  Kind kind = Kind::kNone;
  bool negated = false;      // `!%p`, and `-` before a register or symbol (which decoders refuse)
  int32_t reg = -1;          // kRegister; kAddress: the base register, or -1
  int32_t second = -1;       // the register after `|`
  bool second_sink = false;  // `|_`
  int32_t local = -1;        // kSymbol, kAddress: index into Function::locals, or -1
  uint64_t value = 0;        // literal's bits; kAddress: byte offset, kSymbol: addend
  std::string_view name;     // kSymbol, kSpecial, and kAddress with a symbol
  std::vector<Operand> items;
};

struct Statement {
  std::string_view opcode;              // whole, with its dots
  std::vector<std::string_view> parts;  // opcode split at dots
  std::vector<Operand> operands;
  int32_t predicate = -1;
  bool predicate_negated = false;
  uint32_t line = 0;
};

struct FunctionSyntax {
  std::string_view name;
  bool entry = false;
  bool has_body = false;
  std::vector<Variable> parameters;
  std::vector<Variable> returns;
  std::vector<Variable> locals;  // .local, .shared and .param variables of the body, all scopes
  std::vector<Type> registers;
  std::vector<Statement> statements;
  std::unordered_map<std::string_view, uint32_t> labels;  // → index of the statement that follows
  std::unordered_map<std::string_view, std::vector<std::string_view>> branch_targets;
  uint32_t max_threads[3] = {0, 0, 0};       // .maxntid, 0 where absent
  uint32_t required_threads[3] = {0, 0, 0};  // .reqntid, 0 where absent
  uint32_t line = 0;
};

struct ModuleSyntax {
  std::string text;     // everything else points into it
  uint32_t target = 0;  // sm_75 → 75
  std::vector<Variable> variables;
  std::deque<FunctionSyntax> functions;
  std::unordered_map<std::string_view, std::string_view> aliases;
};

}  // namespace cuda_double
