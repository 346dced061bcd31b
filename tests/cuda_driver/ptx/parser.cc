// SPDX-License-Identifier: Apache-2.0
#include "ptx/parser.h"

#include "ptx/cursor.h"

namespace cuda_double {
namespace {

class Parser {
 public:
  explicit Parser(std::string text) : module_(std::make_unique<ModuleSyntax>()) {
    module_->text = std::move(text);
    cursor_.emplace_back(tokenize(module_->text));
  }

  std::unique_ptr<ModuleSyntax> run() {
    while (!cursor().at_end()) directive();
    if (module_->target == 0) cursor().fail("no .target directive");
    return std::move(module_);
  }

 private:
  Cursor& cursor() { return cursor_.front(); }

  void directive() {
    if (cursor().accept(';')) return;
    if (cursor().peek().kind != Token::Kind::kDirective) cursor().fail("expected a directive");
    const std::string_view name = cursor().peek().text;
    if (name == "version" || name == "address_size")
      return cursor().take(), static_cast<void>(cursor().take());
    if (name == "target") return target();
    if (name == "file" || name == "loc") return cursor().skip_line();
    if (name == "section") return cursor().skip_past('}');
    if (name == "pragma") return cursor().skip_past(';');
    if (name == "alias") return alias();
    declaration();
  }

  void target() {
    cursor().take();
    do {
      const std::string_view name = cursor().expect_word();
      if (name.substr(0, 3) == "sm_") module_->target = static_cast<uint32_t>(std::atoi(name.data() + 3));
    } while (cursor().accept(','));
  }

  void alias() {
    cursor().take();
    const std::string_view name = cursor().expect_word();
    cursor().expect(',');
    module_->aliases[name] = cursor().expect_word();
    cursor().expect(';');
  }

  void declaration() {
    bool external = false;
    for (;;) {
      if (cursor().accept_directive("extern"))
        external = true;
      else if (cursor().accept_directive("visible") || cursor().accept_directive("weak") ||
               cursor().accept_directive("common"))
        continue;
      else
        break;
    }
    if (cursor().accept_directive("entry")) return function(true);
    if (cursor().accept_directive("func")) return function(false);
    Space space;
    if (cursor().peek().kind != Token::Kind::kDirective || !space_by_name(cursor().peek().text, space)) {
      cursor().fail("unknown directive");
    }
    cursor().take();
    Variable variable = parse_variable(cursor(), space);
    variable.external = external;
    parse_initializer(cursor(), variable);
    cursor().expect(';');
    module_->variables.push_back(std::move(variable));
  }

  std::vector<Variable> parameters() {
    std::vector<Variable> list;
    if (!cursor().accept('(')) return list;
    if (cursor().accept(')')) return list;
    do {
      if (!cursor().accept_directive("param")) cursor().fail("expected .param");
      list.push_back(parse_variable(cursor(), Space::kParam));
    } while (cursor().accept(','));
    cursor().expect(')');
    return list;
  }

  void function(bool entry) {
    FunctionSyntax function;
    function.entry = entry;
    function.line = cursor().peek().line;
    while (cursor().accept_directive("attribute")) cursor().skip_past(')');
    if (!entry) function.returns = parameters();
    function.name = cursor().expect_word();
    function.parameters = parameters();
    tuning(function);
    if (!cursor().accept(';')) {
      cursor().expect('{');
      function.has_body = true;
      parse_body(cursor(), function);
    }
    module_->functions.push_back(std::move(function));
  }

  void tuning(FunctionSyntax& function) {
    while (cursor().peek().kind == Token::Kind::kDirective) {
      const std::string_view name = cursor().take().text;
      if (name == "maxntid") {
        dimensions(function.max_threads);
      } else if (name == "reqntid") {
        dimensions(function.required_threads);
      } else if (name == "minnctapersm" || name == "maxnreg" || name == "maxnctapersm") {
        cursor().expect_integer();
      } else if (name == "pragma") {
        cursor().skip_past(';');
      } else if (name != "noreturn") {
        throw PtxError(cursor().peek().line, "unknown directive '." + std::string(name) + "' of a function");
      }
    }
  }

  void dimensions(uint32_t (&extent)[3]) {
    extent[0] = extent[1] = extent[2] = 1;
    int axis = 0;
    do extent[axis] = static_cast<uint32_t>(cursor().expect_integer());
    while (++axis < 3 && cursor().accept(','));
  }

  std::unique_ptr<ModuleSyntax> module_;
  std::vector<Cursor> cursor_;  // one element; made after the text has its final address
};

}  // namespace

std::unique_ptr<ModuleSyntax> parse_ptx(std::string text) { return Parser(std::move(text)).run(); }

}  // namespace cuda_double
