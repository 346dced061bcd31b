// SPDX-License-Identifier: Apache-2.0
// What hardware lets pass, or answers with a bare code, and the double reports in words.
#include <gmock/gmock.h>

#include "tests/harness.h"

namespace cuda_double_test {
namespace {

using ::testing::HasSubstr;

const Environment kEnvironment{{"CUDA_DOUBLE_LIMIT", "100000"}};

using Strict = DriverTest;

constexpr char kLoad[] = "shl.b64 %a0, %t64, 2;\nadd.s64 %a0, %a0, %in;\nld.global.u32 %r1, [%a0];\n";

TEST_F(Strict, ReadPastAnAllocationNamesKernelThreadAndLine) {
  std::string report;
  const CUdeviceptr in = allocate(40);
  EXPECT_EQ(fault(kernel(kLoad), 11, in, in, &report), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(report, HasSubstr("kernel 'f', block (0,0,0), thread (10,0,0), line"));
  EXPECT_THAT(report, HasSubstr("past the end of an allocation (offset 40 of 40 bytes)"));
}

TEST_F(Strict, AFaultKillsTheContextForGood) {
  const CUdeviceptr in = allocate(4);
  EXPECT_EQ(fault(kernel(kLoad), 32, in, in, nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr more = 0;
  EXPECT_EQ(cuMemAlloc(&more, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
  ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&more, 4), CUDA_SUCCESS);
}

TEST_F(Strict, AccessToFreedMemoryIsToldApart) {
  std::string report;
  const CUdeviceptr in = allocate(64);
  ASSERT_EQ(cuMemFree(in), CUDA_SUCCESS);
  allocate(64);
  EXPECT_EQ(fault(kernel(kLoad), 1, in, in, &report), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(report, HasSubstr("in freed memory"));
}

TEST_F(Strict, HostMemoryIsReachableOnlyWhenPinned) {
  std::string report;
  std::vector<uint32_t> host(32, 7);
  const auto address = reinterpret_cast<CUdeviceptr>(host.data());
  EXPECT_EQ(fault(kernel(kLoad), 1, address, address, &report), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(report, HasSubstr("in no allocation"));
}

TEST_F(Strict, PinnedHostMemoryIsReadAndWritten) {
  void* memory = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&memory, 128, 0), CUDA_SUCCESS);
  auto* host = static_cast<volatile uint32_t*>(memory);
  host[0] = 41;
  const CUfunction function =
      load(kernel("ld.global.u32 %r1, [%in];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%out+4], %r1;\n"));
  ASSERT_EQ(launch(function, 1, reinterpret_cast<CUdeviceptr>(memory), reinterpret_cast<CUdeviceptr>(memory)),
            CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(host[1], 42u);
  EXPECT_EQ(cuMemFreeHost(memory), CUDA_SUCCESS);
}

TEST_F(Strict, MisalignedAccessIsAFault) {
  std::string report;
  const CUdeviceptr in = allocate(64);
  EXPECT_EQ(fault(kernel("ld.global.v2.u32 {%r1, %r2}, [%in+4];\n"), 1, in, in, &report),
            CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_THAT(report, HasSubstr("misaligned read of 8 bytes"));
}

TEST_F(Strict, SharedMemoryEndsWhereTheLaunchSaysSo) {
  std::string report;
  const CUdeviceptr in = allocate(64);
  const std::string body =
      "mov.u32 %r1, dynamic;\nshl.b32 %r2, %t, 2;\nadd.u32 %r1, %r1, %r2;\nst.shared.u32 [%r1], %r2;\n";
  EXPECT_EQ(fault(kernel(body, ".extern .shared .align 4 .b8 dynamic[];\n"), 32, in, in, &report, 64),
            CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(report, HasSubstr("thread (16,0,0)"));
  EXPECT_THAT(report, HasSubstr("outside shared memory, at offset 64 of 64 bytes"));
}

TEST_F(Strict, ConstantMemoryCannotBeWrittenThroughAGenericAddress) {
  std::string report;
  const CUdeviceptr in = allocate(64);
  EXPECT_EQ(
      fault(kernel("mov.u64 %a0, table;\nst.u32 [%a0], 1;\n", ".const .align 4 .u32 table[2] = {1, 2};\n"), 1,
            in, in, &report),
      CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(report, HasSubstr("constant memory"));
}

TEST_F(Strict, ABarrierThatHalfAWarpReachesIsReported) {
  std::string report;
  const CUdeviceptr in = allocate(64);
  EXPECT_EQ(
      fault(
          kernel("setp.lt.u32 %p1, %t, 16;\n@%p1 bra LOW;\nbar.sync 0;\nbra END;\nLOW:\nbar.sync 0;\nEND:\n"),
          32, in, in, &report),
      CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_THAT(report, HasSubstr("barrier in divergent code"));
}

TEST_F(Strict, ABarrierThatNotAllWarpsReachIsADeadlock) {
  std::string report;
  const CUdeviceptr in = allocate(64);
  EXPECT_EQ(
      fault(
          kernel("setp.lt.u32 %p1, %t, 32;\n@%p1 bra LOW;\nbar.sync 1;\nbra END;\nLOW:\nbar.sync 2;\nEND:\n"),
          64, in, in, &report),
      CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_THAT(report, HasSubstr("deadlock"));
}

TEST_F(Strict, AMemberMaskWhoseThreadsNeverComeIsReported) {
  std::string report;
  const CUdeviceptr in = allocate(64);
  EXPECT_EQ(fault(kernel("setp.lt.u32 %p1, %t, 16;\n@%p1 bra END;\nshfl.sync.idx.b32 %r1, %t, 0, 31, "
                         "-1;\nbra LAST;\nEND:\nvote.sync.ballot.b32 %r2, %p1, -1;\nLAST:\n"),
                  32, in, in, &report),
            CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_THAT(report, HasSubstr("member mask never reach"));
}

TEST_F(Strict, AThreadOutsideItsOwnMaskIsReported) {
  std::string report;
  const CUdeviceptr in = allocate(64);
  EXPECT_EQ(fault(kernel("shfl.sync.idx.b32 %r1, %t, 0, 31, 0xffff;\n"), 32, in, in, &report),
            CUDA_ERROR_ILLEGAL_INSTRUCTION);
  EXPECT_THAT(report, HasSubstr("thread (16,0,0)"));
}

TEST_F(Strict, TrapAndAssertionsEndTheKernel) {
  std::string report;
  const CUdeviceptr in = allocate(64);
  EXPECT_EQ(fault(kernel("setp.eq.u32 %p1, %t, 3;\n@%p1 trap;\n"), 32, in, in, &report),
            CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_THAT(report, HasSubstr("thread (3,0,0)"));
}

TEST_F(Strict, AnEndlessLoopDoesNotHangTheSuite) {
  std::string report;
  const CUdeviceptr in = allocate(64);
  EXPECT_EQ(fault(kernel("AGAIN:\nbra AGAIN;\n"), 1, in, in, &report), CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_THAT(report, HasSubstr("longer than the limit"));
}

TEST_F(Strict, UninitialisedMemoryIsFoundOnRequest) {
  cudaDoubleCheck(1, 0);
  std::string report;
  const CUdeviceptr in = allocate(128);
  ASSERT_EQ(cuMemsetD8(in, 1, 64), CUDA_SUCCESS);
  EXPECT_EQ(fault(kernel(kLoad), 17, in, in, &report), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(report, HasSubstr("thread (16,0,0)"));
  EXPECT_THAT(report, HasSubstr("uninitialised memory"));
}

TEST_F(Strict, CopiesCarryInitialisationWithThem) {
  cudaDoubleCheck(1, 0);
  const CUdeviceptr from = allocate(64), to = allocate(64);
  ASSERT_EQ(cuMemsetD32(from, 5, 8), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoD(to, from, 64), CUDA_SUCCESS);
  EXPECT_EQ(fault(kernel(kLoad), 8, to, to, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(fault(kernel(kLoad), 9, to, to, nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
}

constexpr char kShared[] = ".shared .align 4 .b8 buffer[512];\n";
constexpr char kWriteThenReadNext[] =
    "mov.u32 %r9, buffer;\nshl.b32 %r1, %t, 2;\nadd.u32 %r2, %r9, %r1;\nst.shared.u32 [%r2], "
    "%t;\nBARRIER\nxor.b32 %r3, %t, DISTANCE;\nshl.b32 %r3, %r3, 2;\n"
    "add.u32 %r3, %r3, %r9;\nld.shared.u32 %r0, [%r3];\n";

std::string neighbours(const std::string& barrier, const std::string& distance) {
  std::string text = kWriteThenReadNext;
  text.replace(text.find("BARRIER"), 7, barrier);
  text.replace(text.find("DISTANCE"), 8, distance);
  return kernel(text, kShared);
}

TEST_F(Strict, ARaceForWantOfABarrierIsFoundOnRequest) {
  cudaDoubleCheck(0, 1);
  std::string report;
  const CUdeviceptr in = allocate(512);
  EXPECT_EQ(fault(neighbours("", "32"), 64, in, in, &report), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_THAT(report, HasSubstr("race in shared memory"));
  EXPECT_THAT(report, HasSubstr("with no barrier between"));
}

TEST_F(Strict, ARaceInsideAWarpIsFoundOnRequest) {
  cudaDoubleCheck(0, 1);
  const CUdeviceptr in = allocate(512);
  EXPECT_EQ(fault(neighbours("", "1"), 32, in, in, nullptr), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(Strict, BarriersOfBlockAndWarpEndARace) {
  cudaDoubleCheck(0, 1);
  const CUdeviceptr in = allocate(512);
  EXPECT_EQ(fault(neighbours("bar.sync 0;", "32"), 64, in, in, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(fault(neighbours("bar.warp.sync -1;", "1"), 32, in, in, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(fault(neighbours("bar.warp.sync -1;", "32"), 64, in, in, nullptr), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(Strict, AtomicsDoNotRaceWithEachOther) {
  cudaDoubleCheck(0, 1);
  const CUdeviceptr in = allocate(512);
  EXPECT_EQ(
      fault(kernel("mov.u32 %r1, buffer;\nred.shared.add.u32 [%r1], 1;\n", kShared), 64, in, in, nullptr),
      CUDA_SUCCESS);
  EXPECT_EQ(fault(kernel("st.global.u32 [%out], %t;\n"), 2, in, in, nullptr), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(Strict, LaunchesOutsideTheLimitsAreRefusedAndTheContextLives) {
  const CUfunction function = load(kernel("") + "");
  const CUfunction bounded =
      load(std::string(kHeader) +
           ".visible .entry f(.param .u64 a, .param .u64 b)\n.maxntid 64, 1, 1\n{\nret;\n}\n");
  CUdeviceptr in = allocate(64);
  EXPECT_EQ(launch(function, 1025, in, in), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(bounded, 65, in, in), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(function, 0, in, in), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(function, 1, in, in, 1, 49153), CUDA_ERROR_INVALID_VALUE);
  void* one[] = {&in, nullptr};
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, one, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(function, 1, 65536, 1, 1, 1, 1, 0, nullptr, one, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(bounded, 64, in, in), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(Strict, AParameterBufferMustHaveTheKernelsSize) {
  const CUfunction function = load(kernel(std::string("mov.u32 %r0, 5;\n") + kStoreR0));
  CUdeviceptr buffer[3] = {0, allocate(4), 0};
  size_t size = 16;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(buffer[1], 1)[0], 5u);
  size = 24;
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(cudaDoubleReport(0), HasSubstr("24 bytes of parameters where it takes 16"));
}

TEST_F(Strict, DestroyedHandlesAreRecognised) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleLoadData(&module, kernel("").c_str()), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "f"), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  ASSERT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(event, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(function, 1, 0, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cudaDoubleReportCount(), 5u);
  EXPECT_THAT(cudaDoubleReport(0), HasSubstr("a destroyed stream"));
}

TEST_F(Strict, MemoryIsFreedOnceAndByItsOwnAddress) {
  const CUdeviceptr memory = allocate(4096);
  EXPECT_EQ(cuMemFree(memory + 256), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(0), CUDA_SUCCESS);
}

TEST_F(Strict, CopiesOutsideAnAllocationAreRefused) {
  const CUdeviceptr memory = allocate(16);
  uint8_t host[32] = {};
  EXPECT_EQ(cuMemcpyHtoD(memory, host, 17), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH(host, memory + 8, 9), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32(memory + 2, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(host), host, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(memory, host, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD(memory, host, 16), CUDA_SUCCESS);
}

TEST_F(Strict, PtxThatIsNotUnderstoodIsRefusedWithItsLine) {
  std::string message;
  EXPECT_EQ(refuse(kernel("frobnicate.u32 %r1, %r2;\n"), &message), CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(message, HasSubstr("line 16: 'frobnicate.u32': unknown instruction"));
  EXPECT_EQ(refuse(kernel("add.strange.u32 %r1, %r2, %r3;\n"), &message), CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(message, HasSubstr("unknown modifier .strange"));
  EXPECT_EQ(refuse(kernel("add.u32 %r1, %r2, %a3;\n"), &message), CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(message, HasSubstr("where .u32 is needed"));
  EXPECT_EQ(refuse(kernel("bra NOWHERE;\n"), &message), CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(message, HasSubstr("unknown label 'NOWHERE'"));
}

TEST_F(Strict, FloatArithmeticMustStateItsRounding) {
  std::string message;
  for (const char* instruction :
       {"add.f32 %f1, %f2, %f3;", "mul.f64 %d1, %d2, %d3;", "sub.f16 %h1, %h2, %h3;",
        "mad.f32 %f1, %f2, %f3, %f4;", "div.f32 %f1, %f2, %f3;"}) {
    EXPECT_EQ(refuse(kernel(instruction), &message), CUDA_ERROR_INVALID_PTX) << instruction;
    EXPECT_THAT(message, HasSubstr("explicit rounding"));
  }
  EXPECT_EQ(refuse(kernel("cvt.f16.f32 %h1, %f1;\n"), &message), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(refuse(kernel("add.rn.f32 %f1, %f2, %f3;\n"), &message), CUDA_SUCCESS);
}

TEST_F(Strict, MachineCodeAndNewerTargetsHaveNoBinaryForThisDevice) {
  CUmodule module = nullptr;
  const char elf[64] =
      "\x7f"
      "ELF";
  EXPECT_EQ(cuModuleLoadData(&module, elf), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cuModuleLoadData(&module, ".version 8.0\n.target sm_90\n.address_size 64\n"),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
}

}  // namespace
}  // namespace cuda_double_test
