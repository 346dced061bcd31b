// SPDX-License-Identifier: Apache-2.0
// Integer, bit and comparison instructions, against what the PTX ISA document says of each.
#include "tests/instruction_table.h"

namespace cuda_double_test {
namespace {

using Integers = InstructionTest;

const std::vector<std::string> k32x1{"b32"}, k32x2{"b32", "b32"}, k32x3{"b32", "b32", "b32"}, k64x1{"b64"},
    k64x2{"b64", "b64"}, k64x3{"b64", "b64", "b64"}, k16x2{"b16", "b16"};

TEST_F(Integers, AddAndSubtractWrapAndSaturateOnRequest) {
  check({
      {"add.s32", "b32", k32x2, {0x7fffffff, 1}, 0x80000000},
      {"add.sat.s32", "b32", k32x2, {0x7fffffff, 1}, 0x7fffffff},
      {"sub.sat.s32", "b32", k32x2, {0x80000000, 1}, 0x80000000},
      {"sub.u32", "b32", k32x2, {0, 1}, 0xffffffff},
      {"add.u16", "b16", k16x2, {0xffff, 2}, 1},
      {"sub.s16", "b16", k16x2, {0x8000, 1}, 0x7fff},
      {"add.u64", "b64", k64x2, {~0ull, 1}, 0},
      {"sub.s64", "b64", k64x2, {1ull << 63, 1}, 0x7fffffffffffffff},
      {"neg.s32", "b32", k32x1, {0x80000000}, 0x80000000},
      {"abs.s32", "b32", k32x1, {0xfffffffb}, 5},
      {"abs.s64", "b64", k64x1, {1ull << 63}, 1ull << 63},
      {"min.s32", "b32", k32x2, {0xffffffff, 1}, 0xffffffff},
      {"min.u32", "b32", k32x2, {0xffffffff, 1}, 1},
      {"max.s64", "b64", k64x2, {~0ull, 0}, 0},
      {"max.u16", "b16", k16x2, {0xffff, 3}, 0xffff},
      {"sad.s32", "b32", k32x3, {0xfffffffe, 3, 10}, 15},
      {"sad.u32", "b32", k32x3, {3, 5, 10}, 12},
  });
}

TEST_F(Integers, ProductsGiveLowHighOrWholeResult) {
  check({
      {"mul.lo.s32", "b32", k32x2, {0x10000, 0x10000}, 0},
      {"mul.hi.s32", "b32", k32x2, {0xffffffff, 2}, 0xffffffff},
      {"mul.hi.u32", "b32", k32x2, {0xffffffff, 2}, 1},
      {"mul.hi.u16", "b16", k16x2, {0xffff, 0xffff}, 0xfffe},
      {"mul.hi.s64", "b64", k64x2, {~0ull, 2}, ~0ull},
      {"mul.hi.u64", "b64", k64x2, {~0ull, ~0ull}, 0xfffffffffffffffe},
      {"mul.lo.s64", "b64", k64x2, {~0ull, 5}, ~0ull - 4},
      {"mul.wide.s32", "b64", k32x2, {0xffffffff, 7}, ~0ull - 6},
      {"mul.wide.u32", "b64", k32x2, {0xffffffff, 7}, 0x6fffffff9},
      {"mul.wide.s16", "b32", k16x2, {0xffff, 7}, 0xfffffff9},
      {"mul.wide.u16", "b32", k16x2, {0xffff, 0xffff}, 0xfffe0001},
      {"mad.lo.s32", "b32", k32x3, {3, 4, 5}, 17},
      {"mad.hi.u32", "b32", k32x3, {0x80000000, 6, 5}, 8},
      {"mad.hi.sat.s32", "b32", k32x3, {0x7fffffff, 0x7fffffff, 0x7fffffff}, 0x7fffffff},
      {"mad.wide.s32", "b64", {"b32", "b32", "b64"}, {0xffffffff, 7, 10}, 3},
      {"mul24.lo.u32", "b32", k32x2, {0xff000003, 5}, 15},
      {"mul24.hi.s32", "b32", k32x2, {0x00ffffff, 0x00800000}, 0x80},  // -1 × -2^23, bits 16 to 47
      {"dp4a.s32.s32", "b32", k32x3, {0xff020304, 0x01020304, 100}, 100 - 1 + 4 + 9 + 16},
      {"dp4a.u32.u32", "b32", k32x3, {0xff020304, 0x01020304, 100}, 100 + 255 + 4 + 9 + 16},
      {"dp2a.lo.s32.s32", "b32", k32x3, {0xffff0002, 0x00000305, 1}, 1 + 10 - 3},
  });
}

TEST_F(Integers, DivisionTruncatesAndNeverTraps) {
  check({
      {"div.s32", "b32", k32x2, {0xfffffff9, 2}, 0xfffffffd},
      {"rem.s32", "b32", k32x2, {0xfffffff9, 2}, 0xffffffff},
      {"div.u32", "b32", k32x2, {0xfffffff9, 2}, 0x7ffffffc},
      {"div.s32", "b32", k32x2, {0x80000000, 0xffffffff}, 0x80000000},
      {"rem.s32", "b32", k32x2, {0x80000000, 0xffffffff}, 0},
      {"div.s64", "b64", k64x2, {~0ull - 6, 3}, ~0ull - 1},
      {"rem.u64", "b64", k64x2, {100, 7}, 2},
      {"div.u16", "b16", k16x2, {1000, 7}, 142},
      {"rem.s16", "b16", k16x2, {0xfff9, 3}, 0xffff},
  });
}

TEST_F(Integers, ShiftCountsAboveTheWidthClamp) {
  check({
      {"shl.b32", "b32", k32x2, {1, 31}, 0x80000000},
      {"shl.b32", "b32", k32x2, {1, 32}, 0},
      {"shl.b64", "b64", {"b64", "b32"}, {1, 63}, 1ull << 63},
      {"shl.b64", "b64", {"b64", "b32"}, {1, 64}, 0},
      {"shl.b16", "b16", {"b16", "b32"}, {1, 16}, 0},
      {"shr.u32", "b32", k32x2, {0x80000000, 31}, 1},
      {"shr.u32", "b32", k32x2, {0x80000000, 77}, 0},
      {"shr.s32", "b32", k32x2, {0x80000000, 77}, 0xffffffff},
      {"shr.s64", "b64", {"b64", "b32"}, {1ull << 63, 4}, 0xf800000000000000},
      {"shr.b16", "b16", {"b16", "b32"}, {0x8000, 15}, 1},
      {"shf.l.wrap.b32", "b32", k32x3, {0x80000001, 0x12345678, 36}, 0x23456788},
      {"shf.l.clamp.b32", "b32", k32x3, {0x80000001, 0x12345678, 36}, 0x80000001},
      {"shf.r.wrap.b32", "b32", k32x3, {0x80000001, 0x12345678, 4}, 0x88000000},
      {"shf.r.clamp.b32", "b32", k32x3, {0x80000001, 0x12345678, 40}, 0x12345678},
  });
}

TEST_F(Integers, BitFieldInstructionsFollowTheirDefinitions) {
  check({
      {"popc.b32", "b32", k32x1, {0xf00f0001}, 9},
      {"popc.b64", "b32", k64x1, {~0ull}, 64},
      {"clz.b32", "b32", k32x1, {0}, 32},
      {"clz.b64", "b32", k64x1, {1}, 63},
      {"brev.b32", "b32", k32x1, {0x00000001}, 0x80000000},
      {"brev.b64", "b64", k64x1, {3}, 0xc000000000000000},
      {"bfind.u32", "b32", k32x1, {0}, 0xffffffff},
      {"bfind.u32", "b32", k32x1, {0x00010000}, 16},
      {"bfind.s32", "b32", k32x1, {0xffffffff}, 0xffffffff},
      {"bfind.s32", "b32", k32x1, {0xfffffffd}, 1},
      {"bfind.shiftamt.u32", "b32", k32x1, {0x00010000}, 15},
      {"bfe.u32", "b32", k32x3, {0xabcd1234, 8, 8}, 0x12},
      {"bfe.s32", "b32", k32x3, {0x0000f000, 12, 4}, 0xffffffff},
      {"bfe.s32", "b32", k32x3, {0x80000000, 28, 16}, 0xfffffff8},
      {"bfe.u64", "b64", {"b64", "b32", "b32"}, {0xabcd123400000000, 32, 16}, 0x1234},
      {"bfe.u32", "b32", k32x3, {0xabcd1234, 8, 0}, 0},
      {"bfi.b32", "b32", {"b32", "b32", "b32", "b32"}, {0xff, 0, 8, 4}, 0xf00},
      {"bfi.b64", "b64", {"b64", "b64", "b32", "b32"}, {0xabcd, 0x1111, 32, 32}, 0xabcd00001111},
      {"bmsk.clamp.b32", "b32", k32x2, {4, 8}, 0xff0},
      {"bmsk.clamp.b32", "b32", k32x2, {28, 40}, 0xf0000000},
      {"bmsk.wrap.b32", "b32", k32x2, {36, 33}, 0x10},
      {"fns.b32", "b32", k32x3, {0xaaaaaaaa, 3, 2}, 5},
      {"fns.b32", "b32", k32x3, {0xaaaaaaaa, 3, 0}, 3},
      {"fns.b32", "b32", k32x3, {0xaaaaaaaa, 3, 0xfffffffe}, 1},
      {"fns.b32", "b32", k32x3, {0xaaaaaaaa, 31, 2}, 0xffffffff},
      {"prmt.b32", "b32", k32x3, {0x33221100, 0x77665544, 0x0246}, 0x00224466},
      {"prmt.b32", "b32", k32x3, {0x33229100, 0x77665544, 0x9810}, 0xff009100},
      {"prmt.b32.f4e", "b32", k32x3, {0x33221100, 0x77665544, 1}, 0x44332211},
      {"prmt.b32.rc16", "b32", k32x3, {0x33221100, 0x77665544, 1}, 0x33223322},
  });
}

TEST_F(Integers, LogicWorksOnBitsAndPredicates) {
  check({
      {"and.b32", "b32", k32x2, {0xff00ff00, 0x0ff00ff0}, 0x0f000f00},
      {"or.b64", "b64", k64x2, {0xff, 0xff00}, 0xffff},
      {"xor.b16", "b16", k16x2, {0xffff, 0x00ff}, 0xff00},
      {"not.b32", "b32", k32x1, {0}, 0xffffffff},
      {"cnot.b32", "b32", k32x1, {0}, 1},
      {"cnot.b32", "b32", k32x1, {5}, 0},
      {"and.pred", "pred", {"pred", "pred"}, {1, 0}, 0},
      {"xor.pred", "pred", {"pred", "pred"}, {1, 0}, 1},
      {"not.pred", "pred", {"pred"}, {0}, 1},
      {"selp.b32", "b32", {"b32", "b32", "pred"}, {3, 4, 0}, 4},
      {"selp.f64", "f64", {"f64", "f64", "pred"}, {3, 4, 1}, 3},
      {"slct.b32.s32", "b32", k32x3, {3, 4, 0x80000000}, 4},
      {"slct.b32.s32", "b32", k32x3, {3, 4, 0}, 3},
  });
}

TEST_F(Integers, Lop3TakesItsTruthTable) {
  // The table of a & b | c is (0xf0 & 0xcc) | 0xaa = 0xea.
  const auto values = run32(
      "mov.u32 %r1, 0xff00ff00; mov.u32 %r2, 0xf0f0f0f0; mov.u32 %r3, 0x1; lop3.b32 %r0, %r1, %r2, %r3, "
      "0xea;\n",
      1);
  EXPECT_EQ(values[0], 0xf000f001u);
}

TEST_F(Integers, ComparisonsKnowSignAndOrder) {
  check({
      {"setp.lt.s32", "pred", k32x2, {0xffffffff, 0}, 1},
      {"setp.lt.u32", "pred", k32x2, {0xffffffff, 0}, 0},
      {"setp.hi.u32", "pred", k32x2, {0xffffffff, 0}, 1},
      {"setp.ls.u32", "pred", k32x2, {1, 1}, 1},
      {"setp.ge.s64", "pred", k64x2, {0, ~0ull}, 1},
      {"setp.ne.b16", "pred", k16x2, {1, 1}, 0},
      {"setp.eq.and.s32", "pred", {"b32", "b32", "pred"}, {1, 1, 0}, 0},
      {"setp.ne.or.s32", "pred", {"b32", "b32", "pred"}, {1, 1, 1}, 1},
      {"setp.eq.xor.s32", "pred", {"b32", "b32", "pred"}, {1, 1, 1}, 0},
      {"set.lt.u32.s32", "b32", k32x2, {0xffffffff, 0}, 0xffffffff},
      {"set.lt.f32.s32", "f32", k32x2, {0xffffffff, 0}, 0x3f800000},
  });
}

TEST_F(Integers, CarryChainsAddAndMultiply128Bits) {
  const auto values =
      run<uint64_t>(kernel("ld.global.v2.u64 {%a0, %a1}, [%in];\nld.global.v2.u64 {%a2, %a3}, [%in+16];\n"
                           "add.cc.u64 %a4, %a0, %a2;\naddc.u64 %a5, %a1, %a3;\nsub.cc.u64 %a6, %a2, "
                           "%a0;\nsubc.u64 %a7, %a3, %a1;\n"
                           "st.global.v2.u64 [%out], {%a4, %a5};\nst.global.v2.u64 [%out+16], {%a6, %a7};\n"
                           "mov.u32 %r1, 0xffffffff;\nmov.u32 %r2, 5;\nmad.lo.cc.u32 %r3, %r1, %r1, "
                           "%r1;\nmadc.hi.u32 %r4, %r1, %r1, %r2;\n"
                           "mov.b64 %a8, {%r3, %r4};\nst.global.u64 [%out+32], %a8;\n"),
                    std::vector<uint64_t>{~0ull, 1, 2, 5}, 1, 5);
  EXPECT_EQ(values[0], 1u);
  EXPECT_EQ(values[1], 7u);
  EXPECT_EQ(values[2], 3u);
  EXPECT_EQ(values[3], 3u);
  // (2^32-1)^2 = fffffffe00000001: the low word plus ffffffff is 0 and carries, the high word is fffffffe + 5
  // + 1.
  EXPECT_EQ(values[4], 4ull << 32);
}

}  // namespace
}  // namespace cuda_double_test
