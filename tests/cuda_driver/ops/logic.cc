// SPDX-License-Identifier: Apache-2.0
// and, or, xor, not, cnot and lop3, of bits and of predicates.
#include "ops/decode.h"
#include "ops/lanes.h"

namespace cuda_double {
namespace {

struct And {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <class T>
  static T apply(T a) {
    return a == 0 ? T{1} : T{0};
  }
};

template <class Op>
void predicates(Warp& warp, const Instr& instr) {
  uint32_t& dst = warp.predicate(instr.dst);
  dst = (dst & ~warp.mask) | (Op::apply(warp.predicate(instr.a), warp.predicate(instr.b)) & warp.mask);
}

void predicate_not(Warp& warp, const Instr& instr) {
  uint32_t& dst = warp.predicate(instr.dst);
  dst = (dst & ~warp.mask) | (~warp.predicate(instr.a) & warp.mask);
}

template <class Op>
void decode_binary(Decoding& decoding) {
  const Type type = decoding.type();
  decoding.expect_operands(3, 3);
  decoding.instr.dst = decoding.destination(0, type);
  if (type == Type::kPred) {
    decoding.instr.a = decoding.predicate(decoding.operand(1));
    decoding.instr.b = decoding.predicate(decoding.operand(2));
    if (decoding.operand(1).negated || decoding.operand(2).negated) decoding.fail("'!' is not allowed here");
    decoding.instr.run = predicates<Op>;
    return;
  }
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.b = decoding.source(2, type);
  decoding.instr.run = bits2<Op>(type);
}

void decode_not(Decoding& decoding) {
  const Type type = decoding.type();
  decoding.expect_operands(2, 2);
  decoding.instr.dst = decoding.destination(0, type);
  if (type == Type::kPred) {
    decoding.instr.a = decoding.predicate(decoding.operand(1));
    decoding.instr.run = predicate_not;
    return;
  }
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.run = bits1<Not>(type);
}

void decode_cnot(Decoding& decoding) {
  const Type type = decoding.type();
  decoding.expect_operands(2, 2);
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.run = bits1<Cnot>(type);
}

void lop3(Warp& warp, const Instr& instr) {
  uint32_t* dst = warp.at<uint32_t>(instr.dst);
  const auto *a = warp.at<uint32_t>(instr.a), *b = warp.at<uint32_t>(instr.b),
             *c = warp.at<uint32_t>(instr.c);
  const auto table = static_cast<uint32_t>(instr.imm);
  for_lanes(warp.mask, [&](int lane) {
    uint32_t result = 0;
    for (uint32_t row = 0; row < 8; ++row) {
      if ((table >> row & 1) == 0) continue;
      result |= ((row & 4) != 0 ? a[lane] : ~a[lane]) & ((row & 2) != 0 ? b[lane] : ~b[lane]) &
                ((row & 1) != 0 ? c[lane] : ~c[lane]);
    }
    dst[lane] = result;
  });
}

void decode_lop3(Decoding& decoding) {
  decoding.require("b32");
  decoding.expect_operands(5, 5);
  decoding.instr.dst = decoding.destination(0, Type::kB32);
  decoding.instr.a = decoding.source(1, Type::kB32);
  decoding.instr.b = decoding.source(2, Type::kB32);
  decoding.instr.c = decoding.source(3, Type::kB32);
  if (decoding.operand(4).kind != Operand::Kind::kInteger) decoding.fail("the table must be a constant");
  decoding.instr.imm = static_cast<int64_t>(decoding.operand(4).value);
  decoding.instr.run = lop3;
}

constexpr OpcodeRow kRows[] = {
    {"and", decode_binary<And>}, {"or", decode_binary<Or>}, {"xor", decode_binary<Xor>},
    {"not", decode_not},         {"cnot", decode_cnot},     {"lop3", decode_lop3},
};

}  // namespace

std::span<const OpcodeRow> logic_opcodes() { return kRows; }

}  // namespace cuda_double
