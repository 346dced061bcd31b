// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "ptx/cursor.h"

namespace cuda_double {
namespace {

uint64_t vector_width(std::string_view name) {
  if (name == "v2") return 2;
  if (name == "v4") return 4;
  return 0;
}

// `.ptr .global .align 4` and `.attribute(.managed)` say nothing that the interpreter needs.
bool skip_attribute(Cursor& cursor) {
  if (cursor.accept_directive("attribute")) {
    cursor.expect('(');
    cursor.skip_past(')');
    return true;
  }
  if (!cursor.accept_directive("ptr")) return false;
  Space space;
  if (cursor.peek().kind == Token::Kind::kDirective && space_by_name(cursor.peek().text, space))
    cursor.take();
  return true;
}

uint64_t parse_dimensions(Cursor& cursor, bool& open) {
  uint64_t count = 1;
  while (cursor.accept('[')) {
    if (cursor.accept(']')) {
      open = true;
      continue;
    }
    count *= cursor.expect_integer();
    cursor.expect(']');
  }
  return count;
}

class Initializer {
 public:
  Initializer(Cursor& cursor, Variable& variable) : cursor_(cursor), variable_(variable) {}

  void value() {
    if (cursor_.accept('{')) {
      if (cursor_.accept('}')) return;
      do value();
      while (cursor_.accept(','));
      cursor_.expect('}');
      return;
    }
    scalar();
  }

 private:
  void scalar() {
    const bool negative = cursor_.accept('-');
    const Token& token = cursor_.peek();
    switch (token.kind) {
      case Token::Kind::kInteger:
        store(integer_bits(cursor_.take().value, negative));
        return;
      case Token::Kind::kFloat32:
        store(cursor_.take().value ^ (negative ? 0x80000000u : 0));
        return;
      case Token::Kind::kFloat64:
        store(double_bits(cursor_.take().value ^ (negative ? 1ull << 63 : 0)));
        return;
      case Token::Kind::kWord:
        address();
        return;
      default:
        cursor_.fail("expected an initial value");
    }
  }

  uint64_t integer_bits(uint64_t value, bool negative) const {
    if (info(variable_.type).kind != TypeKind::kFloat) return negative ? 0 - value : value;
    const double number = negative ? -static_cast<double>(value) : static_cast<double>(value);
    return double_bits(std::bit_cast<uint64_t>(number));
  }

  uint64_t double_bits(uint64_t bits) const {
    if (variable_.type != Type::kF32) return bits;
    return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  }

  void address() {
    Relocation relocation;
    relocation.line = cursor_.peek().line;
    relocation.offset = variable_.initial.size();
    std::string_view name = cursor_.expect_word();
    if (name == "generic" && cursor_.accept('(')) {
      relocation.generic = true;
      name = cursor_.expect_word();
      addend(relocation);
      cursor_.expect(')');
    }
    relocation.symbol = name;
    addend(relocation);
    if (info(variable_.type).size != 8) cursor_.fail("an address needs a 64-bit element");
    variable_.relocations.push_back(relocation);
    store(0);
  }

  void addend(Relocation& relocation) {
    if (cursor_.accept('+')) relocation.addend += static_cast<int64_t>(cursor_.expect_integer());
    if (cursor_.accept('-')) relocation.addend -= static_cast<int64_t>(cursor_.expect_integer());
  }

  void store(uint64_t bits) {
    const size_t size = info(variable_.type).size;
    const size_t at = variable_.initial.size();
    variable_.initial.resize(at + size);
    std::memcpy(variable_.initial.data() + at, &bits, std::min<size_t>(size, 8));
  }

  Cursor& cursor_;
  Variable& variable_;
};

}  // namespace

bool space_by_name(std::string_view name, Space& space) {
  static constexpr std::pair<std::string_view, Space> kSpaces[] = {
      {"global", Space::kGlobal}, {"shared", Space::kShared}, {"local", Space::kLocal},
      {"const", Space::kConst},   {"param", Space::kParam},
  };
  for (const auto& [spelling, value] : kSpaces) {
    if (spelling == name) return space = value, true;
  }
  return false;
}

Variable parse_variable(Cursor& cursor, Space space) {
  Variable variable;
  variable.space = space;
  variable.line = cursor.peek().line;
  std::optional<uint32_t> alignment;
  uint64_t lanes = 1;
  bool typed = false;
  while (cursor.peek().kind == Token::Kind::kDirective) {
    if (skip_attribute(cursor)) continue;
    const std::string_view name = cursor.take().text;
    if (name == "align") {
      alignment = static_cast<uint32_t>(cursor.expect_integer());
    } else if (const uint64_t width = vector_width(name); width != 0) {
      lanes = width;
    } else if (const Type type = type_by_name(name); type != Type::kNone) {
      variable.type = type;
      typed = true;
    } else {
      throw PtxError(variable.line,
                     "unknown directive '." + std::string(name) + "' in a variable's declaration");
    }
  }
  if (!typed) cursor.fail("expected a type");
  variable.name = cursor.expect_word();
  bool open = false;
  const uint64_t count = parse_dimensions(cursor, open);
  const uint64_t element = info(variable.type).size * lanes;
  variable.size = open ? 0 : element * count;
  variable.alignment = alignment.value_or(static_cast<uint32_t>(element));
  return variable;
}

void parse_initializer(Cursor& cursor, Variable& variable) {
  if (!cursor.accept('=')) return;
  Initializer(cursor, variable).value();
  if (variable.size == 0) variable.size = variable.initial.size();
  if (variable.initial.size() > variable.size)
    throw PtxError(variable.line, "more initial values than elements");
}

}  // namespace cuda_double
