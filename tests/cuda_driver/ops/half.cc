// SPDX-License-Identifier: Apache-2.0
// Arithmetic on f16, bf16, and pairs of them. Sums and products are computed exactly or rounded to odd in
// float64, and then rounded once.
#include "ops/float_ops.h"
#include "ops/lanes.h"

namespace cuda_double {
namespace {

enum Flags : uint8_t { kFtz = 1, kSat = 2, kRelu = 4, kNan = 8 };

template <class H>
float flush_half(float value) {
  const float least = static_cast<float>(std::ldexp(1.0, kFormatOf<H>.min_exponent));
  return std::fabs(value) < least ? std::copysign(0.0f, value) : value;
}

template <class H>
H finish(double value, uint8_t flags) {
  if ((flags & kSat) != 0) value = saturate(value);
  if ((flags & kRelu) != 0 && value < 0) value = 0.0;
  H result{static_cast<uint16_t>(round_double(value, kFormatOf<H>, Rounding::kNearest))};
  if ((flags & kFtz) != 0) result = from_float<H>(flush_half<H>(to_float(result)));
  return result;
}

template <class H>
double value_of(H h, uint8_t flags) {
  return (flags & kFtz) != 0 ? flush_half<H>(to_float(h)) : to_float(h);
}

struct Add {
  template <class H>
  static H apply(H a, H b, H, uint8_t f) {
    return finish<H>(fma_to_odd(value_of(a, f), 1.0, value_of(b, f)), f);
  }
};
struct Sub {
  template <class H>
  static H apply(H a, H b, H, uint8_t f) {
    return finish<H>(fma_to_odd(value_of(a, f), 1.0, -value_of(b, f)), f);
  }
};
struct Mul {
  template <class H>
  static H apply(H a, H b, H, uint8_t f) {
    return finish<H>(value_of(a, f) * value_of(b, f), f);
  }
};
struct Fma {
  template <class H>
  static H apply(H a, H b, H c, uint8_t f) {
    return finish<H>(fma_to_odd(value_of(a, f), value_of(b, f), value_of(c, f)), f);
  }
};
struct Neg {
  template <class H>
  static H apply(H a, H, H, uint8_t) {
    return {static_cast<uint16_t>(a.bits ^ 0x8000u)};
  }
};
struct Abs {
  template <class H>
  static H apply(H a, H, H, uint8_t) {
    return {static_cast<uint16_t>(a.bits & 0x7fffu)};
  }
};
struct Min {
  template <class H>
  static H apply(H a, H b, H, uint8_t f) {
    return from_float<H>(
        minimum(static_cast<float>(value_of(a, f)), static_cast<float>(value_of(b, f)), (f & kNan) != 0));
  }
};
struct Max {
  template <class H>
  static H apply(H a, H b, H, uint8_t f) {
    return from_float<H>(
        maximum(static_cast<float>(value_of(a, f)), static_cast<float>(value_of(b, f)), (f & kNan) != 0));
  }
};

// A pair is two lanes' worth of halves: one loop serves both.
template <class Op, class H, int kPer>
void run(Warp& warp, const Instr& instr) {
  H* dst = warp.at<H>(instr.dst);
  const H *a = warp.at<H>(instr.a), *b = warp.at<H>(instr.b), *c = warp.at<H>(instr.c);
  for_lanes(warp.mask, [&](int lane) {
    for (int i = lane * kPer; i < (lane + 1) * kPer; ++i) dst[i] = Op::apply(a[i], b[i], c[i], instr.mode);
  });
}

struct Row {
  std::string_view name;
  size_t sources;
  bool rounds;
  Handler handlers[4];  // f16, bf16, f16x2, bf16x2
};
template <class Op>
constexpr Row row(std::string_view name, size_t sources, bool rounds) {
  return {
      name, sources, rounds, {run<Op, Half, 1>, run<Op, Bfloat, 1>, run<Op, Half, 2>, run<Op, Bfloat, 2>}};
}
constexpr Row kRows[] = {
    row<Add>("add", 2, true),  row<Sub>("sub", 2, true),  row<Mul>("mul", 2, true),
    row<Fma>("fma", 3, true),  row<Neg>("neg", 1, false), row<Abs>("abs", 1, false),
    row<Min>("min", 2, false), row<Max>("max", 2, false),
};

int column(Type type) {
  switch (type) {
    case Type::kF16:
      return 0;
    case Type::kBF16:
      return 1;
    case Type::kF16x2:
      return 2;
    default:
      return 3;
  }
}

uint8_t flags(Decoding& decoding) {
  uint8_t result = 0;
  if (decoding.accept("ftz")) result |= kFtz;
  if (decoding.accept("sat")) result |= kSat;
  if (decoding.accept("relu")) result |= kRelu;
  if (decoding.accept("NaN")) result |= kNan;
  return result;
}

}  // namespace

void decode_half_arithmetic(Decoding& decoding, Type type) {
  for (const Row& row : kRows) {
    if (row.name != decoding.statement.parts.front()) continue;
    const Rounding rounding = decoding.rounding();
    if (row.rounds && rounding != Rounding::kNearest) {
      decoding.fail("floating-point arithmetic needs an explicit rounding (.rn)");
    }
    if (!row.rounds && rounding != Rounding::kNone) decoding.fail("takes no rounding");
    decoding.instr.mode = flags(decoding);
    decoding.expect_operands(row.sources + 1, row.sources + 1);
    decoding.instr.dst = decoding.destination(0, type);
    uint32_t* slots[] = {&decoding.instr.a, &decoding.instr.b, &decoding.instr.c};
    for (size_t i = 0; i < row.sources; ++i)
      *slots[i] = decoding.source(i + 1, info(type).size == 2 ? Type::kB16 : Type::kB32);
    decoding.instr.run = row.handlers[column(type)];
    return;
  }
  decoding.fail("not an instruction for half precision");
}

}  // namespace cuda_double
