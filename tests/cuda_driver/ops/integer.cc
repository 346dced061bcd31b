// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic. Overflow wraps; division by zero gives all bits set, as current hardware does.
#include <algorithm>
#include <limits>

#include "ops/decode.h"
#include "ops/lanes.h"

namespace cuda_double {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

// The type in which wrapping arithmetic on T is defined: uint16_t would be promoted to int.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
constexpr Wide<T> wide(T value) {
  return static_cast<Wide<T>>(value);
}

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

template <class T>
using Product = std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, Int128, Uint128>,
                                   std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <class T>
T high(T a, T b) {
  return static_cast<T>((Product<T>{a} * Product<T>{b}) >> (8 * sizeof(T)));
}

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(wide(a) + wide(b));
  }
};
struct Sub {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(wide(a) - wide(b));
  }
};
struct MulLo {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(wide(a) * wide(b));
  }
};
struct MulHi {
  template <class T>
  static T apply(T a, T b) {
    return high(a, b);
  }
};
struct MadLo {
  template <class T>
  static T apply(T a, T b, T c) {
    return static_cast<T>(wide(a) * wide(b) + wide(c));
  }
};
struct MadHi {
  template <class T>
  static T apply(T a, T b, T c) {
    return static_cast<T>(wide(high(a, b)) + wide(c));
  }
};
struct Min {
  template <class T>
  static T apply(T a, T b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  static T apply(T a, T b) {
    return a > b ? a : b;
  }
};
struct Neg {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(0 - wide(a));
  }
};
struct Abs {
  template <class T>
  static T apply(T a) {
    if constexpr (std::is_signed_v<T>) return a < 0 ? static_cast<T>(0 - wide(a)) : a;
    return a;
  }
};
struct Sad {
  template <class T>
  static T apply(T a, T b, T c) {
    return static_cast<T>(wide(c) + (a < b ? wide(b) - wide(a) : wide(a) - wide(b)));
  }
};
struct Div {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~Wide<T>{0});
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return static_cast<T>(0 - wide(a));
    }
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};
struct AddSat {
  static int32_t apply(int32_t a, int32_t b) {
    return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} + b, INT32_MIN, INT32_MAX));
  }
};
struct SubSat {
  static int32_t apply(int32_t a, int32_t b) {
    return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} - b, INT32_MIN, INT32_MAX));
  }
};
struct MadHiSat {
  static int32_t apply(int32_t a, int32_t b, int32_t c) { return AddSat::apply(high(a, b), c); }
};

template <class Narrow>
struct Mul24 {
  static int64_t extend(Narrow a) {
    const auto low = static_cast<uint32_t>(a) & 0xffffffu;
    return std::is_signed_v<Narrow> && (low & 0x800000u) != 0 ? int64_t{low} - 0x1000000 : int64_t{low};
  }
};
template <class T>
struct Mul24Lo {
  static T apply(T a, T b) { return static_cast<T>(Mul24<T>::extend(a) * Mul24<T>::extend(b)); }
};
template <class T>
struct Mul24Hi {
  static T apply(T a, T b) { return static_cast<T>((Mul24<T>::extend(a) * Mul24<T>::extend(b)) >> 16); }
};
template <class T>
struct Mad24Lo {
  static T apply(T a, T b, T c) { return Add::apply(Mul24Lo<T>::apply(a, b), c); }
};
template <class T>
struct Mad24Hi {
  static T apply(T a, T b, T c) { return Add::apply(Mul24Hi<T>::apply(a, b), c); }
};

template <class W, class N>
struct MulWide {
  static W apply(N a, N b) {
    return static_cast<W>(static_cast<std::make_unsigned_t<W>>(W{a}) *
                          static_cast<std::make_unsigned_t<W>>(W{b}));
  }
};
template <>
struct MulWide<uint32_t, uint16_t> {
  static uint32_t apply(uint16_t a, uint16_t b) { return uint32_t{a} * b; }
};
template <class W, class N>
struct MadWide {
  static W apply(N a, N b, W c) {
    return static_cast<W>(static_cast<std::make_unsigned_t<W>>(MulWide<W, N>::apply(a, b)) +
                          static_cast<std::make_unsigned_t<W>>(c));
  }
};

struct WideRow {
  Type narrow, wide;
  Handler mul, mad;
};
template <class W, class N>
constexpr WideRow wide_row(Type narrow, Type wide) {
  return {narrow, wide, map2<MulWide<W, N>, W, N, N>, map3<MadWide<W, N>, W, N, N, W>};
}
constexpr WideRow kWide[] = {
    wide_row<uint32_t, uint16_t>(Type::kU16, Type::kU32),
    wide_row<int32_t, int16_t>(Type::kS16, Type::kS32),
    wide_row<uint64_t, uint32_t>(Type::kU32, Type::kU64),
    wide_row<int64_t, int32_t>(Type::kS32, Type::kS64),
};

void decode_wide(Decoding& decoding, Type type, bool add) {
  for (const WideRow& row : kWide) {
    if (row.narrow != type) continue;
    decoding.instr.dst = decoding.destination(0, row.wide);
    decoding.instr.a = decoding.source(1, type);
    decoding.instr.b = decoding.source(2, type);
    if (add) decoding.instr.c = decoding.source(3, row.wide);
    decoding.instr.run = add ? row.mad : row.mul;
  }
}

void operands2(Decoding& decoding, Type type) {
  decoding.expect_operands(3, 3);
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.b = decoding.source(2, type);
}

void operands3(Decoding& decoding, Type type) {
  decoding.expect_operands(4, 4);
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.b = decoding.source(2, type);
  decoding.instr.c = decoding.source(3, type);
}

