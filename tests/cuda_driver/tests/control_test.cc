// SPDX-License-Identifier: Apache-2.0
// Divergence, calls, barriers, and what lanes of a warp tell each other.
#include <numeric>

#include "tests/harness.h"

namespace cuda_double_test {
namespace {

using Control = DriverTest;

TEST_F(Control, LanesThatDivergeMeetAgain) {
  // Odd lanes go the long way; after the join one ballot sees all 32.
  const auto out = run32(
      "and.b32 %r1, %t, 1;\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra EVEN;\nmul.lo.s32 %r2, %t, 10;\nbra JOIN;\n"
      "EVEN:\nmul.lo.s32 %r2, %t, 3;\nJOIN:\nactivemask.b32 %r3;\npopc.b32 %r3, %r3;\nmad.lo.s32 %r0, %r3, "
      "1000, %r2;\n",
      32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 32000 + i * (i % 2 != 0 ? 10 : 3));
}

TEST_F(Control, EachLaneLeavesALoopAtItsOwnTime) {
  const auto out = run32(
      "mov.u32 %r0, 0;\nmov.u32 %r1, 0;\nLOOP:\nadd.s32 %r0, %r0, %r1;\nadd.s32 %r1, %r1, 1;\nsetp.le.u32 "
      "%p1, %r1, %t;\n"
      "@%p1 bra LOOP;\n",
      45);
  for (uint32_t i = 0; i < 45; ++i) EXPECT_EQ(out[i], i * (i + 1) / 2);
}

TEST_F(Control, NestedBranchesAndEarlyExitsKeepEveryLaneRight) {
  const auto out = run32(
      "mov.u32 %r0, 7;\nsetp.lt.u32 %p1, %t, 16;\n@!%p1 bra HIGH;\nsetp.lt.u32 %p2, %t, 8;\n@%p2 bra "
      "LOWEST;\nmov.u32 %r0, 1;\nbra END;\n"
      "LOWEST:\nmov.u32 %r0, 0;\nbra END;\nHIGH:\nsetp.gt.u32 %p3, %t, 24;\n@%p3 mov.u32 %r0, 3;\n@%p3 bra "
      "END;\nmov.u32 %r0, 2;\nEND:\n",
      32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 8 ? 0u : i < 16 ? 1u : i > 24 ? 3u : 2u);
}

TEST_F(Control, PredicatedExitEndsOnlyItsLanes) {
  const auto in = std::vector<uint32_t>(32, 0);
  const CUfunction function =
      load(kernel(std::string("mov.u32 %r0, 9;\nsetp.gt.u32 %p1, %t, 3;\n@%p1 exit;\n") + kStoreR0));
  const CUdeviceptr out = upload(in);
  ASSERT_EQ(launch(function, 32, out, out), CUDA_SUCCESS);
  const auto values = download<uint32_t>(out, 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(values[i], i > 3 ? 0u : 9u);
}

TEST_F(Control, IndexedBranchGoesWhereEachLaneSays) {
  const auto out = run32(
      "and.b32 %r1, %t, 3;\nTARGETS: .branchtargets A, B, C, D;\nbrx.idx %r1, TARGETS;\nA:\nmov.u32 %r0, "
      "10;\nbra END;\nB:\nmov.u32 %r0, 11;\nbra END;\n"
      "C:\nmov.u32 %r0, 12;\nbra END;\nD:\nmov.u32 %r0, 13;\nEND:\n",
      32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 10 + i % 4);
}

constexpr char kFactorial[] =
    ".func (.param .b32 result) factorial(.param .b32 n)\n{\n.reg .b32 %n, %m, %x;\n.reg .pred "
    "%p;\nld.param.u32 %n, [n];\n"
    "setp.gt.u32 %p, %n, 1;\n@%p bra MORE;\nmov.u32 %x, 1;\nst.param.b32 [result], %x;\nret;\nMORE:\nsub.u32 "
    "%m, %n, 1;\n{\n.param .b32 a;\n"
    "st.param.b32 [a], %m;\n.param .b32 r;\ncall.uni (r), factorial, (a);\nld.param.b32 %x, "
    "[r];\n}\nmul.lo.u32 %x, %x, %n;\nst.param.b32 [result], %x;\nret;\n}\n";

TEST_F(Control, FunctionsRecurseToADepthOfTheirOwnInEachLane) {
  const auto out = run32(
      "and.b32 %r1, %t, 7;\n{\n.param .b32 a;\nst.param.b32 [a], %r1;\n.param .b32 r;\ncall (r), factorial, "
      "(a);\nld.param.b32 %r0, [r];\n}\n",
      32, kFactorial);
  const uint32_t expected[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], expected[i % 8]);
}

TEST_F(Control, CallsThroughPointersReachEachLanesFunction) {
  const std::string functions =
      ".func (.param .b32 r) plus(.param .b32 n)\n{\n.reg .b32 %n;\nld.param.u32 %n, [n];\nadd.u32 %n, %n, "
      "100;\nst.param.b32 [r], %n;\nret;\n}\n"
      ".func (.param .b32 r) times(.param .b32 n)\n{\n.reg .b32 %n;\nld.param.u32 %n, [n];\nmul.lo.u32 %n, "
      "%n, 5;\nst.param.b32 [r], %n;\nret;\n}\n"
      ".global .align 8 .u64 table[2] = {plus, times};\n";
  const auto out = run32(
      "and.b32 %r1, %t, 1;\nmul.wide.u32 %a0, %r1, 8;\nmov.u64 %a1, table;\nadd.s64 %a1, %a1, "
      "%a0;\nld.global.u64 %a2, [%a1];\n{\n.param .b32 a;\n"
      "st.param.b32 [a], %t;\n.param .b32 r;\nproto: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall "
      "(r), %a2, (a), proto;\nld.param.b32 %r0, [r];\n}\n",
      32, functions);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 != 0 ? i * 5 : i + 100);
}

TEST_F(Control, BarrierOrdersSharedMemoryBetweenWarps) {
  const auto out = run32(
      "shl.b32 %r1, %t, 2;\nmov.u32 %r2, buffer;\nadd.s32 %r3, %r2, %r1;\nst.shared.u32 [%r3], %t;\nbar.sync "
      "0;\nmov.u32 %r4, 1020;\nsub.s32 %r4, %r4, %r1;\n"
      "add.s32 %r4, %r4, %r2;\nld.shared.u32 %r0, [%r4];\n",
      256, ".shared .align 4 .b8 buffer[1024];\n");
  for (uint32_t i = 0; i < 256; ++i) EXPECT_EQ(out[i], 255 - i);
}

TEST_F(Control, NamedBarriersLetHalfABlockMeet) {
  // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; then everyone at 0.
  const auto out = run32(
      "mov.u32 %r2, buffer;\nshr.u32 %r1, %t, 6;\nadd.u32 %r5, %r1, 1;\nshl.b32 %r3, %t, 2;\nadd.s32 %r3, "
      "%r3, %r2;\nst.shared.u32 [%r3], %t;\nbar.sync %r5, 64;\n"
      "xor.b32 %r6, %t, 32;\nshl.b32 %r6, %r6, 2;\nadd.s32 %r6, %r6, %r2;\nld.shared.u32 %r0, "
      "[%r6];\nbar.sync 0;\n",
      128, ".shared .align 4 .b8 buffer[512];\n");
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], i ^ 32);
}

