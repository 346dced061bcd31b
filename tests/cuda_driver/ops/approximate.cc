// SPDX-License-Identifier: Apache-2.0
// The approximate functions: computed in float64 and rounded, which is inside the error that the PTX ISA
// documents for each; and sqrt and rcp, which also exist correctly rounded.
#include "ops/float_ops.h"
#include "ops/lanes.h"

namespace cuda_double {
namespace {

struct Rcp {
  static double apply(double a) { return 1.0 / a; }
};
struct Sqrt {
  static double apply(double a) { return std::sqrt(a); }
};
struct Rsqrt {
  static double apply(double a) { return 1.0 / std::sqrt(a); }
};
struct Sin {
  static double apply(double a) { return std::sin(a); }
};
struct Cos {
  static double apply(double a) { return std::cos(a); }
};
struct Ex2 {
  static double apply(double a) { return std::exp2(a); }
};
struct Lg2 {
  static double apply(double a) { return std::log2(a); }
};
struct Tanh {
  static double apply(double a) { return std::tanh(a); }
};

template <class Op, bool kFtz>
struct Single {
  static float apply(float a) {
    const float result = canonical(static_cast<float>(Op::apply(kFtz ? flush(a) : a)));
    return kFtz ? flush(result) : result;
  }
};

template <class Op, class H, int kPer>
void halves(Warp& warp, const Instr& instr) {
  H* dst = warp.at<H>(instr.dst);
  const H* a = warp.at<H>(instr.a);
  for_lanes(warp.mask, [&](int lane) {
    for (int i = lane * kPer; i < (lane + 1) * kPer; ++i) {
      dst[i] =
          H{static_cast<uint16_t>(round_double(Op::apply(to_float(a[i])), kFormatOf<H>, Rounding::kNearest))};
    }
  });
}

struct Row {
  std::string_view name;
  Handler f32, f32_flush;
  Handler halves[4];  // f16, f16x2, bf16, bf16x2
};
template <class Op>
constexpr Row row(std::string_view name) {
  return {name,
          same1<Single<Op, false>, float>,
          same1<Single<Op, true>, float>,
          {nullptr, nullptr, nullptr, nullptr}};
}
template <class Op>
constexpr Row row_with_halves(std::string_view name) {
  return {name,
          same1<Single<Op, false>, float>,
          same1<Single<Op, true>, float>,
          {halves<Op, Half, 1>, halves<Op, Half, 2>, halves<Op, Bfloat, 1>, halves<Op, Bfloat, 2>}};
}
constexpr Row kApproximate[] = {
    row<Rcp>("rcp"), row<Sqrt>("sqrt"), row<Rsqrt>("rsqrt"),         row<Sin>("sin"),
    row<Cos>("cos"), row<Lg2>("lg2"),   row_with_halves<Ex2>("ex2"), row_with_halves<Tanh>("tanh"),
};

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 look at the upper 32 bits only and return zeros in the
// lower 32.
double upper(double value) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) & 0xffffffff00000000ull);
}
double flush_double(double value) {
  return std::fabs(value) < std::numeric_limits<double>::min() ? std::copysign(0.0, value) : value;
}
template <class Op>
struct Gross {
  static double apply(double a) {
    if (std::isnan(a)) return std::numeric_limits<double>::quiet_NaN();
    const double result = Op::apply(flush_double(upper(a)));
    return flush_double(upper(result));
  }
};

void decode_gross(Decoding& decoding, std::string_view name) {
  const bool ftz = decoding.accept("ftz");
  decoding.expect_operands(2, 2);
  decoding.instr.dst = decoding.destination(0, Type::kF64);
  decoding.instr.a = decoding.source(1, Type::kF64);
  if (name == "rcp" && ftz) decoding.instr.run = same1<Gross<Rcp>, double>;
  if (name == "rsqrt") decoding.instr.run = ftz ? same1<Gross<Rsqrt>, double> : same1<Rsqrt, double>;
}

int half_column(Type type) {
  switch (type) {
    case Type::kF16:
      return 0;
    case Type::kF16x2:
      return 1;
    case Type::kBF16:
      return 2;
    case Type::kBF16x2:
      return 3;
    default:
      return -1;
  }
}

void decode_approximate(Decoding& decoding, Type type) {
  const std::string_view name = decoding.statement.parts.front();
  if (type == Type::kF64) return decode_gross(decoding, name);
  const bool ftz = decoding.accept("ftz");
  decoding.expect_operands(2, 2);
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, info(type).size == 2 ? Type::kB16 : type);
  for (const Row& row : kApproximate) {
    if (row.name != name) continue;
    const int column = half_column(type);
    decoding.instr.run = column >= 0 ? row.halves[column] : ftz ? row.f32_flush : row.f32;
  }
}

void decode(Decoding& decoding) {
  const Type type = decoding.type();
  if (decoding.accept("approx")) return decode_approximate(decoding, type);
  const Rounding rounding = decoding.rounding();
  if (rounding == Rounding::kNone) decoding.fail("needs .approx or an explicit rounding");
  decoding.instr.mode = float_mode(rounding, decoding.accept("ftz"), false);
  decoding.expect_operands(2, 2);
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.instr.b = decoding.instr.c = decoding.source(1, type);
  if (type == Type::kF32 || type == Type::kF64) {
    decoding.instr.run = directed_handler(decoding.statement.parts.front(), type == Type::kF64);
  }
}

constexpr OpcodeRow kRows[] = {
    {"rcp", decode}, {"sqrt", decode}, {"rsqrt", decode}, {"sin", decode},
    {"cos", decode}, {"lg2", decode},  {"ex2", decode},   {"tanh", decode},
};

}  // namespace

std::span<const OpcodeRow> approximate_opcodes() { return kRows; }

}  // namespace cuda_double
