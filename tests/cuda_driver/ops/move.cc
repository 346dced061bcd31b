// SPDX-License-Identifier: Apache-2.0
// mov, with its packing and unpacking of vectors; cvta and isspacep.
#include <cstring>

#include "exec/address_space.h"
#include "ops/decode.h"
#include "ops/lanes.h"

namespace cuda_double {
namespace {

using Kind = Operand::Kind;

struct Copy {
  template <class T>
  static T apply(T a) {
    return a;
  }
};

void move_predicate(Warp& warp, const Instr& instr) {
  uint32_t& dst = warp.predicate(instr.dst);
  const uint32_t value = warp.predicate(instr.a) ^ (instr.flag ? kFullMask : 0);
  dst = (dst & ~warp.mask) | (value & warp.mask);
}

// {list} → dst; mode: bytes of an element, d: bytes of the whole.
void pack(Warp& warp, const Instr& instr) {
  uint8_t* dst = warp.at<uint8_t>(instr.dst);
  for_lanes(warp.mask, [&](int lane) {
    uint8_t bytes[16];
    for (int i = 0; i < instr.count; ++i) {
      std::memcpy(bytes + i * instr.mode, warp.at<uint8_t>(instr.list[i]) + lane * instr.mode, instr.mode);
    }
    std::memcpy(dst + lane * instr.d, bytes, instr.d);
  });
}

// The common sizes, in loops of their own.
template <class Whole, class Part>
void pack2(Warp& warp, const Instr& instr) {
  Whole* dst = warp.at<Whole>(instr.dst);
  const Part *low = warp.at<Part>(instr.list[0]), *high = warp.at<Part>(instr.list[1]);
  for_lanes(warp.mask, [=](int lane) {
    dst[lane] = static_cast<Whole>(static_cast<Whole>(high[lane]) << (8 * sizeof(Part)) | low[lane]);
  });
}

template <class Whole, class Part>
void unpack2(Warp& warp, const Instr& instr) {
  const Whole* src = warp.at<Whole>(instr.a);
  Part *low = warp.at<Part>(instr.list[0]), *high = warp.at<Part>(instr.list[1]);
  for_lanes(warp.mask, [=](int lane) {
    const Whole value = src[lane];
    low[lane] = static_cast<Part>(value);
    high[lane] = static_cast<Part>(value >> (8 * sizeof(Part)));
  });
}

Handler pair_handler(uint32_t whole, bool packing) {
  switch (whole) {
    case 4:
      return packing ? pack2<uint32_t, uint16_t> : unpack2<uint32_t, uint16_t>;
    case 8:
      return packing ? pack2<uint64_t, uint32_t> : unpack2<uint64_t, uint32_t>;
    default:
      return nullptr;
  }
}

void unpack(Warp& warp, const Instr& instr) {
  const uint8_t* src = warp.at<uint8_t>(instr.a);
  for_lanes(warp.mask, [&](int lane) {
    uint8_t bytes[16];
    std::memcpy(bytes, src + lane * instr.d, instr.d);
    for (int i = 0; i < instr.count; ++i) {
      std::memcpy(warp.at<uint8_t>(instr.list[i]) + lane * instr.mode, bytes + i * instr.mode, instr.mode);
    }
  });
}

void local_address(Warp& warp, const Instr& instr) {
  uint64_t* dst = warp.at<uint64_t>(instr.dst);
  for_lanes(warp.mask,
            [&](int lane) { dst[lane] = warp.frame->local_base + static_cast<uint64_t>(instr.imm); });
}

void local_address32(Warp& warp, const Instr& instr) {
  uint32_t* dst = warp.at<uint32_t>(instr.dst);
  for_lanes(warp.mask,
            [&](int lane) { dst[lane] = warp.frame->local_base + static_cast<uint32_t>(instr.imm); });
}

void clock64(Warp& warp, const Instr& instr) {
  uint64_t* dst = warp.at<uint64_t>(instr.dst);
  const uint64_t now = warp.block->executed * 16 + 16;
  for_lanes(warp.mask, [&](int lane) { dst[lane] = now; });
}

void clock32(Warp& warp, const Instr& instr) {
  uint32_t* dst = warp.at<uint32_t>(instr.dst);
  const auto now = static_cast<uint32_t>(warp.block->executed * 16 + 16);
  for_lanes(warp.mask, [&](int lane) { dst[lane] = now; });
}

Handler copy_of(Type type) {
  switch (info(type).size) {
    case 2:
      return same1<Copy, uint16_t>;
    case 4:
      return same1<Copy, uint32_t>;
    case 8:
      return same1<Copy, uint64_t>;
    default:
      return nullptr;
  }
}

Type bits_of_size(uint32_t size) {
  switch (size) {
    case 1:
      return Type::kB8;
    case 2:
      return Type::kB16;
    case 4:
      return Type::kB32;
    case 8:
      return Type::kB64;
    default:
      return Type::kNone;
  }
}

void decode_vector(Decoding& decoding, Type type) {
  const bool packing = decoding.operand(1).kind == Kind::kVector;
  const Operand& vector = decoding.operand(packing ? 1 : 0);
  const auto count = static_cast<uint32_t>(vector.items.size());
  if (count == 0 || info(type).size % count != 0) decoding.fail("a vector of the wrong length");
  const Type element = bits_of_size(info(type).size / count);
  if (element == Type::kNone) decoding.fail("a vector of the wrong length");
  std::vector<uint32_t> slots;
  for (const Operand& item : vector.items)
    slots.push_back(packing ? decoding.source(item, element) : decoding.destination(item, element));
  decoding.list(std::move(slots));
  decoding.instr.mode = info(element).size;
  decoding.instr.d = info(type).size;
  if (packing)
    decoding.instr.dst = decoding.destination(0, type);
  else
    decoding.instr.a = decoding.source(1, type);
  const Handler pair = count == 2 ? pair_handler(info(type).size, packing) : nullptr;
  decoding.instr.run = pair != nullptr ? pair : packing ? pack : unpack;
}

// The address of a variable of this function that is not the same for every call, or of dynamic shared
// memory.
bool decode_address(Decoding& decoding, Type type) {
  const Operand& operand = decoding.operand(1);
  Place place;
  if (operand.kind != Kind::kSymbol || !decoding.builder.place(operand, place, decoding.statement.line))
    return false;
  if (place.space != Space::kLocal || decoding.builder.function.entry) return false;
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.imm = static_cast<int64_t>(place.offset + operand.value);
  decoding.instr.run = info(type).size == 8 ? local_address : local_address32;
  return true;
}

bool decode_clock(Decoding& decoding, Type type) {
  const Operand& operand = decoding.operand(1);
  if (operand.kind != Kind::kSpecial) return false;
  if (operand.name != "%clock" && operand.name != "%clock64" && operand.name != "%globaltimer") return false;
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.run = info(type).size == 8 ? clock64 : clock32;
  return true;
}

void decode_mov(Decoding& decoding) {
  const Type type = decoding.type();
  decoding.expect_operands(2, 2);
  if (decoding.operand(0).kind == Kind::kVector || decoding.operand(1).kind == Kind::kVector)
    return decode_vector(decoding, type);
  if (type == Type::kPred) {
    decoding.instr.dst = decoding.destination(0, type);
    decoding.instr.a = decoding.predicate(decoding.operand(1));
    decoding.instr.flag = decoding.operand(1).negated;
    decoding.instr.run = move_predicate;
    return;
  }
  if (decode_address(decoding, type) || decode_clock(decoding, type)) return;
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.run = copy_of(type);
}

template <class T>
void add_offset(Warp& warp, const Instr& instr) {
  T* dst = warp.at<T>(instr.dst);
  const T* a = warp.at<T>(instr.a);
  const T offset = static_cast<T>(instr.imm);
  for_lanes(warp.mask, [=](int lane) { dst[lane] = a[lane] + offset; });
}

uint64_t window(Space space) {
  const AddressSpace& addresses = AddressSpace::instance();
  switch (space) {
    case Space::kShared:
      return addresses.shared_window();
    case Space::kLocal:
      return addresses.local_window();
    case Space::kParam:
      return addresses.parameter_window();
    default:
      return 0;
  }
}

Space take_space(Decoding& decoding) {
  static constexpr Space kSpaces[] = {Space::kGlobal, Space::kShared, Space::kLocal, Space::kConst,
                                      Space::kParam};
  const int index = decoding.choose({"global", "shared", "local", "const", "param"});
  if (index < 0) decoding.fail("needs a state space");
  decoding.ignore({"entry", "func", "cta"});
  return kSpaces[index];
}

void decode_cvta(Decoding& decoding) {
  const bool to = decoding.accept("to");
  const Space space = take_space(decoding);
  const Type type = decoding.type();
  if (type != Type::kU64) decoding.fail("needs .u64");
  decoding.expect_operands(2, 2);
  const uint64_t base =
      space == Space::kParam && !decoding.builder.function.entry ? window(Space::kLocal) : window(space);
  decoding.instr.imm = static_cast<int64_t>(to ? 0 - base : base);
  if (decode_address(decoding, type)) decoding.fail("needs a register");
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.run = base == 0 ? same1<Copy, uint64_t> : add_offset<uint64_t>;
}

void isspacep(Warp& warp, const Instr& instr) {
  const AddressSpace& addresses = AddressSpace::instance();
  const uint64_t* a = warp.at<uint64_t>(instr.a);
  const auto space = static_cast<Space>(instr.mode);
  uint32_t result = 0;
  for_lanes(warp.mask, [&](int lane) {
    const auto within = [&](uint64_t base) { return a[lane] - base < AddressSpace::kWindowSize; };
    const bool shared = within(addresses.shared_window()), local = within(addresses.local_window());
    const bool parameter = within(addresses.parameter_window());
    bool inside = false;
    switch (space) {
      case Space::kShared:
        inside = shared;
        break;
      case Space::kLocal:
        inside = local;
        break;
      case Space::kParam:
        inside = parameter;
        break;
      case Space::kConst: {
        const auto allocation = addresses.find(a[lane]);
        inside = allocation != nullptr && allocation->read_only;
        break;
      }
      default:
        inside = !shared && !local && !parameter;
    }
    result |= static_cast<uint32_t>(inside) << lane;
  });
  uint32_t& dst = warp.predicate(instr.dst);
  dst = (dst & ~warp.mask) | result;
}

void decode_isspacep(Decoding& decoding) {
  decoding.instr.mode = static_cast<uint8_t>(take_space(decoding));
  decoding.expect_operands(2, 2);
  decoding.instr.dst = decoding.destination(0, Type::kPred);
  decoding.instr.a = decoding.source(1, Type::kU64);
  decoding.instr.run = isspacep;
}

constexpr OpcodeRow kRows[] = {{"mov", decode_mov}, {"cvta", decode_cvta}, {"isspacep", decode_isspacep}};

}  // namespace

std::span<const OpcodeRow> move_opcodes() { return kRows; }

}  // namespace cuda_double
