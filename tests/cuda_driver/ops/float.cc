// SPDX-License-Identifier: Apache-2.0
// Floating-point arithmetic whose result the PTX ISA fixes. ptxas may fuse a multiplication and an addition
// that do not state their rounding; here such an instruction is an error.
#include "ops/float_ops.h"

#include "ops/lanes.h"

namespace cuda_double {
namespace {

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return canonical(a + b);
  }
};
struct Sub {
  template <class T>
  static T apply(T a, T b) {
    return canonical(a - b);
  }
};
struct Mul {
  template <class T>
  static T apply(T a, T b) {
    return canonical(a * b);
  }
};
struct Div {
  template <class T>
  static T apply(T a, T b) {
    return canonical(a / b);
  }
};
struct Fma {
  template <class T>
  static T apply(T a, T b, T c) {
    return canonical(std::fma(a, b, c));
  }
};
struct Neg {
  template <class T>
  static T apply(T a) {
    return -a;
  }
};
struct Abs {
  template <class T>
  static T apply(T a) {
    return std::fabs(a);
  }
};
struct Min {
  template <class T>
  static T apply(T a, T b) {
    return minimum(a, b, false);
  }
};
struct Max {
  template <class T>
  static T apply(T a, T b) {
    return maximum(a, b, false);
  }
};
struct MinNan {
  template <class T>
  static T apply(T a, T b) {
    return minimum(a, b, true);
  }
};
struct MaxNan {
  template <class T>
  static T apply(T a, T b) {
    return maximum(a, b, true);
  }
};
struct CopySign {
  template <class T>
  static T apply(T a, T b) {
    return std::copysign(b, a);
  }
};  // magnitude of b

struct FlushNeg {
  static float apply(float a) { return flush(-a); }
};
struct FlushAbs {
  static float apply(float a) { return flush(std::fabs(a)); }
};
template <class Op>
struct Flushing {
  static float apply(float a, float b) { return flush(Op::apply(flush(a), flush(b))); }
};

constexpr Handler kUnary[2][3] = {
    {same1<Neg, float>, same1<FlushNeg, float>, same1<Neg, double>},
    {same1<Abs, float>, same1<FlushAbs, float>, same1<Abs, double>},
};

struct BinaryRow {
  std::string_view name;
  Handler f32, f64;
};
constexpr BinaryRow kBinary[] = {
    {"add", same2<Add, float>, same2<Add, double>},
    {"sub", same2<Sub, float>, same2<Sub, double>},
    {"mul", same2<Mul, float>, same2<Mul, double>},
    {"div", same2<Div, float>, same2<Div, double>},
};

struct MinMaxRow {
  std::string_view name;
  bool nan;
  Handler f32, f32_flush, f64;
};
constexpr MinMaxRow kMinMax[] = {
    {"min", false, same2<Min, float>, same2<Flushing<Min>, float>, same2<Min, double>},
    {"max", false, same2<Max, float>, same2<Flushing<Max>, float>, same2<Max, double>},
    {"min", true, same2<MinNan, float>, same2<Flushing<MinNan>, float>, nullptr},
    {"max", true, same2<MaxNan, float>, same2<Flushing<MaxNan>, float>, nullptr},
};

void operands(Decoding& decoding, Type type, size_t sources) {
  decoding.expect_operands(sources + 1, sources + 1);
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  if (sources > 1) decoding.instr.b = decoding.source(2, type);
  if (sources > 2) decoding.instr.c = decoding.source(3, type);
}

void decode_unary(Decoding& decoding, Type type, int which) {
  const bool ftz = decoding.accept("ftz");
  operands(decoding, type, 1);
  decoding.instr.run = kUnary[which][type == Type::kF64 ? 2 : ftz ? 1 : 0];
}

void decode_min_max(Decoding& decoding, Type type) {
  const bool ftz = decoding.accept("ftz");
  const bool nan = decoding.accept("NaN");
  operands(decoding, type, 2);
  for (const MinMaxRow& row : kMinMax) {
    if (row.name != decoding.statement.parts.front() || row.nan != nan) continue;
    decoding.instr.run = type == Type::kF64 ? row.f64 : ftz ? row.f32_flush : row.f32;
  }
}

bool approximate_division(Decoding& decoding, Type type) {
  const int kind = decoding.choose({"approx", "full"});
  if (kind < 0) return false;
  if (type != Type::kF32) decoding.fail("needs .f32");
  const bool ftz = decoding.accept("ftz");
  operands(decoding, type, 2);
  decoding.instr.run = ftz ? same2<Flushing<Div>, float> : same2<Div, float>;
  return true;
}

void decode_rounded(Decoding& decoding, Type type) {
  std::string_view name = decoding.statement.parts.front();
  if (name == "div" && approximate_division(decoding, type)) return;
  const Rounding rounding = decoding.rounding();
  if (rounding == Rounding::kNone) {
    decoding.fail("floating-point arithmetic needs an explicit rounding (.rn, .rz, .rm or .rp)");
  }
  const bool ftz = decoding.accept("ftz"), sat = decoding.accept("sat");
  const bool fused = name == "fma" || name == "mad";
  operands(decoding, type, fused ? 3 : 2);
  const bool wide = type == Type::kF64;
  if (rounding == Rounding::kNearest && !ftz && !sat) {
    if (fused) decoding.instr.run = wide ? same3<Fma, double> : same3<Fma, float>;
    for (const BinaryRow& row : kBinary) {
      if (row.name == name) decoding.instr.run = wide ? row.f64 : row.f32;
    }
    return;
  }
  decoding.instr.mode = float_mode(rounding, ftz, sat);
  decoding.instr.run = directed_handler(fused ? "fma" : name, wide);
}

void decode_copysign(Decoding& decoding) {
  const Type type = decoding.type();
  operands(decoding, type, 2);
  decoding.instr.run = type == Type::kF32   ? same2<CopySign, float>
                       : type == Type::kF64 ? same2<CopySign, double>
                                            : nullptr;
}

// Instructions that integers and floating-point types share.
void decode_arithmetic(Decoding& decoding) {
  if (decoding.accept("cc")) return decode_carry_out(decoding);
  const Type type = decoding.type();
  const TypeKind kind = info(type).kind;
  if (kind == TypeKind::kFloat || kind == TypeKind::kPacked) return decode_float_arithmetic(decoding, type);
  decode_integer_arithmetic(decoding, type);
}

constexpr OpcodeRow kRows[] = {
    {"add", decode_arithmetic}, {"sub", decode_arithmetic},    {"mul", decode_arithmetic},
    {"mad", decode_arithmetic}, {"fma", decode_arithmetic},    {"div", decode_arithmetic},
    {"min", decode_arithmetic}, {"max", decode_arithmetic},    {"abs", decode_arithmetic},
    {"neg", decode_arithmetic}, {"copysign", decode_copysign},
};

}  // namespace

void decode_float_arithmetic(Decoding& decoding, Type type) {
  if (info(type).size == 2 || info(type).kind == TypeKind::kPacked)
    return decode_half_arithmetic(decoding, type);
  const std::string_view name = decoding.statement.parts.front();
  if (name == "neg") return decode_unary(decoding, type, 0);
  if (name == "abs") return decode_unary(decoding, type, 1);
  if (name == "min" || name == "max") return decode_min_max(decoding, type);
  decode_rounded(decoding, type);
}

std::span<const OpcodeRow> float_opcodes() { return kRows; }

}  // namespace cuda_double
