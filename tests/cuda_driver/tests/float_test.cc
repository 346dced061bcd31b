// SPDX-License-Identifier: Apache-2.0
// Floating-point instructions. Expected bits follow from IEEE 754 by hand; where a function is only bounded,
// the bound is the one in the PTX ISA document and the reference is the C library in float64.
#include <bit>
#include <cmath>
#include <limits>

#include "tests/instruction_table.h"

namespace cuda_double_test {
namespace {

using Floats = InstructionTest;

uint64_t f(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t d(double value) { return std::bit_cast<uint64_t>(value); }
constexpr uint64_t kNan = 0x7fffffff, kInf = 0x7f800000, kMinusZero = 0x80000000, kLeast = 1;

const std::vector<std::string> kF1{"f32"}, kF2{"f32", "f32"}, kF3{"f32", "f32", "f32"}, kD1{"f64"},
    kD2{"f64", "f64"}, kD3{"f64", "f64", "f64"}, kH1{"b16"}, kH2{"b16", "b16"}, kH3{"b16", "b16", "b16"};

TEST_F(Floats, AdditionRoundsAsItSays) {
  const float tiny = 0x1p-30f;
  check({
      {"add.rn.f32", "f32", kF2, {f(1), f(tiny)}, f(1)},
      {"add.rz.f32", "f32", kF2, {f(1), f(-tiny)}, 0x3f7fffff},
      {"add.rp.f32", "f32", kF2, {f(1), f(tiny)}, 0x3f800001},
      {"add.rm.f32", "f32", kF2, {f(1), f(-tiny)}, 0x3f7fffff},
      {"add.rm.f32", "f32", kF2, {f(1), f(-1)}, kMinusZero},
      {"add.rn.f32", "f32", kF2, {f(1), f(-1)}, 0},
      {"add.rn.f32", "f32", kF2, {f(1), 0x33800000}, f(1)},              // 1 + 2^-24: tie, to even
      {"add.rn.f32", "f32", kF2, {0x3f800001, 0x33800000}, 0x3f800002},  // tie, to even, upwards
      {"sub.rn.f64", "f64", kD2, {d(1), d(0x1p-54)}, d(1)},
      {"sub.rz.f64", "f64", kD2, {d(1), d(0x1p-60)}, d(1) - 1},
      {"add.rn.f32", "f32", kF2, {kInf, 0xff800000}, kNan},
      {"add.rn.f32", "f32", kF2, {0xffc12345, f(1)}, kNan},
      {"add.rn.ftz.f32", "f32", kF2, {kLeast, kLeast}, 0},
      {"add.rn.f32", "f32", kF2, {kLeast, kLeast}, 2},
      {"add.rn.sat.f32", "f32", kF2, {f(1), f(1)}, f(1)},
      {"add.rn.sat.f32", "f32", kF2, {f(-1), f(-1)}, 0},
      {"add.rn.sat.f32", "f32", kF2, {kNan, f(-1)}, 0},
  });
}

TEST_F(Floats, MultiplicationDivisionAndRootsAreCorrectlyRounded) {
  check({
      {"mul.rn.f32", "f32", kF2, {0x3f800001, 0x3f800001}, 0x3f800002},
      {"mul.rp.f32", "f32", kF2, {0x3f800001, 0x3f800001}, 0x3f800003},
      {"mul.rn.f32", "f32", kF2, {0x00800000, f(0.5f)}, 0x00400000},  // a subnormal result
      {"mul.rn.ftz.f32", "f32", kF2, {0x00800000, f(0.5f)}, 0},
      {"mul.rn.f32", "f32", kF2, {f(3e38f), f(2)}, kInf},
      {"mul.rz.f32", "f32", kF2, {f(3e38f), f(2)}, 0x7f7fffff},
      {"mul.rn.f32", "f32", kF2, {kInf, 0}, kNan},
      {"div.rn.f32", "f32", kF2, {f(1), f(3)}, 0x3eaaaaab},
      {"div.rz.f32", "f32", kF2, {f(1), f(3)}, 0x3eaaaaaa},
      {"div.rn.f32", "f32", kF2, {f(1), 0}, kInf},
      {"div.rn.f32", "f32", kF2, {0, 0}, kNan},
      {"div.rn.f64", "f64", kD2, {d(1), d(3)}, 0x3fd5555555555555},
      {"div.rp.f64", "f64", kD2, {d(1), d(3)}, 0x3fd5555555555556},
      {"rcp.rn.f32", "f32", kF1, {f(3)}, 0x3eaaaaab},
      {"rcp.rm.f64", "f64", kD1, {d(3)}, 0x3fd5555555555555},
      {"sqrt.rn.f32", "f32", kF1, {f(2)}, 0x3fb504f3},
      {"sqrt.rp.f32", "f32", kF1, {f(2)}, 0x3fb504f4},
      {"sqrt.rn.f64", "f64", kD1, {d(2)}, 0x3ff6a09e667f3bcd},
      {"sqrt.rz.f64", "f64", kD1, {d(2)}, 0x3ff6a09e667f3bcc},
      {"sqrt.rn.f32", "f32", kF1, {f(-1)}, kNan},
      {"sqrt.rn.f32", "f32", kF1, {kMinusZero}, kMinusZero},
  });
}

TEST_F(Floats, FusedMultiplyAddRoundsOnce) {
  // (1 + 2^-23)^2 = 1 + 2^-22 + 2^-46: only a fused one keeps the last term.
  check({
      {"fma.rn.f32", "f32", kF3, {0x3f800001, 0x3f800001, 0xbf800002}, f(0x1p-46f)},
      {"fma.rz.f32", "f32", kF3, {0x3f800001, 0x3f800001, 0}, 0x3f800002},
      {"fma.rp.f32", "f32", kF3, {0x3f800001, 0x3f800001, 0}, 0x3f800003},
      {"fma.rn.f64", "f64", kD3, {0x3ff0000000000001, 0x3ff0000000000001, 0xbff0000000000002}, d(0x1p-104)},
      {"mad.rn.f32", "f32", kF3, {f(2), f(3), f(4)}, f(10)},
      {"fma.rn.ftz.f32", "f32", kF3, {kLeast, f(1), kLeast}, 0},
  });
}

TEST_F(Floats, MinimumAndMaximumTreatNanAndZeros) {
  check({
      {"min.f32", "f32", kF2, {kNan, f(2)}, f(2)},
      {"max.f32", "f32", kF2, {f(2), kNan}, f(2)},
      {"min.NaN.f32", "f32", kF2, {kNan, f(2)}, kNan},
      {"max.NaN.f32", "f32", kF2, {f(2), 0xffc00001}, kNan},
      {"min.f32", "f32", kF2, {0, kMinusZero}, kMinusZero},
      {"max.f32", "f32", kF2, {kMinusZero, 0}, 0},
      {"min.f32", "f32", kF2, {kNan, 0xffc00000}, kNan},
      {"min.f64", "f64", kD2, {d(-3), d(2)}, d(-3)},
      {"max.f64", "f64", kD2, {d(-0.0), d(0.0)}, d(0.0)},
      {"abs.f32", "f32", kF1, {f(-2)}, f(2)},
      {"neg.f32", "f32", kF1, {0}, kMinusZero},
      {"neg.f64", "f64", kD1, {d(1)}, d(-1)},
      {"copysign.f32", "f32", kF2, {f(-1), f(3)}, f(-3)},  // sign of the first, magnitude of the second
      {"abs.ftz.f32", "f32", kF1, {0x80000001}, 0},
      {"testp.notanumber.f32", "pred", kF1, {kNan}, 1},
      {"testp.subnormal.f64", "pred", kD1, {1}, 1},
      {"testp.finite.f32", "pred", kF1, {kInf}, 0},
  });
}

TEST_F(Floats, ComparisonsSeparateOrderedFromUnordered) {
  check({
      {"setp.lt.f32", "pred", kF2, {kNan, f(1)}, 0},
      {"setp.ltu.f32", "pred", kF2, {kNan, f(1)}, 1},
      {"setp.ne.f32", "pred", kF2, {kNan, kNan}, 0},
      {"setp.neu.f32", "pred", kF2, {kNan, kNan}, 1},
      {"setp.equ.f64", "pred", kD2, {d(NAN), d(1)}, 1},
      {"setp.eq.f32", "pred", kF2, {0, kMinusZero}, 1},
      {"setp.num.f32", "pred", kF2, {f(1), f(2)}, 1},
      {"setp.nan.f64", "pred", kD2, {d(1), d(NAN)}, 1},
      {"setp.geu.f32", "pred", kF2, {f(1), f(2)}, 0},
      {"setp.lt.f16", "pred", kH2, {0xbc00, 0x3c00}, 1},
      {"setp.eq.ftz.f32", "pred", kF2, {kLeast, 0}, 1},
      {"set.gt.f16.f16", "b16", kH2, {0x4000, 0x3c00}, 0x3c00},
  });
}

TEST_F(Floats, HalfPrecisionRoundsOnceAndCorrectly) {
  check({
      {"add.rn.f16", "b16", kH2, {0x3c00, 0x1000}, 0x3c00},  // 1 + 2^-11: tie, to even
      {"add.rn.f16", "b16", kH2, {0x3c01, 0x1000}, 0x3c02},
      {"mul.rn.f16", "b16", kH2, {0x7bff, 0x4000}, 0x7c00},
      {"sub.rn.f16", "b16", kH2, {0x0001, 0x0002}, 0x8001},
      {"fma.rn.f16", "b16", kH3, {0x3c01, 0x3c01, 0xbc02}, 0x0010},  // 2^-20
      {"fma.rn.sat.f16", "b16", kH3, {0x4000, 0x4000, 0x3c00}, 0x3c00},
      {"fma.rn.relu.f16", "b16", kH3, {0x4000, 0xc000, 0x3c00}, 0x0000},
      {"add.rn.f16", "b16", kH2, {0x7c00, 0xfc00}, 0x7fff},
      {"min.f16", "b16", kH2, {0x7e00, 0x3c00}, 0x3c00},
      {"max.NaN.f16", "b16", kH2, {0x7e00, 0x3c00}, 0x7fff},
      {"neg.f16", "b16", kH1, {0x3c00}, 0xbc00},
      {"abs.bf16", "b16", kH1, {0xbf80}, 0x3f80},
      {"fma.rn.bf16", "b16", kH3, {0x3f81, 0x3f81, 0xbf82}, 0x3880},  // 2^-14
      // 1.5 × 1.0078125 = 1.51171875 lies midway; a tiny third term decides, 2^-100 below float64's reach
      // too.
      {"fma.rn.bf16", "b16", kH3, {0x3fc0, 0x3f81, 0x0d80}, 0x3fc2},
      {"fma.rn.bf16", "b16", kH3, {0x3fc0, 0x3f81, 0x8d80}, 0x3fc1},
      {"add.rn.f16x2", "b32", {"b32", "b32"}, {0x3c003c00, 0x40003c00}, 0x42004000},
  });
}

TEST_F(Floats, ConversionsBetweenFloatsRoundAsTheySay) {
  check({
      {"cvt.rn.f16.f32", "b16", kF1, {f(65519.0f)}, 0x7bff},
      {"cvt.rn.f16.f32", "b16", kF1, {f(65520.0f)}, 0x7c00},
      {"cvt.rz.f16.f32", "b16", kF1, {f(1e30f)}, 0x7bff},
      {"cvt.rn.f16.f32", "b16", kF1, {f(0x1p-25f)}, 0x0000},
      {"cvt.rn.f16.f32", "b16", kF1, {f(0x1.8p-25f)}, 0x0001},
      {"cvt.rp.f16.f32", "b16", kF1, {f(0x1p-40f)}, 0x0001},
      {"cvt.rm.f16.f32", "b16", kF1, {f(-0x1p-40f)}, 0x8001},
      {"cvt.rn.f16.f64", "b16", kD1, {d(1 + 0x1p-11 + 0x1p-40)}, 0x3c01},  // by way of float32 it would be a
                                                                           // tie
      {"cvt.rn.bf16.f32", "b16", kF1, {0x3f808000}, 0x3f80},
      {"cvt.rn.bf16.f32", "b16", kF1, {0x3f818000}, 0x3f82},
      {"cvt.rn.bf16.f32", "b16", kF1, {0x7f7fffff}, 0x7f80},
      {"cvt.rn.bf16.f32", "b16", kF1, {0x7f800001}, 0x7fff},
      {"cvt.rz.bf16.f32", "b16", kF1, {0x3f81ffff}, 0x3f81},
      {"cvt.f32.f16", "f32", kH1, {0x0001}, f(0x1p-24f)},
      {"cvt.f32.bf16", "f32", kH1, {0xc000}, f(-2)},
      {"cvt.f64.f32", "f64", kF1, {f(0.1f)}, d(0.1f)},
      {"cvt.rn.f32.f64", "f32", kD1, {d(1 + 0x1p-24)}, f(1)},
      {"cvt.rp.f32.f64", "f32", kD1, {d(1 + 0x1p-24)}, 0x3f800001},
      {"cvt.rz.f32.f64", "f32", kD1, {d(1e300)}, 0x7f7fffff},
      {"cvt.rn.f32.f64", "f32", kD1, {d(0x1p-150)}, 0},
      {"cvt.rn.f32.f64", "f32", kD1, {d(0x1.8p-150)}, kLeast},
      {"cvt.rni.f32.f32", "f32", kF1, {f(2.5f)}, f(2)},
      {"cvt.rmi.f32.f32", "f32", kF1, {f(-2.5f)}, f(-3)},
      {"cvt.rpi.f64.f64", "f64", kD1, {d(2.1)}, d(3)},
      {"cvt.rzi.f32.f32", "f32", kF1, {f(-0.5f)}, kMinusZero},
      {"cvt.sat.f32.f32", "f32", kF1, {f(1.5f)}, f(1)},
      {"cvt.rn.f16x2.f32", "b32", kF2, {f(2), f(1)}, 0x40003c00},
  });
}

TEST_F(Floats, ConversionsFromIntegersRoundOnce) {
  check({
      {"cvt.rn.f32.s32", "f32", {"b32"}, {16777217}, f(16777216)},
      {"cvt.rp.f32.s32", "f32", {"b32"}, {16777217}, f(16777218)},
      {"cvt.rn.f32.u32", "f32", {"b32"}, {0xffffffff}, f(4294967296.0f)},
      {"cvt.rz.f32.u64", "f32", {"b64"}, {~0ull}, 0x5f7fffff},
      {"cvt.rn.f64.s64", "f64", {"b64"}, {~0ull}, d(-1)},
      {"cvt.rn.f64.u64", "f64", {"b64"}, {~0ull}, d(0x1p64)},
      {"cvt.rn.f16.s32", "b16", {"b32"}, {65520}, 0x7c00},
      {"cvt.rn.bf16.s32", "b16", {"b32"}, {257}, 0x4380},
      {"cvt.rn.f32.s8", "f32", {"b32"}, {0x180}, f(-128)},  // the low byte only
      {"cvt.rn.f64.u16", "f64", {"b16"}, {0xffff}, d(65535)},
  });
}

TEST_F(Floats, ConversionsToIntegersSaturateAndTurnNanToZero) {
  check({
      {"cvt.rzi.s32.f32", "b32", kF1, {kNan}, 0},
      {"cvt.rzi.s32.f32", "b32", kF1, {f(3e9f)}, 0x7fffffff},
      {"cvt.rzi.s32.f32", "b32", kF1, {0xff800000}, 0x80000000},
      {"cvt.rzi.u32.f32", "b32", kF1, {f(-1)}, 0},
      {"cvt.rzi.s32.f32", "b32", kF1, {f(-2.9f)}, 0xfffffffe},
      {"cvt.rni.s32.f32", "b32", kF1, {f(2.5f)}, 2},
      {"cvt.rmi.s32.f64", "b32", kD1, {d(-2.1)}, 0xfffffffd},
      {"cvt.rpi.u64.f64", "b64", kD1, {d(2.1)}, 3},
      {"cvt.rzi.u64.f64", "b64", kD1, {d(1e30)}, ~0ull},
      {"cvt.rzi.s64.f32", "b64", kF1, {f(-0x1p63f)}, 1ull << 63},
      {"cvt.rzi.s16.f32", "b16", kF1, {f(40000)}, 0x7fff},
      {"cvt.rzi.s8.f32", "b32", kF1, {f(-200)}, 0xffffff80},  // sign-extended into the register
      {"cvt.rzi.u8.f16", "b16", kH1, {0x5c80}, 0xff},         // 288
  });
}

TEST_F(Floats, ConversionsBetweenIntegersCutExtendOrClamp) {
  check({
      {"cvt.s64.s32", "b64", {"b32"}, {0xffffffff}, ~0ull},
      {"cvt.u64.u32", "b64", {"b32"}, {0xffffffff}, 0xffffffff},
      {"cvt.s32.s8", "b32", {"b32"}, {0x80}, 0xffffff80},
      {"cvt.u32.u8", "b32", {"b32"}, {0x1ff}, 0xff},
      {"cvt.u16.u32", "b16", {"b32"}, {0x12345}, 0x2345},
      {"cvt.sat.u8.s32", "b32", {"b32"}, {0xffffffff}, 0},
      {"cvt.sat.s8.s32", "b32", {"b32"}, {1000}, 127},
      {"cvt.sat.s32.u64", "b32", {"b64"}, {~0ull}, 0x7fffffff},
  });
}

struct Bound {
  const char* instruction;
  double (*reference)(double);
  double low, high;
  double relative, absolute;  // of the PTX ISA document
};

double reciprocal(double x) { return 1 / x; }
double reciprocal_root(double x) { return 1 / std::sqrt(x); }

TEST_F(Floats, ApproximateFunctionsStayInsideTheDocumentedError) {
  const Bound bounds[] = {
      {"ex2.approx.f32", std::exp2, -100, 100, 0x1p-22, 0},
      {"lg2.approx.f32", std::log2, 0.5, 2, 0, 0x1p-22},
      {"lg2.approx.f32", std::log2, 2, 1e30, 0x1p-22, 0},
      {"sin.approx.f32", std::sin, -3.14, 3.14, 0, 0x1p-20},
      {"cos.approx.f32", std::cos, -3.14, 3.14, 0, 0x1p-20},
      {"rcp.approx.f32", reciprocal, 0.001, 1000, 0x1p-23, 0},
      {"rsqrt.approx.f32", reciprocal_root, 0.001, 1000, 0x1p-22, 0},
      {"sqrt.approx.f32", std::sqrt, 0.001, 1000, 0x1p-23, 0},
      {"tanh.approx.f32", std::tanh, -5, 5, 0x1p-11, 0},
  };
  for (const Bound& bound : bounds) {
    std::vector<float> in(256);
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = static_cast<float>(bound.low + (bound.high - bound.low) * static_cast<double>(i) / 255.0);
    const auto out =
        run<float>(kernel("shl.b64 %a0, %t64, 2;\nadd.s64 %a1, %in, %a0;\nadd.s64 %a2, %out, "
                          "%a0;\nld.global.f32 %f1, [%a1];\n" +
                          std::string(bound.instruction) + " %f2, %f1;\nst.global.f32 [%a2], %f2;\n"),
                   in, 256, 256);
    for (size_t i = 0; i < in.size(); ++i) {
      const double exact = bound.reference(in[i]);
      EXPECT_LE(std::fabs(out[i] - exact), bound.relative * std::fabs(exact) + bound.absolute)
          << bound.instruction << " of " << in[i];
    }
  }
}

TEST_F(Floats, GrossApproximationsInFloat64ClearTheLowerWord) {
  check({
      {"rcp.approx.ftz.f64", "f64", kD1, {d(2)}, d(0.5)},
      {"rcp.approx.ftz.f64", "f64", kD1, {d(0.0)}, d(INFINITY)},
      {"rcp.approx.ftz.f64", "f64", kD1, {d(1e-310)}, d(INFINITY)},
      {"rcp.approx.ftz.f64", "f64", kD1, {d(-INFINITY)}, d(-0.0)},
      {"rsqrt.approx.ftz.f64", "f64", kD1, {d(4)}, d(0.5)},
      {"rcp.approx.ftz.f64", "f64", kD1, {d(3)}, 0x3fd5555500000000},
  });
}

}  // namespace
}  // namespace cuda_double_test
