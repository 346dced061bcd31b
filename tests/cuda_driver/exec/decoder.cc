// SPDX-License-Identifier: Apache-2.0
#include "exec/decoder.h"

#include <algorithm>

#include "exec/address_space.h"
#include "ops/builtin.h"
#include "ops/decode.h"

namespace cuda_double {
namespace {

constexpr uint64_t kMaxStaticShared =
    232448;  // more than any architecture has; the launch checks the device's limit

uint64_t align_up(uint64_t value, uint64_t alignment) {
  alignment = std::max<uint64_t>(alignment, 1);
  return (value + alignment - 1) / alignment * alignment;
}

void visit_names(const Operand& operand, const std::function<void(std::string_view)>& visit) {
  if (operand.local < 0 && !operand.name.empty()) visit(operand.name);
  for (const Operand& item : operand.items) visit_names(item, visit);
}

bool references(const FunctionSyntax& function, std::string_view name) {
  bool found = false;
  for (const Statement& statement : function.statements) {
    for (const Operand& operand : statement.operands) {
      visit_names(operand, [&](std::string_view other) { found = found || other == name; });
    }
  }
  return found;
}

}  // namespace

FunctionBuilder::FunctionBuilder(const ModuleSyntax& m, const FunctionSyntax& s, Program& p, Function& f,
                                 const SymbolAddress& address_of)
    : module(m), syntax(s), program(p), function(f), address_of_(address_of) {}

uint32_t FunctionBuilder::scratch(uint32_t bytes) {
  const uint32_t slot = function.frame_size;
  function.frame_size += (bytes + 31) & ~31u;
  return slot;
}

void FunctionBuilder::lay_out_registers() {
  for (const Type type : syntax.registers) {
    const uint32_t size = info(type).size;
    slots_.push_back(type == Type::kPred ? scratch(4) : scratch(size * kLanes));
  }
}

uint32_t FunctionBuilder::constant(uint64_t bits, uint8_t size) {
  if (size != 0 && size < 8) bits &= (1ull << (8 * size)) - 1;
  const auto [found, fresh] = constants_.emplace(std::pair{bits, size}, 0);
  if (fresh) {
    found->second = scratch(size == 0 ? 4 : size * kLanes);
    function.constants.push_back({found->second, size, bits});
  }
  return found->second;
}

uint32_t FunctionBuilder::special(Special which, uint8_t size) {
  if (which == Special::kLocalBase && function.entry) return constant(0, size);
  const auto [found, fresh] = specials_.emplace(std::pair{which, size}, 0);
  if (fresh) {
    found->second = scratch(size * kLanes);
    function.specials.push_back({found->second, size, which});
  }
  return found->second;
}

std::string_view FunctionBuilder::resolve(std::string_view name) const {
  const auto alias = module.aliases.find(name);
  return alias == module.aliases.end() ? name : alias->second;
}

Function* FunctionBuilder::find_function(std::string_view name) const {
  const auto found = program.by_name.find(resolve(name));
  return found == program.by_name.end() ? nullptr : found->second;
}

uint64_t FunctionBuilder::function_address(std::string_view name) const {
  const Function* target = find_function(name);
  for (const auto& [address, candidate] : program.by_address) {
    if (candidate == target) return address;
  }
  return 0;
}

bool FunctionBuilder::place(const Operand& operand, Place& place, uint32_t) const {
  if (operand.local >= 0) {
    place = local_places_[static_cast<size_t>(operand.local)];
    return true;
  }
  const auto found = named_places_.find(operand.name);
  if (found == named_places_.end()) return false;
  place = found->second;
  return true;
}

uint64_t FunctionBuilder::global_address(std::string_view name, uint32_t line) const {
  const uint64_t address = address_of_(name);
  if (address == 0) throw PtxError(line, "unknown name '" + std::string(name) + "'");
  return address;
}

uint32_t FunctionBuilder::label(std::string_view name, uint32_t line) const {
  const auto found = syntax.labels.find(name);
  if (found == syntax.labels.end()) throw PtxError(line, "unknown label '" + std::string(name) + "'");
  return found->second;
}

void FunctionBuilder::lay_out_parameters() {
  uint64_t offset = 0;
  const Space space = function.entry ? Space::kParam : Space::kLocal;
  for (const Variable& parameter : syntax.parameters) {
    offset = align_up(offset, parameter.alignment);
    function.parameters.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(parameter.size)});
    named_places_[parameter.name] = {space, offset, false};
    offset += parameter.size;
  }
  if (function.entry) {
    function.parameter_size = static_cast<uint32_t>(offset);
    return;
  }
  for (const Variable& result : syntax.returns) {
    offset = align_up(offset, result.alignment);
    function.returns.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(result.size)});
    named_places_[result.name] = {Space::kLocal, offset, false};
    offset += result.size;
  }
  function.local_size = static_cast<uint32_t>(offset);
}

void FunctionBuilder::lay_out_locals() {
  uint64_t local = function.local_size;
  uint64_t shared = function.shared_size;
  for (const Variable& variable : syntax.locals) {
    const bool in_shared = variable.space == Space::kShared;
    if (!in_shared && variable.space != Space::kLocal && variable.space != Space::kParam) {
      throw PtxError(variable.line, "a variable of this space inside a function");
    }
    if (in_shared && variable.size == 0) {
      local_places_.push_back({Space::kShared, 0, true});
      continue;
    }
    uint64_t& top = in_shared ? shared : local;
    top = align_up(top, variable.alignment);
    local_places_.push_back({in_shared ? Space::kShared : Space::kLocal, top, false});
    top += variable.size;
  }
  function.local_size = static_cast<uint32_t>(local);
  function.shared_size = static_cast<uint32_t>(align_up(shared, 16));
}

