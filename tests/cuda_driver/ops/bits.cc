// SPDX-License-Identifier: Apache-2.0
// Shifts and the instructions that count, find, reverse, insert and extract bits.
#include <algorithm>
#include <bit>

#include "ops/decode.h"
#include "ops/lanes.h"

namespace cuda_double {
namespace {

// Shift counts above the width act as the width.
struct Shl {
  template <class T>
  static T apply(T a, uint32_t n) {
    return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << n);
  }
};
struct Shr {
  template <class T>
  static T apply(T a, uint32_t n) {
    return n >= 8 * sizeof(T) ? static_cast<T>(a < T{0} ? -1 : 0) : static_cast<T>(a >> n);
  }
};
template <class T>
Handler shift_left() {
  return map2<Shl, T, T, uint32_t>;
}

struct ShrUnsigned {
  template <class T>
  static T apply(T a, uint32_t n) {
    return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(a >> n);
  }
};

Handler shift_right(Type type) {
  switch (type) {
    case Type::kB16:
    case Type::kU16:
      return map2<ShrUnsigned, uint16_t, uint16_t, uint32_t>;
    case Type::kB32:
    case Type::kU32:
      return map2<ShrUnsigned, uint32_t, uint32_t, uint32_t>;
    case Type::kB64:
    case Type::kU64:
      return map2<ShrUnsigned, uint64_t, uint64_t, uint32_t>;
    case Type::kS16:
      return map2<Shr, int16_t, int16_t, uint32_t>;
    case Type::kS32:
      return map2<Shr, int32_t, int32_t, uint32_t>;
    case Type::kS64:
      return map2<Shr, int64_t, int64_t, uint32_t>;
    default:
      return nullptr;
  }
}

void decode_shift(Decoding& decoding) {
  const Type type = decoding.type();
  decoding.expect_operands(3, 3);
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.b = decoding.source(2, Type::kU32);
  if (decoding.statement.parts.front() == "shr") {
    decoding.instr.run = shift_right(type);
  } else {
    decoding.instr.run = type == Type::kB16   ? shift_left<uint16_t>()
                         : type == Type::kB32 ? shift_left<uint32_t>()
                         : type == Type::kB64 ? shift_left<uint64_t>()
                                              : nullptr;
  }
}

template <bool kLeft, bool kClamp>
struct Funnel {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t n = kClamp ? std::min(c, 32u) : c & 31u;
    const uint64_t both = uint64_t{b} << 32 | a;
    return kLeft ? static_cast<uint32_t>((both << n) >> 32) : static_cast<uint32_t>(both >> n);
  }
};

void decode_funnel(Decoding& decoding) {
  const bool left = decoding.choose({"l", "r"}) == 0;
  const bool clamp = decoding.choose({"wrap", "clamp"}) == 1;
  decoding.require("b32");
  decoding.expect_operands(4, 4);
  decoding.instr.dst = decoding.destination(0, Type::kB32);
  decoding.instr.a = decoding.source(1, Type::kB32);
  decoding.instr.b = decoding.source(2, Type::kB32);
  decoding.instr.c = decoding.source(3, Type::kU32);
  decoding.instr.run =
      left ? (clamp ? same3<Funnel<true, true>, uint32_t> : same3<Funnel<true, false>, uint32_t>)
           : (clamp ? same3<Funnel<false, true>, uint32_t> : same3<Funnel<false, false>, uint32_t>);
}

struct Popc {
  template <class T>
  static uint32_t apply(T a) {
    return static_cast<uint32_t>(std::popcount(a));
  }
};
struct Clz {
  template <class T>
  static uint32_t apply(T a) {
    return static_cast<uint32_t>(std::countl_zero(a));
  }
};
struct Brev {
  template <class T>
  static T apply(T a) {
    T result = 0;
    for (size_t i = 0; i < 8 * sizeof(T); ++i) result = static_cast<T>(result << 1 | (a >> i & 1));
    return result;
  }
};
template <bool kShift>
struct Bfind {  // -1 where there is none; for signed types the highest bit that differs from the sign
  template <class T>
  static uint32_t apply(T a) {
    using U = std::make_unsigned_t<T>;
    auto bits = static_cast<U>(a);
    if constexpr (std::is_signed_v<T>) bits = a < 0 ? static_cast<U>(~bits) : bits;
    if (bits == 0) return ~0u;
    const auto zeros = static_cast<uint32_t>(std::countl_zero(bits));
    return kShift ? zeros : static_cast<uint32_t>(8 * sizeof(T)) - 1 - zeros;
  }
};