void decode_mul24(Decoding& decoding) {
  const bool high = decoding.choose({"lo", "hi"}) == 1;
  const Type type = decoding.type();
  const bool add = decoding.statement.parts.front() == "mad24";
  if (type != Type::kU32 && type != Type::kS32) decoding.fail("needs .u32 or .s32");
  const bool is_signed = type == Type::kS32;
  if (add) {
    operands3(decoding, type);
    decoding.instr.run =
        is_signed ? (high ? same3<Mad24Hi<int32_t>, int32_t> : same3<Mad24Lo<int32_t>, int32_t>)
                  : (high ? same3<Mad24Hi<uint32_t>, uint32_t> : same3<Mad24Lo<uint32_t>, uint32_t>);
  } else {
    operands2(decoding, type);
    decoding.instr.run =
        is_signed ? (high ? same2<Mul24Hi<int32_t>, int32_t> : same2<Mul24Lo<int32_t>, int32_t>)
                  : (high ? same2<Mul24Hi<uint32_t>, uint32_t> : same2<Mul24Lo<uint32_t>, uint32_t>);
  }
}

void decode_rem(Decoding& decoding) {
  const Type type = decoding.type();
  operands2(decoding, type);
  decoding.instr.run = integer2<Rem>(type);
}

void decode_sad(Decoding& decoding) {
  const Type type = decoding.type();
  operands3(decoding, type);
  decoding.instr.run = integer3<Sad>(type);
}

void decode_mul(Decoding& decoding, Type type, bool add) {
  const int part = decoding.choose({"lo", "hi", "wide"});
  if (part < 0) decoding.fail("needs .lo, .hi or .wide");
  if (part == 2) return decode_wide(decoding, type, add);
  if (add && decoding.accept("sat")) {
    if (part != 1 || type != Type::kS32) decoding.fail(".sat needs .hi.s32");
    operands3(decoding, type);
    decoding.instr.run = same3<MadHiSat, int32_t>;
    return;
  }
  if (add) {
    operands3(decoding, type);
    decoding.instr.run = part == 0 ? integer3<MadLo>(type) : integer3<MadHi>(type);
  } else {
    operands2(decoding, type);
    decoding.instr.run = part == 0 ? integer2<MulLo>(type) : integer2<MulHi>(type);
  }
}

template <bool kSigned, int kParts>
void dot(Warp& warp, const Instr& instr) {  // dp4a, dp2a: mode bit 0: b is signed, bit 1: upper half of b
  uint32_t* dst = warp.at<uint32_t>(instr.dst);
  const auto *a = warp.at<uint32_t>(instr.a), *b = warp.at<uint32_t>(instr.b),
             *c = warp.at<uint32_t>(instr.c);
  const bool b_signed = (instr.mode & 1) != 0;
  for_lanes(warp.mask, [&](int lane) {
    uint32_t sum = c[lane];
    const uint32_t right = (instr.mode & 2) != 0 ? b[lane] >> 16 : b[lane];
    for (int i = 0; i < kParts; ++i) {
      const uint32_t left = a[lane] >> (i * 32 / kParts);
      const uint32_t x = kParts == 4
                             ? (kSigned ? static_cast<uint32_t>(static_cast<int8_t>(left)) : left & 0xffu)
                             : (kSigned ? static_cast<uint32_t>(static_cast<int16_t>(left)) : left & 0xffffu);
      const uint32_t byte = right >> (8 * i);
      sum += x * (b_signed ? static_cast<uint32_t>(static_cast<int8_t>(byte)) : byte & 0xffu);
    }
    dst[lane] = sum;
  });
}

void decode_dot(Decoding& decoding) {
  const bool four = decoding.statement.parts.front() == "dp4a";
  const int half = four ? 0 : decoding.choose({"lo", "hi"});
  const bool a_signed = decoding.type() == Type::kS32;
  const bool b_signed = decoding.type() == Type::kS32;
  operands3(decoding, Type::kB32);
  decoding.instr.mode = static_cast<uint8_t>((b_signed ? 1 : 0) | (half == 1 ? 2 : 0));
  decoding.instr.run =
      four ? (a_signed ? dot<true, 4> : dot<false, 4>) : (a_signed ? dot<true, 2> : dot<false, 2>);
}

constexpr OpcodeRow kRows[] = {
    {"rem", decode_rem},     {"sad", decode_sad},  {"mul24", decode_mul24},
    {"mad24", decode_mul24}, {"dp4a", decode_dot}, {"dp2a", decode_dot},
};

}  // namespace

void decode_integer_arithmetic(Decoding& decoding, Type type) {
  const std::string_view name = decoding.statement.parts.front();
  if (name == "mul") return decode_mul(decoding, type, false);
  if (name == "mad") return decode_mul(decoding, type, true);
  if ((name == "add" || name == "sub") && decoding.accept("sat")) {
    if (type != Type::kS32) decoding.fail(".sat needs .s32");
    operands2(decoding, type);
    decoding.instr.run = name == "add" ? same2<AddSat, int32_t> : same2<SubSat, int32_t>;
    return;
  }
  if (name == "neg" || name == "abs") {
    decoding.expect_operands(2, 2);
    decoding.instr.dst = decoding.destination(0, type);
    decoding.instr.a = decoding.source(1, type);
    decoding.instr.run = name == "neg" ? integer1<Neg>(type) : integer1<Abs>(type);
    return;
  }
  operands2(decoding, type);
  if (name == "add") decoding.instr.run = integer2<Add>(type);
  if (name == "sub") decoding.instr.run = integer2<Sub>(type);
  if (name == "div") decoding.instr.run = integer2<Div>(type);
  if (name == "min") decoding.instr.run = integer2<Min>(type);
  if (name == "max") decoding.instr.run = integer2<Max>(type);
}

std::span<const OpcodeRow> integer_opcodes() { return kRows; }

}  // namespace cuda_double