TEST_F(Control, BarrierReductionsCountAndCombineVotes) {
  const auto out = run32(
      "setp.lt.u32 %p1, %t, 40;\nbar.red.popc.u32 %r1, 0, %p1;\nbar.red.and.pred %p2, 0, "
      "%p1;\nbar.red.or.pred %p3, 0, %p1;\nselp.b32 %r2, 1000, 0, %p2;\n"
      "selp.b32 %r3, 100, 0, %p3;\nadd.s32 %r0, %r1, %r2;\nadd.s32 %r0, %r0, %r3;\n",
      96);
  for (const uint32_t value : out) EXPECT_EQ(value, 140u);
}

TEST_F(Control, ThreadsThatHaveExitedAreNotWaitedFor) {
  const auto out = run32("mov.u32 %r0, 5;\nsetp.gt.u32 %p1, %t, 63;\n@%p1 bra END;\nbar.sync 0;\nEND:\n", 96);
  EXPECT_EQ(out[0], 5u);
}

TEST_F(Control, ShufflesFollowTheDocumentsPseudoCode) {
  const auto shuffle = [&](const std::string& mode, const std::string& b, const std::string& c) {
    return run32(
        "shfl.sync." + mode + ".b32 %r0|%p1, %t, " + b + ", " + c + ", -1;\n@!%p1 add.s32 %r0, %r0, 1000;\n",
        32);
  };
  const auto up = shuffle("up", "3", "0"), down = shuffle("down", "3", "31"),
             butterfly = shuffle("bfly", "5", "31"), index = shuffle("idx", "9", "31");
  const auto segmented = shuffle("down", "3", "0x181f");  // segments of 8
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(up[i], i < 3 ? i + 1000 : i - 3);
    EXPECT_EQ(down[i], i > 28 ? i + 1000 : i + 3);
    EXPECT_EQ(butterfly[i], i ^ 5);
    EXPECT_EQ(index[i], 9u);
    EXPECT_EQ(segmented[i], i % 8 > 4 ? i + 1000 : i + 3);
  }
}