template <class Op>
void count_to_u32(Decoding& decoding, Type type) {
  decoding.expect_operands(2, 2);
  decoding.instr.dst = decoding.destination(0, Type::kU32);
  decoding.instr.a = decoding.source(1, type);
  switch (type) {
    case Type::kB32:
    case Type::kU32:
      decoding.instr.run = map1<Op, uint32_t, uint32_t>;
      return;
    case Type::kB64:
    case Type::kU64:
      decoding.instr.run = map1<Op, uint32_t, uint64_t>;
      return;
    default:
      return;
  }
}

void decode_popc(Decoding& decoding) { count_to_u32<Popc>(decoding, decoding.type()); }
void decode_clz(Decoding& decoding) { count_to_u32<Clz>(decoding, decoding.type()); }

void decode_bfind(Decoding& decoding) {
  const bool shift = decoding.accept("shiftamt");
  const Type type = decoding.type();
  if (shift)
    count_to_u32<Bfind<true>>(decoding, type);
  else
    count_to_u32<Bfind<false>>(decoding, type);
  if (type == Type::kS32)
    decoding.instr.run = shift ? map1<Bfind<true>, uint32_t, int32_t> : map1<Bfind<false>, uint32_t, int32_t>;
  if (type == Type::kS64)
    decoding.instr.run = shift ? map1<Bfind<true>, uint32_t, int64_t> : map1<Bfind<false>, uint32_t, int64_t>;
}

void decode_brev(Decoding& decoding) {
  const Type type = decoding.type();
  decoding.expect_operands(2, 2);
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  if (type != Type::kB16) decoding.instr.run = bits1<Brev>(type);
}

template <class T>
struct Bfi {
  static T apply(T a, T b, uint32_t c, uint32_t d) {
    const uint32_t width = 8 * sizeof(T), position = c & 0xff, length = d & 0xff;
    if (position >= width || length == 0) return b;
    const T field = length >= width ? ~T{0} : (T{1} << length) - 1;
    return (b & ~(field << position)) | ((a & field) << position);
  }
};

template <class T>
void bfi(Warp& warp, const Instr& instr) {
  T* dst = warp.at<T>(instr.dst);
  const T *a = warp.at<T>(instr.a), *b = warp.at<T>(instr.b);
  const auto *c = warp.at<uint32_t>(instr.c), *d = warp.at<uint32_t>(instr.d);
  for_lanes(warp.mask, [&](int lane) { dst[lane] = Bfi<T>::apply(a[lane], b[lane], c[lane], d[lane]); });
}

void decode_bfi(Decoding& decoding) {
  const Type type = decoding.type();
  decoding.expect_operands(5, 5);
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.b = decoding.source(2, type);
  decoding.instr.c = decoding.source(3, Type::kU32);
  decoding.instr.d = decoding.source(4, Type::kU32);
  if (type == Type::kB32) decoding.instr.run = bfi<uint32_t>;
  if (type == Type::kB64) decoding.instr.run = bfi<uint64_t>;
}

struct Bfe {  // the formula of the PTX ISA, section "bfe"
  template <class T>
  static T apply(T a, uint32_t b, uint32_t c) {
    const uint32_t msb = 8 * sizeof(T) - 1, position = b & 0xff, length = c & 0xff;
    const auto bit = [&](uint32_t i) {
      return static_cast<int>(static_cast<std::make_unsigned_t<T>>(a) >> i & 1);
    };
    const int sign = !std::is_signed_v<T> || length == 0 ? 0 : bit(std::min(position + length - 1, msb));
    std::make_unsigned_t<T> result = 0;
    for (uint32_t i = 0; i <= msb; ++i) {
      const int value = i < length && position + i <= msb ? bit(position + i) : sign;
      result |= static_cast<std::make_unsigned_t<T>>(value) << i;
    }
    return static_cast<T>(result);
  }
};

void decode_bfe(Decoding& decoding) {
  const Type type = decoding.type();
  decoding.expect_operands(4, 4);
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.b = decoding.source(2, Type::kU32);
  decoding.instr.c = decoding.source(3, Type::kU32);
  switch (type) {
    case Type::kU32:
      decoding.instr.run = map3<Bfe, uint32_t, uint32_t, uint32_t, uint32_t>;
      return;
    case Type::kS32:
      decoding.instr.run = map3<Bfe, int32_t, int32_t, uint32_t, uint32_t>;
      return;
    case Type::kU64:
      decoding.instr.run = map3<Bfe, uint64_t, uint64_t, uint32_t, uint32_t>;
      return;
    case Type::kS64:
      decoding.instr.run = map3<Bfe, int64_t, int64_t, uint32_t, uint32_t>;
      return;
    default:
      return;
  }
}

