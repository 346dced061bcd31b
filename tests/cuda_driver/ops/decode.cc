// SPDX-License-Identifier: Apache-2.0
#include "ops/decode.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace cuda_double {
namespace {

using Kind = Operand::Kind;

struct SpecialName {
  std::string_view name;
  Special which;
};

constexpr SpecialName kSpecials[] = {
    {"%tid.x", Special::kTidX},
    {"%tid.y", Special::kTidY},
    {"%tid.z", Special::kTidZ},
    {"%ntid.x", Special::kNtidX},
    {"%ntid.y", Special::kNtidY},
    {"%ntid.z", Special::kNtidZ},
    {"%ctaid.x", Special::kCtaidX},
    {"%ctaid.y", Special::kCtaidY},
    {"%ctaid.z", Special::kCtaidZ},
    {"%nctaid.x", Special::kNctaidX},
    {"%nctaid.y", Special::kNctaidY},
    {"%nctaid.z", Special::kNctaidZ},
    {"%laneid", Special::kLaneId},
    {"%warpid", Special::kWarpId},
    {"%nwarpid", Special::kNwarpId},
    {"%smid", Special::kSmId},
    {"%nsmid", Special::kNsmId},
    {"%gridid", Special::kGridId},
    {"%lanemask_eq", Special::kLaneMaskEq},
    {"%lanemask_lt", Special::kLaneMaskLt},
    {"%lanemask_le", Special::kLaneMaskLe},
    {"%lanemask_gt", Special::kLaneMaskGt},
    {"%lanemask_ge", Special::kLaneMaskGe},
    {"%dynamic_smem_size", Special::kDynamicSharedSize},
    {"%total_smem_size", Special::kTotalSharedSize},
};

using Table = std::unordered_map<std::string_view, void (*)(Decoding&)>;

const Table& opcodes() {
  static const Table* table = [] {
    auto* all = new Table;
    for (const auto family :
         {integer_opcodes(), carry_opcodes(), bit_opcodes(), float_opcodes(), approximate_opcodes(),
          compare_opcodes(), convert_opcodes(), move_opcodes(), memory_opcodes(), atomic_opcodes(),
          warp_opcodes(), control_opcodes(), logic_opcodes()}) {
      for (const OpcodeRow& row : family) all->emplace(row.name, row.decode);
    }
    return all;
  }();
  return *table;
}

}  // namespace

Decoding::Decoding(FunctionBuilder& b, const Statement& s, Instr& i)
    : builder(b), statement(s), instr(i), rest_(s.parts.begin() + 1, s.parts.end()) {}

void Decoding::fail(const std::string& what) const {
  throw PtxError(statement.line, "'" + std::string(statement.opcode) + "': " + what);
}

bool Decoding::accept(std::string_view modifier) {
  const auto found = std::find(rest_.begin(), rest_.end(), modifier);
  if (found == rest_.end()) return false;
  rest_.erase(found);
  return true;
}

void Decoding::require(std::string_view modifier) {
  if (!accept(modifier)) fail("expected ." + std::string(modifier));
}

void Decoding::ignore(std::initializer_list<std::string_view> modifiers) {
  for (const std::string_view modifier : modifiers) accept(modifier);
}

int Decoding::choose(std::initializer_list<std::string_view> choices) {
  int index = 0;
  for (const std::string_view choice : choices) {
    if (accept(choice)) return index;
    ++index;
  }
  return -1;
}

Type Decoding::type() {
  for (auto part = rest_.begin(); part != rest_.end(); ++part) {
    if (const Type found = type_by_name(*part); found != Type::kNone) {
      rest_.erase(part);
      return found;
    }
  }
  fail("expected a type");
}

Rounding Decoding::rounding() { return static_cast<Rounding>(choose({"rn", "rz", "rm", "rp"}) + 1); }
Rounding Decoding::integer_rounding() {
  return static_cast<Rounding>(choose({"rni", "rzi", "rmi", "rpi"}) + 1);
}

void Decoding::finish() const {
  if (!rest_.empty()) fail("unknown modifier ." + std::string(rest_.front()));
}

void Decoding::expect_operands(size_t least, size_t most) const {
  if (operands() < least || operands() > most) fail("wrong number of operands");
}

const Operand& Decoding::operand(size_t i) const {
  if (i >= operands()) fail("too few operands");
  return statement.operands[i];
}

