// SPDX-License-Identifier: Apache-2.0
#include "ptx/lexer.h"

#include <bit>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string>

namespace cuda_double {
namespace {

bool is_word_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    tokens_.reserve(text_.size() / 4);
    while (skip_blanks(), position_ < text_.size() && text_[position_] != '\0') next();
    push(Token::Kind::kEnd, position_);
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }

  void skip_blanks() {
    for (; position_ < text_.size(); ++position_) {
      const char c = peek();
      if (c == '\n') {
        ++line_;
      } else if (c == '/' && peek(1) == '/') {
        while (position_ + 1 < text_.size() && peek(1) != '\n') ++position_;
      } else if (c == '/' && peek(1) == '*') {
        skip_block_comment();
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  void skip_block_comment() {
    for (position_ += 2; position_ < text_.size(); ++position_) {
      if (peek() == '\n') ++line_;
      if (peek() == '*' && peek(1) == '/') break;
    }
    ++position_;
  }

  Token& push(Token::Kind kind, size_t start) {
    Token token;
    token.kind = kind;
    token.line = line_;
    token.text = text_.substr(start, position_ - start);
    return tokens_.emplace_back(token);
  }

  void next() {
    const size_t start = position_;
    const char c = peek();
    if (std::isdigit(static_cast<unsigned char>(c))) return number(start);
    if (is_word_start(c)) return word(start);
    if (c == '.' && std::isalpha(static_cast<unsigned char>(peek(1)))) return directive();
    if (c == '"') return string();
    static constexpr std::string_view kPunctuation = "{}[]()<>;:,=+-!|@~*/&^?.#";
    if (kPunctuation.find(c) == std::string_view::npos) {
      throw PtxError(line_, std::string("unexpected character '") + c + "'");
    }
    ++position_;
    push(Token::Kind::kPunctuation, start).punctuation = c;
  }

  void word(size_t start) {
    ++position_;
    while (is_word(peek()) || (peek() == '.' && is_word(peek(1))) ||
           (peek() == ':' && peek(1) == ':' && is_word(peek(2)))) {
      position_ += peek() == ':' ? 2 : 1;
    }
    push(Token::Kind::kWord, start);
  }

  void directive() {
    const size_t start = ++position_;
    while (is_word(peek())) ++position_;
    push(Token::Kind::kDirective, start);
  }

  void string() {
    const size_t start = ++position_;
    while (position_ < text_.size() && peek() != '"') ++position_;
    push(Token::Kind::kString, start);
    ++position_;
  }

  void number(size_t start) {
    const char kind = static_cast<char>(std::tolower(static_cast<unsigned char>(peek(1))));
    if (peek() == '0' && (kind == 'f' || kind == 'd')) return float_bits(start, kind == 'f' ? 8 : 16);
    if (peek() == '0' && kind == 'x') return integer(start, 2, 16);
    if (peek() == '0' && kind == 'b') return integer(start, 2, 2);
    size_t end = position_;
    while (end < text_.size() && std::isdigit(static_cast<unsigned char>(text_[end]))) ++end;
    const bool fraction = end < text_.size() && (text_[end] == '.' || text_[end] == 'e' || text_[end] == 'E');
    if (fraction) return decimal_float(start);
    integer(start, 0, peek() == '0' && end > start + 1 ? 8 : 10);
  }

  void float_bits(size_t start, size_t digits) {
    uint64_t value = 0;
    const char* first = text_.data() + start + 2;
    const bool whole = start + 2 + digits <= text_.size();
    if (!whole || std::from_chars(first, first + digits, value, 16).ptr != first + digits) {
      throw PtxError(line_, "malformed floating-point literal");
    }
    position_ = start + 2 + digits;
    push(digits == 8 ? Token::Kind::kFloat32 : Token::Kind::kFloat64, start).value = value;
  }

  void integer(size_t start, size_t prefix, int base) {
    uint64_t value = 0;
    const auto result =
        std::from_chars(text_.data() + start + prefix, text_.data() + text_.size(), value, base);
    if (result.ec != std::errc()) throw PtxError(line_, "malformed integer literal");
    position_ = static_cast<size_t>(result.ptr - text_.data());
    while (peek() == 'U' || peek() == 'u') ++position_;
    push(Token::Kind::kInteger, start).value = value;
  }

  void decimal_float(size_t start) {
    const std::string copy(text_.substr(start, 64));
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    position_ = start + static_cast<size_t>(end - copy.c_str());
    push(Token::Kind::kFloat64, start).value = std::bit_cast<uint64_t>(value);
  }

  std::string_view text_;
  size_t position_ = 0;
  uint32_t line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

}  // namespace cuda_double