template <bool kClamp>
struct Bmsk {  // `length` ones from `position` upward
  static uint32_t apply(uint32_t position, uint32_t length) {
    if (kClamp)
      position = std::min(position, 32u), length = std::min(length, 32u);
    else
      position &= 31u, length &= 31u;
    return static_cast<uint32_t>(((1ull << length) - 1) << position);
  }
};

void decode_bmsk(Decoding& decoding) {
  const int mode = decoding.choose({"clamp", "wrap"});
  decoding.require("b32");
  if (mode < 0) decoding.fail("needs .clamp or .wrap");
  decoding.expect_operands(3, 3);
  decoding.instr.dst = decoding.destination(0, Type::kB32);
  decoding.instr.a = decoding.source(1, Type::kB32);
  decoding.instr.b = decoding.source(2, Type::kB32);
  decoding.instr.run = mode == 0 ? same2<Bmsk<true>, uint32_t> : same2<Bmsk<false>, uint32_t>;
}

struct Fns {  // the offset-th set bit at or above (offset > 0), or at or below (< 0), base; ~0 where there is
              // none
  static uint32_t apply(uint32_t mask, uint32_t base, int32_t offset) {
    if (offset == 0) return base < 32 && (mask >> base & 1) != 0 ? base : ~0u;
    const int step = offset > 0 ? 1 : -1;
    int64_t position = base;
    for (int remaining = offset > 0 ? offset : -offset; position >= 0 && position < 32; position += step) {
      if ((mask >> position & 1) != 0 && --remaining == 0) return static_cast<uint32_t>(position);
    }
    return ~0u;
  }
};

void decode_fns(Decoding& decoding) {
  decoding.require("b32");
  decoding.expect_operands(4, 4);
  decoding.instr.dst = decoding.destination(0, Type::kB32);
  decoding.instr.a = decoding.source(1, Type::kB32);
  decoding.instr.b = decoding.source(2, Type::kB32);
  decoding.instr.c = decoding.source(3, Type::kB32);
  decoding.instr.run = map3<Fns, uint32_t, uint32_t, uint32_t, int32_t>;
}

uint32_t permute_selector(uint32_t control,
                          int mode) {  // modes other than the general one, as selectors of it
  static constexpr uint32_t kTable[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543},  // f4e
      {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
      {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
      {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
      {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
      {0x1010, 0x3232, 0x1010, 0x3232},  // rc16
  };
  return kTable[mode][control & 3];
}

void prmt(Warp& warp, const Instr& instr) {
  uint32_t* dst = warp.at<uint32_t>(instr.dst);
  const auto *a = warp.at<uint32_t>(instr.a), *b = warp.at<uint32_t>(instr.b),
             *c = warp.at<uint32_t>(instr.c);
  for_lanes(warp.mask, [&](int lane) {
    const uint64_t bytes = uint64_t{b[lane]} << 32 | a[lane];
    const uint32_t selector = instr.mode == 0 ? c[lane] : permute_selector(c[lane], instr.mode - 1);
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
      const uint32_t nibble = selector >> (4 * i) & 0xf;
      uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (nibble & 7))) & 0xff;
      if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
      result |= byte << (8 * i);
    }
    dst[lane] = result;
  });
}

void decode_prmt(Decoding& decoding) {
  decoding.require("b32");
  decoding.instr.mode =
      static_cast<uint8_t>(decoding.choose({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) + 1);
  decoding.expect_operands(4, 4);
  decoding.instr.dst = decoding.destination(0, Type::kB32);
  decoding.instr.a = decoding.source(1, Type::kB32);
  decoding.instr.b = decoding.source(2, Type::kB32);
  decoding.instr.c = decoding.source(3, Type::kB32);
  decoding.instr.run = prmt;
}

constexpr OpcodeRow kRows[] = {
    {"shl", decode_shift}, {"shr", decode_shift},   {"shf", decode_funnel}, {"popc", decode_popc},
    {"clz", decode_clz},   {"bfind", decode_bfind}, {"brev", decode_brev},  {"bfi", decode_bfi},
    {"bfe", decode_bfe},   {"bmsk", decode_bmsk},   {"fns", decode_fns},    {"prmt", decode_prmt},
};

}  // namespace

std::span<const OpcodeRow> bit_opcodes() { return kRows; }

}  // namespace cuda_double