void Decoding::check_width(const Operand& operand, Type type) const {
  const Type have = builder.register_type(operand.reg);
  const bool match = (have == Type::kPred) == (type == Type::kPred) && info(have).size == info(type).size;
  if (!match) {
    fail("register '" + std::string(operand.name) + "' of type ." + std::string(info(have).name) +
         " where ." + std::string(info(type).name) + " is needed");
  }
}

uint32_t Decoding::destination(const Operand& operand, Type type) {
  if (operand.kind == Kind::kSink) return builder.scratch(std::max<uint32_t>(info(type).size, 4) * kLanes);
  if (operand.kind != Kind::kRegister || operand.negated) fail("the destination must be a register");
  check_width(operand, type);
  return builder.register_slot(operand.reg);
}

uint32_t Decoding::source(const Operand& operand, Type type) {
  const TypeInfo& want = info(type);
  if (operand.negated) fail("'!' before an operand that is no predicate");
  switch (operand.kind) {
    case Kind::kRegister:
      check_width(operand, type);
      return builder.register_slot(operand.reg);
    case Kind::kInteger:
      if (want.kind == TypeKind::kFloat) fail("an integer literal where floating point is needed");
      return builder.constant(operand.value, want.size);
    case Kind::kFloat32:
      if (want.size == 8)
        return builder.constant(
            std::bit_cast<uint64_t>(double{std::bit_cast<float>(static_cast<uint32_t>(operand.value))}), 8);
      if (want.size != 4) fail("a float32 literal of the wrong width");
      return builder.constant(operand.value, 4);
    case Kind::kFloat64:
      if (want.size == 4)
        return builder.constant(
            std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(operand.value))), 4);
      if (want.size != 8) fail("a float64 literal of the wrong width");
      return builder.constant(operand.value, 8);
    case Kind::kSpecial:
      for (const SpecialName& row : kSpecials) {
        if (row.name == operand.name) return builder.special(row.which, want.size);
      }
      if (operand.name == "WARP_SZ") return builder.constant(kLanes, want.size);
      fail("unknown register '" + std::string(operand.name) + "'");
    case Kind::kSymbol:
      return symbol(operand, type);
    default:
      fail("an operand of the wrong kind");
  }
}

uint32_t Decoding::symbol(const Operand& operand, Type type) {
  const uint8_t size = info(type).size;
  if (operand.name == "WARP_SZ") return builder.constant(kLanes, size);
  Place place;
  if (builder.place(operand, place, statement.line)) {
    if (place.dynamic_shared && operand.value == 0) return builder.special(Special::kDynamicSharedBase, size);
    if (place.dynamic_shared || (place.space == Space::kLocal && !builder.function.entry)) {
      fail("the address of '" + std::string(operand.name) + "' must be taken by mov");
    }
    return builder.constant(place.offset + operand.value, size);
  }
  if (builder.is_function(operand.name))
    return builder.constant(builder.function_address(operand.name), size);
  return builder.constant(builder.global_address(operand.name, statement.line) + operand.value, size);
}

uint32_t Decoding::predicate(const Operand& operand) {
  if (operand.kind == Kind::kInteger) return builder.constant(operand.value != 0 ? kFullMask : 0, 0);
  if (operand.kind != Kind::kRegister) fail("a predicate is needed");
  check_width(operand, Type::kPred);
  return builder.register_slot(operand.reg);
}

const uint32_t* Decoding::list(std::vector<uint32_t> slots) {
  instr.count = static_cast<uint16_t>(slots.size());
  instr.list = builder.function.lists.emplace_back(std::move(slots)).data();
  return instr.list;
}

void decode_statement(FunctionBuilder& builder, const Statement& statement, Instr& instr) {
  const auto found = opcodes().find(statement.parts.front());
  Decoding decoding(builder, statement, instr);
  if (found == opcodes().end()) decoding.fail("unknown instruction");
  if (statement.predicate >= 0) {
    if (builder.register_type(statement.predicate) != Type::kPred) decoding.fail("the guard is no predicate");
    instr.predicate = static_cast<int32_t>(builder.register_slot(statement.predicate));
    instr.predicate_negated = statement.predicate_negated;
  }
  found->second(decoding);
  decoding.finish();
  if (instr.run == nullptr && instr.control == Control::kNone) decoding.fail("not supported for this type");
}

}  // namespace cuda_double
