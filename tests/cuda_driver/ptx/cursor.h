// SPDX-License-Identifier: Apache-2.0
// A position in a token list, and what every part of the parser needs of it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/lexer.h"
#include "ptx/syntax.h"

namespace cuda_double {

class Cursor {
 public:
  explicit Cursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& peek(size_t ahead = 0) const {
    return tokens_[position_ + ahead < tokens_.size() ? position_ + ahead : tokens_.size() - 1];
  }
  const Token& take() { return tokens_[position_ + 1 < tokens_.size() ? position_++ : position_]; }
  bool at_end() const { return peek().kind == Token::Kind::kEnd; }

  bool accept(char c) { return peek().is(c) && (take(), true); }
  bool accept_directive(std::string_view name) { return peek().is_directive(name) && (take(), true); }
  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
  }
  std::string_view expect_word() {
    if (peek().kind != Token::Kind::kWord) fail("expected a name");
    return take().text;
  }
  uint64_t expect_integer() {
    if (peek().kind != Token::Kind::kInteger) fail("expected an integer");
    return take().value;
  }
  void skip_past(char c) {
    while (!at_end() && !peek().is(c)) take();
    expect(c);
  }
  void skip_line() {
    for (const uint32_t line = peek().line; !at_end() && peek().line == line;) take();
  }
  [[noreturn]] void fail(const std::string& message) const {
    const Token& token = peek();
    const std::string found =
        token.kind == Token::Kind::kEnd ? "the end of the text" : "'" + std::string(token.text) + "'";
    throw PtxError(token.line, message + ", found " + found);
  }

 private:
  std::vector<Token> tokens_;
  size_t position_ = 0;
};

// One or more variables of a state space, the cursor being past the space's directive. Stops before `;`, `,`
// or `)`.
Variable parse_variable(Cursor& cursor, Space space);
void parse_initializer(Cursor& cursor, Variable& variable);

// A function's body, the cursor being past its `{`.
void parse_body(Cursor& cursor, FunctionSyntax& function);

// The state space that a directive names; false where it names none.
bool space_by_name(std::string_view name, Space& space);

}  // namespace cuda_double
