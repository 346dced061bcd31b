// SPDX-License-Identifier: Apache-2.0
// cvt. Integers saturate where they come from floating point, NaN gives 0; between integers they are cut or
// extended, and clamped with .sat. A register may be wider than the type that an instruction reads or writes.
#include <algorithm>
#include <cstring>
#include <limits>

#include "ops/float_ops.h"
#include "ops/lanes.h"

namespace cuda_double {
namespace {

// A lane of a register of `size` bytes, read as `type`: its low bits, extended.
int64_t read_integer(const uint8_t* slot, int lane, uint8_t size, Type type) {
  uint64_t bits = 0;
  std::memcpy(&bits, slot + lane * size, size);
  switch (type) {
    case Type::kU8:
    case Type::kB8:
      return static_cast<uint8_t>(bits);
    case Type::kU16:
    case Type::kB16:
      return static_cast<uint16_t>(bits);
    case Type::kU32:
    case Type::kB32:
      return static_cast<uint32_t>(bits);
    case Type::kS8:
      return static_cast<int8_t>(bits);
    case Type::kS16:
      return static_cast<int16_t>(bits);
    case Type::kS32:
      return static_cast<int32_t>(bits);
    default:
      return static_cast<int64_t>(bits);
  }
}

struct Range {
  int64_t low;
  uint64_t high;
};
Range range_of(Type type) {
  switch (type) {
    case Type::kU8:
      return {0, UINT8_MAX};
    case Type::kU16:
      return {0, UINT16_MAX};
    case Type::kU32:
      return {0, UINT32_MAX};
    case Type::kU64:
      return {0, UINT64_MAX};
    case Type::kS8:
      return {INT8_MIN, INT8_MAX};
    case Type::kS16:
      return {INT16_MIN, INT16_MAX};
    case Type::kS32:
      return {INT32_MIN, INT32_MAX};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

void write(uint8_t* slot, int lane, uint8_t size, uint64_t bits) {
  std::memcpy(slot + lane * size, &bits, size);
}

// The value cut to `type` and extended to 64 bits, as the destination register holds it.
uint64_t extend(uint64_t bits, Type type) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(&bits);
  return static_cast<uint64_t>(read_integer(bytes, 0, 8, type));
}

struct Conversion {  // Instr fields of a cvt
  Type to, from;
  uint8_t to_size, from_size;  // of the registers
  Rounding rounding;
  bool to_integer_rounding, ftz, sat, relu;
};

uint64_t clamp_integer(int64_t value, bool from_u64, Type to) {
  const Range range = range_of(to);
  if (from_u64 || value >= 0) return std::min(static_cast<uint64_t>(value), range.high);
  return static_cast<uint64_t>(std::max(value, range.low));
}

uint64_t float_to_integer(double value, Type to, Rounding rounding) {
  if (std::isnan(value)) return 0;
  switch (rounding) {
    case Rounding::kZero:
      value = std::trunc(value);
      break;
    case Rounding::kDown:
      value = std::floor(value);
      break;
    case Rounding::kUp:
      value = std::ceil(value);
      break;
    default:
      value = std::nearbyint(value);
      break;
  }
  const Range range = range_of(to);
  if (value <= static_cast<double>(range.low)) return static_cast<uint64_t>(range.low);
  if (value >= static_cast<double>(range.high)) return range.high;
  return value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value)) : static_cast<uint64_t>(value);
}

template <class F>
F round_to_integral(F value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kZero:
      return std::trunc(value);
    case Rounding::kDown:
      return std::floor(value);
    case Rounding::kUp:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}

double read_float(const uint8_t* slot, int lane, uint8_t size, Type type) {
  switch (type) {
    case Type::kF64:
      return reinterpret_cast<const double*>(slot)[lane];
    case Type::kF32:
      return reinterpret_cast<const float*>(slot)[lane];
    default:
      break;
  }
  uint16_t bits = 0;
  std::memcpy(&bits, slot + lane * size, 2);
  return type == Type::kF16 ? to_float(Half{bits}) : to_float(Bfloat{bits});
}

const FloatFormat& format_of(Type type) {
  switch (type) {
    case Type::kF16:
      return kHalfFormat;
    case Type::kBF16:
      return kBfloatFormat;
    case Type::kF32:
      return kFloatFormat;
    default:
      return kDoubleFormat;
  }
}

bool is_float(Type type) { return info(type).kind == TypeKind::kFloat; }

uint64_t to_format(double value, const Conversion& conversion) {
  if (conversion.sat) value = saturate(value);
  if (conversion.relu && value < 0) value = 0;
  if (conversion.to == Type::kF64) return std::bit_cast<uint64_t>(value);
  const uint64_t bits = round_double(value, format_of(conversion.to), conversion.rounding);
  if (!conversion.ftz || conversion.to != Type::kF32) return bits;
  return std::bit_cast<uint32_t>(flush(std::bit_cast<float>(static_cast<uint32_t>(bits))));
}

uint64_t convert_one(const uint8_t* source, int lane, const Conversion& c) {
  if (is_float(c.from)) {
    double value = read_float(source, lane, c.from_size, c.from);
    if (c.ftz && c.from == Type::kF32) value = flush(static_cast<float>(value));
    if (!is_float(c.to)) return extend(float_to_integer(value, c.to, c.rounding), c.to);
    if (c.to_integer_rounding) value = round_to_integral(value, c.rounding);
    return to_format(value, c);
  }
  const int64_t value = read_integer(source, lane, c.from_size, c.from);
  if (!is_float(c.to))
    return extend(c.sat ? clamp_integer(value, c.from == Type::kU64, c.to) : static_cast<uint64_t>(value),
                  c.to);
  const bool negative = value < 0 && c.from != Type::kU64;
  const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const uint64_t bits = round_to_format(negative, magnitude, 0, false, format_of(c.to), c.rounding);
  return magnitude == 0 ? 0 : bits;
}

Conversion unpack(const Instr& instr) {
  Conversion c;
  c.to = static_cast<Type>(instr.imm & 0xff);
  c.from = static_cast<Type>(instr.imm >> 8 & 0xff);
  c.to_size = static_cast<uint8_t>(instr.imm >> 16 & 0xff);
  c.from_size = static_cast<uint8_t>(instr.imm >> 24 & 0xff);
  c.rounding = static_cast<Rounding>(instr.imm >> 32 & 7);
  c.to_integer_rounding = (instr.imm >> 35 & 1) != 0;
  c.ftz = (instr.imm >> 36 & 1) != 0;
  c.sat = (instr.imm >> 37 & 1) != 0;
  c.relu = (instr.imm >> 38 & 1) != 0;
  return c;
}

void pack(Instr& instr, const Conversion& c) {
  const auto bit = [](bool value, int at) { return static_cast<int64_t>(value) << at; };
  instr.imm = static_cast<int64_t>(c.to) | static_cast<int64_t>(c.from) << 8 |
              static_cast<int64_t>(c.to_size) << 16 | static_cast<int64_t>(c.from_size) << 24 |
              static_cast<int64_t>(c.rounding) << 32 | bit(c.to_integer_rounding, 35) | bit(c.ftz, 36) |
              bit(c.sat, 37) | bit(c.relu, 38);
}

void convert(Warp& warp, const Instr& instr) {
  const Conversion c = unpack(instr);
  uint8_t* dst = warp.at<uint8_t>(instr.dst);
  const uint8_t* src = warp.at<uint8_t>(instr.a);
  for_lanes(warp.mask, [&](int lane) { write(dst, lane, c.to_size, convert_one(src, lane, c)); });
}

void convert_pair(Warp& warp, const Instr& instr) {  // cvt.rn.f16x2.f32 d, a, b: a goes to the upper half
  Conversion c = unpack(instr);
  uint32_t* dst = warp.at<uint32_t>(instr.dst);
  const uint8_t *a = warp.at<uint8_t>(instr.a), *b = warp.at<uint8_t>(instr.b);
  for_lanes(warp.mask, [&](int lane) {
    dst[lane] = static_cast<uint32_t>(convert_one(a, lane, c) << 16 | convert_one(b, lane, c));
  });
}

struct ToFloat {  // the common conversions, in loops of their own
  template <class T>
  static float apply(T value) {
    return static_cast<float>(value);
  }
  static float apply(Half value) { return canonical(to_float(value)); }
  static float apply(Bfloat value) { return canonical(to_float(value)); }
  static float apply(double value) { return canonical(static_cast<float>(value)); }
};
struct ToDouble {
  template <class T>
  static double apply(T value) {
    return static_cast<double>(value);
  }
};
struct Same {
  template <class T>
  static T apply(T value) {
    return value;
  }
};
template <class T>
struct To {
  template <class S>
  static T apply(S value) {
    return static_cast<T>(value);
  }
};

struct RoundHalf {
  static Half apply(float value) { return to_half(value); }
};
struct RoundBfloat {
  static Bfloat apply(float value) { return to_bfloat(value); }
};

// To an integer, saturated; NaN gives 0.
template <class I, Rounding kRounding>
struct ToInteger {
  template <class F>
  static I apply(F value) {
    if (std::isnan(value)) return 0;
    const F whole = static_cast<F>(round_to_integral(value, kRounding));
    // 2^(bits) or 2^(bits - 1), exact in F; the greatest integer itself may not be.
    constexpr F kEnd = static_cast<F>(std::numeric_limits<I>::max() / 2 + 1) * 2;
    if (whole >= kEnd) return std::numeric_limits<I>::max();
    if (whole <= static_cast<F>(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
    return static_cast<I>(whole);
  }
};
template <Rounding kRounding>
struct ToWhole {
  static float apply(float value) {
    return canonical(static_cast<float>(round_to_integral(value, kRounding)));
  }
  static double apply(double value) { return round_to_integral(value, kRounding); }
};

struct FastRow {
  Type to, from;
  uint8_t to_size, from_size;
  Rounding rounding;
  Handler run;
  bool whole = false;  // .rni and its like
};

template <Type kTo, class T, Type kFrom, class F, Rounding kRounding>
constexpr FastRow to_integer() {
  return {kTo, kFrom, sizeof(T), sizeof(F), kRounding, map1<ToInteger<T, kRounding>, T, F>, true};
}
template <Type kType, class F, Rounding kRounding>
constexpr FastRow to_whole() {
  return {kType, kType, sizeof(F), sizeof(F), kRounding, map1<ToWhole<kRounding>, F, F>, true};
}
constexpr FastRow kFast[] = {
    {Type::kF32, Type::kF16, 4, 2, Rounding::kNone, map1<ToFloat, float, Half>},
    {Type::kF32, Type::kBF16, 4, 2, Rounding::kNone, map1<ToFloat, float, Bfloat>},
    {Type::kF64, Type::kF32, 8, 4, Rounding::kNone, map1<ToDouble, double, float>},
    {Type::kF32, Type::kF64, 4, 8, Rounding::kNearest, map1<ToFloat, float, double>},
    {Type::kF16, Type::kF32, 2, 4, Rounding::kNearest, map1<RoundHalf, Half, float>},
    {Type::kBF16, Type::kF32, 2, 4, Rounding::kNearest, map1<RoundBfloat, Bfloat, float>},
    {Type::kF32, Type::kS32, 4, 4, Rounding::kNearest, map1<ToFloat, float, int32_t>},
    {Type::kF32, Type::kU32, 4, 4, Rounding::kNearest, map1<ToFloat, float, uint32_t>},
    {Type::kF64, Type::kS32, 8, 4, Rounding::kNearest, map1<ToDouble, double, int32_t>},
    {Type::kF64, Type::kS64, 8, 8, Rounding::kNearest, map1<ToDouble, double, int64_t>},
    {Type::kS64, Type::kS32, 8, 4, Rounding::kNone, map1<To<int64_t>, int64_t, int32_t>},
    {Type::kU64, Type::kU32, 8, 4, Rounding::kNone, map1<To<uint64_t>, uint64_t, uint32_t>},
    {Type::kU32, Type::kU64, 4, 8, Rounding::kNone, map1<To<uint32_t>, uint32_t, uint64_t>},
    {Type::kS32, Type::kS64, 4, 8, Rounding::kNone, map1<To<int32_t>, int32_t, int64_t>},
    {Type::kU32, Type::kU16, 4, 2, Rounding::kNone, map1<To<uint32_t>, uint32_t, uint16_t>},
    {Type::kS32, Type::kS16, 4, 2, Rounding::kNone, map1<To<int32_t>, int32_t, int16_t>},
    {Type::kU16, Type::kU32, 2, 4, Rounding::kNone, map1<To<uint16_t>, uint16_t, uint32_t>},
    {Type::kS16, Type::kS8, 2, 2, Rounding::kNone, map1<To<int8_t>, int16_t, uint16_t>},
    {Type::kS32, Type::kS8, 4, 4, Rounding::kNone, map1<To<int8_t>, int32_t, uint32_t>},
    {Type::kS32, Type::kS8, 4, 2, Rounding::kNone, map1<To<int8_t>, int32_t, uint16_t>},
    {Type::kU32, Type::kU8, 4, 4, Rounding::kNone, map1<To<uint8_t>, uint32_t, uint32_t>},
    {Type::kS64, Type::kS16, 8, 2, Rounding::kNone, map1<To<int64_t>, int64_t, int16_t>},
    {Type::kU64, Type::kU16, 8, 2, Rounding::kNone, map1<To<uint64_t>, uint64_t, uint16_t>},
    {Type::kU16, Type::kU64, 2, 8, Rounding::kNone, map1<To<uint16_t>, uint16_t, uint64_t>},
    {Type::kF64, Type::kU32, 8, 4, Rounding::kNearest, map1<ToDouble, double, uint32_t>},
    {Type::kF64, Type::kU64, 8, 8, Rounding::kNearest, map1<ToDouble, double, uint64_t>},
    {Type::kF32, Type::kS16, 4, 2, Rounding::kNearest, map1<ToFloat, float, int16_t>},
    {Type::kF32, Type::kU16, 4, 2, Rounding::kNearest, map1<ToFloat, float, uint16_t>},
    {Type::kF32, Type::kS64, 4, 8, Rounding::kNearest, map1<ToFloat, float, int64_t>},
    {Type::kF32, Type::kU64, 4, 8, Rounding::kNearest, map1<ToFloat, float, uint64_t>},
    to_integer<Type::kS32, int32_t, Type::kF32, float, Rounding::kZero>(),
    to_integer<Type::kS32, int32_t, Type::kF32, float, Rounding::kNearest>(),
    to_integer<Type::kU32, uint32_t, Type::kF32, float, Rounding::kZero>(),
    to_integer<Type::kS64, int64_t, Type::kF32, float, Rounding::kZero>(),
    to_integer<Type::kS32, int32_t, Type::kF64, double, Rounding::kZero>(),
    to_integer<Type::kS32, int32_t, Type::kF64, double, Rounding::kNearest>(),
    to_integer<Type::kU32, uint32_t, Type::kF64, double, Rounding::kZero>(),
    to_integer<Type::kS64, int64_t, Type::kF64, double, Rounding::kZero>(),
    to_whole<Type::kF32, float, Rounding::kNearest>(),
    to_whole<Type::kF32, float, Rounding::kZero>(),
    to_whole<Type::kF32, float, Rounding::kDown>(),
    to_whole<Type::kF32, float, Rounding::kUp>(),
    to_whole<Type::kF64, double, Rounding::kNearest>(),
    to_whole<Type::kF64, double, Rounding::kZero>(),
    to_whole<Type::kF64, double, Rounding::kDown>(),
    to_whole<Type::kF64, double, Rounding::kUp>(),
};

// What the ISA demands of the rounding modifier.
void check_rounding(Decoding& decoding, const Conversion& c) {
  const bool exact = is_float(c.from) && is_float(c.to) &&
                     format_of(c.to).precision >= format_of(c.from).precision &&
                     format_of(c.to).max_exponent >= format_of(c.from).max_exponent;
  if (is_float(c.to) && !c.to_integer_rounding && !exact && c.rounding == Rounding::kNone) {
    decoding.fail("floating-point conversion needs an explicit rounding (.rn, .rz, .rm or .rp)");
  }
  if (is_float(c.from) && !is_float(c.to) && !c.to_integer_rounding) {
    decoding.fail("needs .rni, .rzi, .rmi or .rpi");
  }
}

uint8_t register_size(Decoding& decoding, size_t i, Type type) {
  const Operand& operand = decoding.operand(i);
  if (operand.kind != Operand::Kind::kRegister) return info(type).size;
  return info(decoding.builder.register_type(operand.reg)).size;
}

// The slot of an operand that may be wider than `type`.
uint32_t wide_slot(Decoding& decoding, size_t i, Type type, bool is_destination) {
  const Operand& operand = decoding.operand(i);
  if (operand.kind != Operand::Kind::kRegister)
    return is_destination ? decoding.destination(i, type) : decoding.source(i, type);
  const Type have = decoding.builder.register_type(operand.reg);
  if (have == Type::kPred || info(have).size < info(type).size)
    decoding.fail("a register that is too narrow");
  if (is_float(type) && info(type).size > 2 && info(have).size != info(type).size)
    decoding.fail("a register of the wrong width");
  return decoding.builder.register_slot(operand.reg);
}

void decode_pair(Decoding& decoding, Conversion c, Type pair) {
  c.to = pair == Type::kF16x2 ? Type::kF16 : Type::kBF16;
  c.from = decoding.type();
  if (c.from != Type::kF32) decoding.fail("needs .f32");
  c.from_size = 4;
  check_rounding(decoding, c);
  decoding.expect_operands(3, 3);
  decoding.instr.dst = decoding.destination(0, Type::kB32);
  decoding.instr.a = decoding.source(1, Type::kF32);
  decoding.instr.b = decoding.source(2, Type::kF32);
  pack(decoding.instr, c);
  decoding.instr.run = convert_pair;
}

void decode_cvt(Decoding& decoding) {
  Conversion c{};
  c.rounding = decoding.integer_rounding();
  c.to_integer_rounding = c.rounding != Rounding::kNone;
  if (!c.to_integer_rounding) c.rounding = decoding.rounding();
  c.ftz = decoding.accept("ftz");
  c.sat = decoding.accept("sat");
  c.relu = decoding.accept("relu");
  c.to = decoding.type();
  if (c.to == Type::kF16x2 || c.to == Type::kBF16x2) return decode_pair(decoding, c, c.to);
  c.from = decoding.type();
  check_rounding(decoding, c);
  decoding.expect_operands(2, 2);
  c.to_size = register_size(decoding, 0, c.to);
  c.from_size = register_size(decoding, 1, c.from);
  decoding.instr.dst = wide_slot(decoding, 0, c.to, true);
  decoding.instr.a = wide_slot(decoding, 1, c.from, false);
  pack(decoding.instr, c);
  decoding.instr.run = convert;
  if (c.ftz || c.sat || c.relu) return;
  for (const FastRow& row : kFast) {
    const bool same =
        row.to == c.to && row.from == c.from && row.to_size == c.to_size && row.from_size == c.from_size;
    if (same && row.rounding == c.rounding && row.whole == c.to_integer_rounding)
      decoding.instr.run = row.run;
  }
}

constexpr OpcodeRow kRows[] = {{"cvt", decode_cvt}};

}  // namespace

std::span<const OpcodeRow> convert_opcodes() { return kRows; }

}  // namespace cuda_double
