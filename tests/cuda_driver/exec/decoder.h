// SPDX-License-Identifier: Apache-2.0
// Turns parsed PTX into handlers and slots.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec/program.h"

namespace cuda_double {

// The address of a module-scope .global or .const variable.
using SymbolAddress = std::function<uint64_t(std::string_view)>;

// Decodes every function. Throws PtxError.
std::unique_ptr<Program> decode(std::unique_ptr<ModuleSyntax> syntax, const SymbolAddress& address_of);

struct Place {  // of a variable that is not in global memory
  Space space = Space::kLocal;
  uint64_t offset = 0;
  bool dynamic_shared = false;
};

// What one function's decoding needs to look things up and to make slots.
class FunctionBuilder {
 public:
  FunctionBuilder(const ModuleSyntax& module, const FunctionSyntax& syntax, Program& program,
                  Function& function, const SymbolAddress& address_of);

  void build(const std::map<std::string_view, uint64_t>& common_shared, uint64_t common_shared_size);

  const ModuleSyntax& module;
  const FunctionSyntax& syntax;
  Program& program;
  Function& function;

  uint32_t register_slot(int32_t reg) const { return slots_[static_cast<size_t>(reg)]; }
  Type register_type(int32_t reg) const { return syntax.registers[static_cast<size_t>(reg)]; }
  uint32_t constant(uint64_t bits, uint8_t size);
  uint32_t special(Special which, uint8_t size);
  uint32_t scratch(uint32_t bytes);

  bool is_function(std::string_view name) const { return program.by_name.count(resolve(name)) != 0; }
  Function* find_function(std::string_view name) const;
  uint64_t function_address(std::string_view name) const;
  // A variable of this function or of shared memory; false where it is in global or constant memory.
  bool place(const Operand& operand, Place& place, uint32_t line) const;
  uint64_t global_address(std::string_view name, uint32_t line) const;
  uint32_t label(std::string_view name, uint32_t line) const;

 private:
  std::string_view resolve(std::string_view name) const;
  void lay_out_registers();
  void lay_out_parameters();
  void lay_out_locals();
  void lay_out_shared(const std::map<std::string_view, uint64_t>& common, uint64_t common_size);
  void decode_statements();
  void find_blocks();

  const SymbolAddress& address_of_;
  std::vector<uint32_t> slots_;
  std::map<std::pair<uint64_t, uint8_t>, uint32_t> constants_;
  std::map<std::pair<Special, uint8_t>, uint32_t> specials_;
  std::vector<Place> local_places_;
  std::map<std::string_view, Place> named_places_;  // parameters, and module-scope shared variables
};

}  // namespace cuda_double