TEST_F(Control, VotesAndMatchesSeeTheMembersOfTheirMask) {
  const auto out = run32(
      "setp.lt.u32 %p1, %t, 5;\nvote.sync.ballot.b32 %r1, %p1, -1;\nvote.sync.any.pred %p2, %p1, "
      "-1;\nvote.sync.all.pred %p3, %p1, -1;\nvote.sync.uni.pred %p4, %p1, -1;\n"
      "selp.b32 %r2, 0x100, 0, %p2;\nselp.b32 %r3, 0x200, 0, %p3;\nselp.b32 %r4, 0x400, 0, %p4;\nadd.s32 "
      "%r0, %r1, %r2;\nadd.s32 %r0, %r0, %r3;\nadd.s32 %r0, %r0, %r4;\n",
      32);
  for (const uint32_t value : out) EXPECT_EQ(value, 0x1fu + 0x100u);
  const auto matches = run32("shr.u32 %r1, %t, 3;\nmatch.any.sync.b32 %r0, %r1, -1;\n", 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(matches[i], 0xffu << (i / 8 * 8));
  const auto all =
      run32("mov.u32 %r1, 4;\nmatch.all.sync.b32 %r0|%p1, %r1, -1;\n@!%p1 mov.u32 %r0, 0;\n", 32);
  EXPECT_EQ(all[0], 0xffffffffu);
}

TEST_F(Control, ReductionsOfAWarpGoOverItsMembers) {
  const auto out = run32(
      "redux.sync.add.u32 %r1, %t, -1;\nsub.s32 %r2, 10, %t;\nredux.sync.min.s32 %r3, %r2, "
      "-1;\nredux.sync.or.b32 %r4, %t, -1;\nadd.s32 %r0, %r1, %r3;\nadd.s32 %r0, %r0, %r4;\n",
      32);
  EXPECT_EQ(out[7], 496u - 21u + 31u);
}

TEST_F(Control, LanesOfDifferentBranchesMeetAtTheSameWarpInstruction) {
  const auto out = run32(
      "mov.u32 %r1, %t;\nand.b32 %r2, %t, 1;\nsetp.eq.s32 %p1, %r2, 0;\n@%p1 bra SKIP;\nadd.s32 %r1, %r1, "
      "100;\nSKIP:\nshfl.sync.bfly.b32 %r0, %r1, 1, 31, -1;\n",
      32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], (i ^ 1) + (i % 2 == 0 ? 100 : 0));
}

TEST_F(Control, WarpBarriersInBothBranchesReleaseEachOther) {
  const auto out = run32(
      "setp.lt.u32 %p1, %t, 16;\n@%p1 bra LOW;\nbar.warp.sync -1;\nmov.u32 %r0, 2;\nbra "
      "END;\nLOW:\nbar.warp.sync -1;\nmov.u32 %r0, 1;\nEND:\n",
      32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 16 ? 1u : 2u);
}

TEST_F(Control, ALockBetweenLanesOfOneWarpIsPassedOn) {
  const auto out = run32(
      "mov.u64 %a0, lock;\nmov.u64 %a1, counter;\nAGAIN:\natom.global.cas.b32 %r1, [%a0], 0, 1;\nsetp.ne.s32 "
      "%p1, %r1, 0;\n@%p1 bra AGAIN;\n"
      "ld.global.u32 %r2, [%a1];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%a1], %r2;\natom.global.exch.b32 %r3, "
      "[%a0], 0;\nbar.warp.sync -1;\nld.volatile.global.u32 %r0, [%a1];\n",
      32, ".global .align 4 .u32 lock = 0;\n.global .align 4 .u32 counter = 0;\n");
  for (const uint32_t value : out) EXPECT_EQ(value, 32u);
}

