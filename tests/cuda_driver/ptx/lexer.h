// SPDX-License-Identifier: Apache-2.0
// Splits PTX text into tokens. Tokens are views into the text, which must outlive them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ptx/types.h"

namespace cuda_double {

struct Token {
  enum class Kind : uint8_t { kEnd, kWord, kDirective, kInteger, kFloat32, kFloat64, kString, kPunctuation };
  Kind kind = Kind::kEnd;
  char punctuation = 0;
  uint32_t line = 0;
  std::string_view text;
  uint64_t value = 0;  // an integer's value, or a floating literal's bits

  bool is(char c) const { return kind == Kind::kPunctuation && punctuation == c; }
  bool is_directive(std::string_view name) const { return kind == Kind::kDirective && text == name; }
};

// Directives (`.reg.b32` gives two) are returned without their dot; words keep inner dots.
// Throws PtxError on a character that begins no token.
std::vector<Token> tokenize(std::string_view text);

}  // namespace cuda_double
