// SPDX-License-Identifier: Apache-2.0
// setp, set, selp, slct and testp.
#include <cstring>

#include "ops/lanes.h"
#include "ops/numeric.h"

namespace cuda_double {
namespace {

struct Eq {
  template <class T>
  static bool apply(T a, T b) {
    return a == b;
  }
};
struct Ne {
  template <class T>
  static bool apply(T a, T b) {
    return a < b || a > b;
  }
};
struct Lt {
  template <class T>
  static bool apply(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <class T>
  static bool apply(T a, T b) {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  static bool apply(T a, T b) {
    return a > b;
  }
};
struct Ge {
  template <class T>
  static bool apply(T a, T b) {
    return a >= b;
  }
};
struct Equ {
  template <class T>
  static bool apply(T a, T b) {
    return !(a < b || a > b);
  }
};
struct Neu {
  template <class T>
  static bool apply(T a, T b) {
    return a != b;
  }
};
struct Ltu {
  template <class T>
  static bool apply(T a, T b) {
    return !(a >= b);
  }
};
struct Leu {
  template <class T>
  static bool apply(T a, T b) {
    return !(a > b);
  }
};
struct Gtu {
  template <class T>
  static bool apply(T a, T b) {
    return !(a <= b);
  }
};
struct Geu {
  template <class T>
  static bool apply(T a, T b) {
    return !(a < b);
  }
};
struct Num {
  template <class T>
  static bool apply(T a, T b) {
    return !std::isnan(a) && !std::isnan(b);
  }
};
struct Nan {
  template <class T>
  static bool apply(T a, T b) {
    return std::isnan(a) || std::isnan(b);
  }
};

template <class T>
struct Stored {
  using Value = T;
};
template <>
struct Stored<Half> {
  using Value = float;
};
template <>
struct Stored<Bfloat> {
  using Value = float;
};

template <class T>
typename Stored<T>::Value load(T value, bool ftz) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>) {
    return to_float(value);
  } else if constexpr (std::is_same_v<T, float>) {
    return ftz ? flush(value) : value;
  } else {
    return value;
  }
}

// Eight bytes of 0 or 1 to eight bits.
uint32_t gather_bits(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, 8);
  return static_cast<uint32_t>((word * 0x0102040810204080ull) >> 56);
}

template <class Op, class T, int kPer>
uint32_t compare(const T* a, const T* b,
                 bool ftz) {  // kPer 2: both halves of a pair; use compare_half instead
  uint8_t bytes[kLanes];
#pragma GCC ivdep
  for (int lane = 0; lane < kLanes; ++lane)
    bytes[lane] = Op::apply(load(a[lane * kPer], ftz), load(b[lane * kPer], ftz));
  return gather_bits(bytes) | gather_bits(bytes + 8) << 8 | gather_bits(bytes + 16) << 16 |
         gather_bits(bytes + 24) << 24;
}

enum Mode : uint8_t { kAnd = 1, kOr = 2, kXor = 3, kCombine = 3, kFtz = 4, kNegated = 8, kSecond = 16 };

uint32_t combine(Warp& warp, const Instr& instr, uint32_t result) {
  if ((instr.mode & kCombine) == 0) return result;
  uint32_t with = warp.predicate(instr.c);
  if ((instr.mode & kNegated) != 0) with = ~with;
  switch (instr.mode & kCombine) {
    case kAnd:
      return result & with;
    case kOr:
      return result | with;
    default:
      return result ^ with;
  }
}

template <class Op, class T>
void setp(Warp& warp, const Instr& instr) {
  const uint32_t raw = compare<Op, T, 1>(warp.at<T>(instr.a), warp.at<T>(instr.b), (instr.mode & kFtz) != 0);
  const uint32_t first = combine(warp, instr, raw);
  const uint32_t second = (instr.mode & kSecond) != 0 ? combine(warp, instr, ~raw) : 0;
  uint32_t& dst = warp.predicate(instr.dst);
  dst = (dst & ~warp.mask) | (first & warp.mask);
  if ((instr.mode & kSecond) == 0) return;
  uint32_t& other = warp.predicate(instr.d);
  other = (other & ~warp.mask) | (second & warp.mask);
}

template <class Op, class T>
void setp_pair(Warp& warp, const Instr& instr) {  // p from the lower halves, q from the upper ones
  const T *a = warp.at<T>(instr.a), *b = warp.at<T>(instr.b);
  const uint32_t low = combine(warp, instr, compare<Op, T, 2>(a, b, false));
  const uint32_t high = combine(warp, instr, compare<Op, T, 2>(a + 1, b + 1, false));
  uint32_t& dst = warp.predicate(instr.dst);
  dst = (dst & ~warp.mask) | (low & warp.mask);
  if ((instr.mode & kSecond) == 0) return;
  uint32_t& other = warp.predicate(instr.d);
  other = (other & ~warp.mask) | (high & warp.mask);
}

// instr.imm: the bits that mean true; count: bytes of the destination.
void store_set(Warp& warp, const Instr& instr, uint32_t result) {
  if (instr.count == 2) {
    auto* dst = warp.at<uint16_t>(instr.dst);
    for_lanes(warp.mask, [&](int lane) {
      dst[lane] = (result >> lane & 1) != 0 ? static_cast<uint16_t>(instr.imm) : uint16_t{0};
    });
  } else {
    auto* dst = warp.at<uint32_t>(instr.dst);
    for_lanes(warp.mask, [&](int lane) {
      dst[lane] = (result >> lane & 1) != 0 ? static_cast<uint32_t>(instr.imm) : 0;
    });
  }
}

template <class Op, class T>
void set(Warp& warp, const Instr& instr) {
  const uint32_t raw = compare<Op, T, 1>(warp.at<T>(instr.a), warp.at<T>(instr.b), (instr.mode & kFtz) != 0);
  store_set(warp, instr, combine(warp, instr, raw));
}

template <class Op, class T>
void set_pair(Warp& warp, const Instr& instr) {
  const T *a = warp.at<T>(instr.a), *b = warp.at<T>(instr.b);
  const uint32_t low = combine(warp, instr, compare<Op, T, 2>(a, b, false));
  const uint32_t high = combine(warp, instr, compare<Op, T, 2>(a + 1, b + 1, false));
  auto* dst = warp.at<uint16_t>(instr.dst);
  for_lanes(warp.mask, [&](int lane) {
    dst[2 * lane] = (low >> lane & 1) != 0 ? static_cast<uint16_t>(instr.imm) : uint16_t{0};
    dst[2 * lane + 1] = (high >> lane & 1) != 0 ? static_cast<uint16_t>(instr.imm) : uint16_t{0};
  });
}

struct Handlers {
  Handler setp, set;
};
template <class Op, class T>
constexpr Handlers both() {
  return {setp<Op, T>, set<Op, T>};
}
template <class Op, class T>
constexpr Handlers pair() {
  return {setp_pair<Op, T>, set_pair<Op, T>};
}

template <class Op>
Handlers for_float(Type type) {
  switch (type) {
    case Type::kF32:
      return both<Op, float>();
    case Type::kF64:
      return both<Op, double>();
    case Type::kF16:
      return both<Op, Half>();
    case Type::kBF16:
      return both<Op, Bfloat>();
    case Type::kF16x2:
      return pair<Op, Half>();
    case Type::kBF16x2:
      return pair<Op, Bfloat>();
    default:
      return {nullptr, nullptr};
  }
}

template <class Op>
Handlers for_any(Type type) {
  switch (type) {
    case Type::kB16:
    case Type::kU16:
      return both<Op, uint16_t>();
    case Type::kB32:
    case Type::kU32:
      return both<Op, uint32_t>();
    case Type::kB64:
    case Type::kU64:
      return both<Op, uint64_t>();
    case Type::kS16:
      return both<Op, int16_t>();
    case Type::kS32:
      return both<Op, int32_t>();
    case Type::kS64:
      return both<Op, int64_t>();
    default:
      return for_float<Op>(type);
  }
}

struct CompareRow {
  std::string_view name;
  Handlers (*handlers)(Type);
};
constexpr CompareRow kComparisons[] = {
    {"eq", for_any<Eq>},     {"ne", for_any<Ne>},     {"lt", for_any<Lt>},     {"le", for_any<Le>},
    {"gt", for_any<Gt>},     {"ge", for_any<Ge>},     {"lo", for_any<Lt>},     {"ls", for_any<Le>},
    {"hi", for_any<Gt>},     {"hs", for_any<Ge>},     {"equ", for_float<Equ>}, {"neu", for_float<Neu>},
    {"ltu", for_float<Ltu>}, {"leu", for_float<Leu>}, {"gtu", for_float<Gtu>}, {"geu", for_float<Geu>},
    {"num", for_float<Num>}, {"nan", for_float<Nan>},
};

bool is_half(Type type) { return info(type).size == 2 && info(type).kind == TypeKind::kFloat; }
Type stored_type(Type type) { return is_half(type) ? Type::kB16 : type; }

Handlers decode_comparison(Decoding& decoding, Type source, size_t first_operand) {
  Handlers handlers{nullptr, nullptr};
  for (const CompareRow& row : kComparisons) {
    if (!decoding.accept(row.name)) continue;
    handlers = row.handlers(source);
    break;
  }
  if (handlers.setp == nullptr) decoding.fail("unknown comparison for this type");
  const int combination = decoding.choose({"and", "or", "xor"});
  decoding.instr.mode |= static_cast<uint8_t>(combination + 1);
  if (decoding.accept("ftz")) decoding.instr.mode |= kFtz;
  decoding.instr.a = decoding.source(first_operand, stored_type(source));
  decoding.instr.b = decoding.source(first_operand + 1, stored_type(source));
  const size_t expected = first_operand + 2 + (combination >= 0 ? 1 : 0);
  decoding.expect_operands(expected, expected);
  if (combination >= 0) {
    const Operand& with = decoding.operand(first_operand + 2);
    decoding.instr.c = decoding.predicate(with);
    if (with.negated) decoding.instr.mode |= kNegated;
  }
  return handlers;
}

void decode_setp(Decoding& decoding) {
  const Type type = decoding.type();
  const Operand& target = decoding.operand(0);
  decoding.instr.dst = decoding.destination(target, Type::kPred);
  if (target.second >= 0) {
    decoding.instr.mode |= kSecond;
    decoding.instr.d = decoding.builder.register_slot(target.second);
  }
  decoding.instr.run = decode_comparison(decoding, type, 1).setp;
}

int64_t true_bits(Type type) {
  switch (type) {
    case Type::kF32:
      return 0x3f800000;
    case Type::kF16:
    case Type::kF16x2:
      return 0x3c00;
    case Type::kBF16:
    case Type::kBF16x2:
      return 0x3f80;
    default:
      return -1;
  }
}

void decode_set(Decoding& decoding) {
  // The first type is the result's.
  const Type result = decoding.type();
  const Type source = decoding.type();
  decoding.instr.dst = decoding.destination(0, stored_type(result));
  decoding.instr.imm = true_bits(result);
  decoding.instr.count = info(result).size;
  decoding.instr.run = decode_comparison(decoding, source, 1).set;
}

template <class T>
void selp(Warp& warp, const Instr& instr) {
  T* dst = warp.at<T>(instr.dst);
  const T *a = warp.at<T>(instr.a), *b = warp.at<T>(instr.b);
  const uint32_t choice = warp.predicate(instr.c) ^ (instr.flag ? kFullMask : 0);
  for_lanes(warp.mask, [=](int lane) { dst[lane] = (choice >> lane & 1) != 0 ? a[lane] : b[lane]; });
}

Handler by_size(Type type, Handler two, Handler four, Handler eight) {
  switch (info(type).size) {
    case 2:
      return two;
    case 4:
      return four;
    case 8:
      return type == Type::kPred ? nullptr : eight;
    default:
      return nullptr;
  }
}

void decode_selp(Decoding& decoding) {
  const Type type = decoding.type();
  decoding.expect_operands(4, 4);
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.b = decoding.source(2, type);
  decoding.instr.c = decoding.predicate(decoding.operand(3));
  decoding.instr.flag = decoding.operand(3).negated;
  decoding.instr.run = by_size(type, selp<uint16_t>, selp<uint32_t>, selp<uint64_t>);
}

template <class T, class C>
void slct(Warp& warp, const Instr& instr) {  // c >= 0 ? a : b; a NaN selects b
  T* dst = warp.at<T>(instr.dst);
  const T *a = warp.at<T>(instr.a), *b = warp.at<T>(instr.b);
  const C* c = warp.at<C>(instr.c);
  for_lanes(warp.mask, [=](int lane) { dst[lane] = c[lane] >= 0 ? a[lane] : b[lane]; });
}

void decode_slct(Decoding& decoding) {
  decoding.accept("ftz");
  const Type type = decoding.type();
  const Type control = decoding.type();
  decoding.expect_operands(4, 4);
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.b = decoding.source(2, type);
  decoding.instr.c = decoding.source(3, control);
  if (control == Type::kS32)
    decoding.instr.run =
        by_size(type, slct<uint16_t, int32_t>, slct<uint32_t, int32_t>, slct<uint64_t, int32_t>);
  if (control == Type::kF32)
    decoding.instr.run = by_size(type, slct<uint16_t, float>, slct<uint32_t, float>, slct<uint64_t, float>);
}

template <class T>
void testp(Warp& warp, const Instr& instr) {
  const T* a = warp.at<T>(instr.a);
  uint32_t result = 0;
  for_lanes(warp.mask, [&](int lane) {
    const int kind = std::fpclassify(a[lane]);
    const bool tests[] = {kind != FP_NAN && kind != FP_INFINITE,
                          kind == FP_INFINITE,
                          kind != FP_NAN,
                          kind == FP_NAN,
                          kind == FP_NORMAL,
                          kind == FP_SUBNORMAL};
    result |= static_cast<uint32_t>(tests[instr.mode]) << lane;
  });
  uint32_t& dst = warp.predicate(instr.dst);
  dst = (dst & ~warp.mask) | result;
}

void decode_testp(Decoding& decoding) {
  const int test = decoding.choose({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (test < 0) decoding.fail("unknown test");
  const Type type = decoding.type();
  decoding.expect_operands(2, 2);
  decoding.instr.mode = static_cast<uint8_t>(test);
  decoding.instr.dst = decoding.destination(0, Type::kPred);
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.run = type == Type::kF32 ? testp<float> : type == Type::kF64 ? testp<double> : nullptr;
}

constexpr OpcodeRow kRows[] = {
    {"setp", decode_setp}, {"set", decode_set},     {"selp", decode_selp},
    {"slct", decode_slct}, {"testp", decode_testp},
};

}  // namespace

std::span<const OpcodeRow> compare_opcodes() { return kRows; }

}  // namespace cuda_double
