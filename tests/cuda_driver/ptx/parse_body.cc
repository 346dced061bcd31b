// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <unordered_map>

#include "ptx/cursor.h"

namespace cuda_double {
namespace {

using Kind = Operand::Kind;

struct Scope {
  std::unordered_map<std::string_view, int32_t> registers;
  std::unordered_map<std::string_view, int32_t> locals;
};

class BodyParser {
 public:
  BodyParser(Cursor& cursor, FunctionSyntax& function) : cursor_(cursor), function_(function), scopes_(1) {}

  void run() {
    while (!scopes_.empty()) {
      if (cursor_.at_end()) cursor_.fail("a function's body does not end");
      item();
    }
  }

 private:
  void item() {
    const Token& token = cursor_.peek();
    if (cursor_.accept('{')) return static_cast<void>(scopes_.emplace_back());
    if (cursor_.accept('}')) return scopes_.pop_back();
    if (cursor_.accept(';')) return;
    if (token.kind == Token::Kind::kDirective) return directive();
    if (token.kind == Token::Kind::kWord && cursor_.peek(1).is(':')) return label();
    statement();
  }

  void directive() {
    const std::string_view name = cursor_.take().text;
    Space space;
    if (name == "reg") return registers();
    if (name == "loc") return cursor_.skip_line();
    if (name == "pragma") return cursor_.skip_past(';');
    if (name == "callprototype" || name == "branchtargets" || name == "calltargets")
      return cursor_.skip_past(';');
    if (!space_by_name(name, space))
      throw PtxError(cursor_.peek().line, "unknown directive '." + std::string(name) + "'");
    variable(space);
  }

  void registers() {
    const Token& token = cursor_.take();
    const Type type = token.kind == Token::Kind::kDirective ? type_by_name(token.text) : Type::kNone;
    if (type == Type::kNone) throw PtxError(token.line, "unknown register type");
    do {
      const std::string_view name = cursor_.expect_word();
      if (!cursor_.accept('<')) {
        add_register(name, type);
        continue;
      }
      const uint64_t count = cursor_.expect_integer();
      cursor_.expect('>');
      for (uint64_t i = 0; i < count; ++i)
        add_register(numbered_.emplace_back(std::string(name) + std::to_string(i)), type);
    } while (cursor_.accept(','));
    cursor_.expect(';');
  }

  void add_register(std::string_view name, Type type) {
    scopes_.back().registers[name] = static_cast<int32_t>(function_.registers.size());
    function_.registers.push_back(type);
  }

  void variable(Space space) {
    Variable variable = parse_variable(cursor_, space);
    parse_initializer(cursor_, variable);
    cursor_.expect(';');
    scopes_.back().locals[variable.name] = static_cast<int32_t>(function_.locals.size());
    function_.locals.push_back(std::move(variable));
  }

  void label() {
    const std::string_view name = cursor_.take().text;
    const uint32_t line = cursor_.take().line;
    if (cursor_.accept_directive("branchtargets")) return branch_targets(name);
    if (!function_.labels.emplace(name, static_cast<uint32_t>(function_.statements.size())).second) {
      throw PtxError(line, "label '" + std::string(name) + "' is defined twice");
    }
  }

  void branch_targets(std::string_view name) {
    do function_.branch_targets[name].push_back(cursor_.expect_word());
    while (cursor_.accept(','));
    cursor_.expect(';');
  }

  void statement() {
    Statement statement;
    if (cursor_.accept('@')) {
      statement.predicate_negated = cursor_.accept('!');
      const std::string_view name = cursor_.expect_word();
      statement.predicate = find_register(name);
      if (statement.predicate < 0) cursor_.fail("unknown predicate register '" + std::string(name) + "'");
    }
    statement.line = cursor_.peek().line;
    statement.opcode = cursor_.expect_word();
    split(statement);
    if (!cursor_.peek().is(';')) {
      do statement.operands.push_back(operand());
      while (cursor_.accept(','));
    }
    if (!cursor_.accept(';') && !cursor_.peek().is('}')) cursor_.fail("expected ';'");
    function_.statements.push_back(std::move(statement));
  }