TEST_F(Control, AtomicsCountEveryThreadAndReturnTheOldValue) {
  const CUfunction function =
      load(kernel("atom.global.add.u32 %r0, [%in], 1;\natom.global.max.s32 %r1, [%in+4], "
                  "%t;\nred.global.inc.u32 [%in+8], 99;\natom.global.cas.b32 %r2, [%in+12], 0, %t;\n"
                  "mov.f32 %f1, 0f3F000000;\nred.global.add.f32 [%in+16], %f1;\nshl.b64 %a0, %t64, "
                  "2;\nadd.s64 %a0, %a0, %out;\nst.global.u32 [%a0], %r0;\n"));
  const CUdeviceptr in = upload(std::vector<uint32_t>{0, 0x80000000, 0, 0, 0}), out = allocate(4 * 256);
  ASSERT_EQ(launch(function, 256, in, out, 4), CUDA_SUCCESS);
  const auto counters = download<uint32_t>(in, 5);
  EXPECT_EQ(counters[0], 1024u);
  EXPECT_EQ(counters[1], 255u);
  EXPECT_EQ(counters[2], 1024u % 100);
  EXPECT_EQ(counters[3], 1u);  // thread 0 stores 0, so thread 1 is the last that finds 0
  float half_sum = 0;
  std::memcpy(&half_sum, &counters[4], 4);
  EXPECT_EQ(half_sum, 512.0f);
}

TEST_F(Control, DynamicSharedMemoryBeginsAfterTheStaticOne) {
  const CUfunction function =
      load(kernel(std::string("mov.u32 %r1, fixed;\nmov.u32 %r2, dynamic;\nst.shared.u32 [%r1], "
                              "3;\nst.shared.u32 [%r2+60], 4;\nsub.u32 %r0, %r2, %r1;\n") +
                      kStoreR0,
                  ".extern .shared .align 16 .b8 dynamic[];\n.shared .align 4 .b8 fixed[20];\n"));
  const CUdeviceptr out = allocate(4);
  ASSERT_EQ(launch(function, 1, out, out, 1, 64), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(out, 1)[0], 32u);  // 20, rounded up to 16
}

TEST_F(Control, LocalMemoryAndGenericAddressesBelongToEachThread) {
  const auto out = run32(
      ".local .align 8 .b8 mine[16];\nmov.u64 %a0, mine;\ncvta.local.u64 %a1, %a0;\nst.local.u32 [%a0+4], "
      "%t;\nbar.warp.sync -1;\nld.u32 %r0, [%a1+4];\nisspacep.local %p1, %a1;\n@!%p1 mov.u32 %r0, 999;\n",
      40);
  for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(out[i], i);
}

TEST_F(Control, VectorsMoveBetweenRegistersAndMemory) {
  const auto out =
      run<uint32_t>(kernel("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%in];\nmov.b64 %a0, {%r4, %r3};\nmov.b64 "
                           "{%r5, %r6}, %a0;\nmov.b32 {%h1, %h2}, %r1;\nmov.b32 %r7, {%h2, %h1};\n"
                           "st.global.v4.u32 [%out], {%r5, %r6, %r7, %r2};\n"),
                    std::vector<uint32_t>{0x00010002, 20, 30, 40}, 1, 4);
  EXPECT_EQ(out, (std::vector<uint32_t>{40, 30, 0x00020001, 20}));
}

TEST_F(Control, SpecialRegistersTellGridBlockAndLane) {
  const CUfunction function =
      load(kernel("mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %nctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, "
                  "%laneid;\nmad.lo.s32 %r5, %r1, %r3, %t;\nmul.wide.u32 %a0, %r5, 16;\n"
                  "add.s64 %a0, %a0, %out;\nst.global.v4.u32 [%a0], {%r1, %r2, %r3, %r4};\n"));
  const CUdeviceptr out = allocate(16 * 3 * 40);
  ASSERT_EQ(launch(function, 40, out, out, 3), CUDA_SUCCESS);
  const auto values = download<uint32_t>(out, 4 * 3 * 40);
  for (uint32_t i = 0; i < 120; ++i) {
    EXPECT_EQ(values[4 * i], i / 40);
    EXPECT_EQ(values[4 * i + 1], 3u);
    EXPECT_EQ(values[4 * i + 2], 40u);
    EXPECT_EQ(values[4 * i + 3], i % 40 % 32);
  }
}

// The functions of a module may stand where those of an unloaded one stood.
TEST_F(Control, AKernelHasItsOwnConstantsAfterAnotherModuleIsUnloaded) {
  const CUdeviceptr out = allocate(4);
  for (uint32_t value = 1; value <= 50; ++value) {
    const std::string body = "mov.u32 %r0, " + std::to_string(1000 + value) + ";\n";
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    ASSERT_EQ(cuModuleLoadData(&module, kernel(body + kStoreR0).c_str()), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&function, module, "f"), CUDA_SUCCESS);
    ASSERT_EQ(launch(function, 1, out, out), CUDA_SUCCESS);
    EXPECT_EQ(download<uint32_t>(out, 1)[0], 1000 + value);
    ASSERT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  }
}

}  // namespace
}  // namespace cuda_double_test