void FunctionBuilder::lay_out_shared(const std::map<std::string_view, uint64_t>& common,
                                     uint64_t common_size) {
  uint64_t top = common_size;
  for (const Variable& variable : module.variables) {
    if (variable.space != Space::kShared) continue;
    if (variable.size == 0) {
      named_places_[variable.name] = {Space::kShared, 0, true};
    } else if (const auto found = common.find(variable.name); found != common.end()) {
      named_places_[variable.name] = {Space::kShared, found->second, false};
    } else if (references(syntax, variable.name)) {
      top = align_up(top, variable.alignment);
      named_places_[variable.name] = {Space::kShared, top, false};
      top += variable.size;
    }
  }
  if (top > kMaxStaticShared) throw PtxError(syntax.line, "too much static shared memory");
  function.shared_size = static_cast<uint32_t>(top);
}

void FunctionBuilder::decode_statements() {
  function.code.reserve(syntax.statements.size() + 1);
  for (const Statement& statement : syntax.statements) {
    Instr& instr = function.code.emplace_back();
    instr.line = statement.line;
    decode_statement(*this, statement, instr);
  }
  Instr& end = function.code.emplace_back();  // running off the end returns
  end.control = Control::kReturn;
  end.line = syntax.statements.empty() ? syntax.line : syntax.statements.back().line;
}

void FunctionBuilder::find_blocks() {
  const size_t count = function.code.size();
  std::vector<bool> leader(count + 1, false);
  leader[count] = true;
  for (const auto& [name, index] : syntax.labels) leader[index] = true;
  for (size_t i = 0; i < count; ++i) {
    if (function.code[i].control == Control::kNone) continue;
    leader[i + 1] = true;
    if (function.code[i].control != Control::kBranch) leader[i] = true;  // lanes may wait here for others
  }
  function.block_last.resize(count);
  for (size_t i = count; i-- > 0;) {
    function.block_last[i] = leader[i + 1] ? static_cast<uint32_t>(i) : function.block_last[i + 1];
  }
}

void FunctionBuilder::build(const std::map<std::string_view, uint64_t>& common, uint64_t common_size) {
  lay_out_registers();
  lay_out_parameters();
  lay_out_shared(common, common_size);
  lay_out_locals();
  decode_statements();
  find_blocks();
}

namespace {

void declare_functions(Program& program) {
  for (const FunctionSyntax& syntax : program.syntax->functions) {
    Function*& function = program.by_name[syntax.name];
    if (function == nullptr) {
      function = &program.functions.emplace_back();
      function->name = syntax.name;
      function->entry = syntax.entry;
      function->address = AddressSpace::instance().next_code_address();
      program.by_address[function->address] = function;
    }
    if (!syntax.has_body && !function->entry) function->builtin = find_builtin(syntax.name);
  }
}

// Shared variables of module scope that functions other than kernels use have the same place in every kernel.
uint64_t place_common_shared(const ModuleSyntax& module, std::map<std::string_view, uint64_t>& places) {
  uint64_t top = 0;
  for (const Variable& variable : module.variables) {
    if (variable.space != Space::kShared || variable.size == 0) continue;
    const bool common =
        std::any_of(module.functions.begin(), module.functions.end(),
                    [&](const FunctionSyntax& f) { return !f.entry && references(f, variable.name); });
    if (!common) continue;
    top = align_up(top, variable.alignment);
    places[variable.name] = top;
    top += variable.size;
  }
  return top;
}

void declare_builtin_signature(const FunctionSyntax& syntax, Function& function) {
  for (const Variable& p : syntax.parameters)
    function.parameters.push_back({0, static_cast<uint32_t>(p.size)});
  for (const Variable& r : syntax.returns) function.returns.push_back({0, static_cast<uint32_t>(r.size)});
}

}  // namespace

std::unique_ptr<Program> decode(std::unique_ptr<ModuleSyntax> syntax, const SymbolAddress& address_of) {
  auto program = std::make_unique<Program>();
  program->syntax = std::move(syntax);
  const ModuleSyntax& module = *program->syntax;
  declare_functions(*program);
  std::map<std::string_view, uint64_t> common;
  const uint64_t common_size = place_common_shared(module, common);
  for (const FunctionSyntax& source : module.functions) {
    Function& function = *program->by_name[source.name];
    if (!source.has_body) {
      if (function.builtin != nullptr && function.parameters.empty())
        declare_builtin_signature(source, function);
      continue;
    }
    if (!function.code.empty()) throw PtxError(source.line, "'" + function.name + "' is defined twice");
    std::copy(std::begin(source.required_threads), std::end(source.required_threads),
              function.required_threads);
    const uint64_t limit = uint64_t{source.max_threads[0]} * source.max_threads[1] * source.max_threads[2];
    if (limit != 0) function.max_threads = static_cast<uint32_t>(std::min<uint64_t>(limit, 1024));
    FunctionBuilder(module, source, *program, function, address_of).build(common, common_size);
  }
  return program;
}

}  // namespace cuda_double