  static void split(Statement& statement) {
    std::string_view rest = statement.opcode;
    for (size_t dot; (dot = rest.find('.')) != std::string_view::npos; rest.remove_prefix(dot + 1)) {
      statement.parts.push_back(rest.substr(0, dot));
    }
    statement.parts.push_back(rest);
  }

  int32_t find_register(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->registers.find(name); found != scope->registers.end())
        return found->second;
    }
    return -1;
  }

  int32_t find_local(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->locals.find(name); found != scope->locals.end()) return found->second;
    }
    return -1;
  }

  Operand operand() {
    if (cursor_.accept('[')) return address();
    if (cursor_.accept('{')) return sequence(Kind::kVector, '}');
    if (cursor_.accept('(')) return sequence(Kind::kList, ')');
    Operand result;
    result.negated = cursor_.accept('!');
    const bool minus = cursor_.accept('-');
    const Token& token = cursor_.take();
    switch (token.kind) {
      case Token::Kind::kInteger:
        result.kind = Kind::kInteger, result.value = minus ? 0 - token.value : token.value;
        return result;
      case Token::Kind::kFloat32:
        result.kind = Kind::kFloat32, result.value = token.value ^ (minus ? 1u << 31 : 0);
        return result;
      case Token::Kind::kFloat64:
        result.kind = Kind::kFloat64, result.value = token.value ^ (minus ? 1ull << 63 : 0);
        return result;
      case Token::Kind::kWord:
        break;
      default:
        throw PtxError(token.line, "expected an operand, found '" + std::string(token.text) + "'");
    }
    if (minus) throw PtxError(token.line, "'-' before a name");
    name(result, token);
    return result;
  }

  void name(Operand& result, const Token& token) {
    result.name = token.text;
    if (token.text == "_") {
      result.kind = Kind::kSink;
    } else if ((result.reg = find_register(token.text)) >= 0) {
      result.kind = Kind::kRegister;
    } else if (token.text[0] == '%') {
      result.kind = Kind::kSpecial;
    } else {
      result.kind = Kind::kSymbol;
      result.local = find_local(token.text);
      if (cursor_.accept('+')) result.value = offset();
    }
    if (cursor_.accept('|')) second(result);
  }

  void second(Operand& result) {
    const std::string_view name = cursor_.expect_word();
    result.second = find_register(name);
    result.second_sink = name == "_";
    if (result.second < 0 && !result.second_sink)
      cursor_.fail("unknown register '" + std::string(name) + "'");
  }

  uint64_t offset() {
    const bool minus = cursor_.accept('-');
    const uint64_t value = cursor_.expect_integer();
    return minus ? 0 - value : value;
  }

  Operand address() {
    Operand result;
    result.kind = Kind::kAddress;
    const Token& token = cursor_.take();
    if (token.kind == Token::Kind::kInteger) {
      result.value = token.value;
    } else if (token.kind == Token::Kind::kWord) {
      result.reg = find_register(token.text);
      if (result.reg < 0) {
        result.name = token.text;
        result.local = find_local(token.text);
      }
    } else {
      throw PtxError(token.line, "expected an address");
    }
    if (cursor_.accept('+')) result.value += offset();
    if (cursor_.peek().is('-')) result.value += offset();
    cursor_.expect(']');
    return result;
  }

  Operand sequence(Kind kind, char close) {
    Operand result;
    result.kind = kind;
    if (cursor_.accept(close)) return result;
    do result.items.push_back(operand());
    while (cursor_.accept(','));
    cursor_.expect(close);
    return result;
  }

  Cursor& cursor_;
  FunctionSyntax& function_;
  std::deque<Scope> scopes_;
  std::deque<std::string> numbered_;  // spellings of %r0, %r1, …; needed only while the body is parsed
};

}  // namespace

void parse_body(Cursor& cursor, FunctionSyntax& function) { BodyParser(cursor, function).run(); }

}  // namespace cuda_double
