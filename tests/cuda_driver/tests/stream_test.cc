// SPDX-License-Identifier: Apache-2.0
// Streams, events, host functions, several devices, faults on request, and the accounting of memory. This
// program runs with three devices of 64 MiB; 0 and 1 have peer access, 2 has none.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/harness.h"

namespace cuda_double_test {
namespace {

using ::testing::HasSubstr;

const Environment kEnvironment{
    {"CUDA_DOUBLE_DEVICES", "3"}, {"CUDA_DOUBLE_MEMORY", "64M"}, {"CUDA_DOUBLE_PEERS", "0-1,1-0"}};

class Streams : public DriverTest {
 protected:
  CUstream stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    CUstream result = nullptr;
    EXPECT_EQ(cuStreamCreate(&result, flags), CUDA_SUCCESS);
    return result;
  }
  // Keeps a stream busy until `gate` opens.
  void block(CUstream on, std::atomic<bool>& gate) {
    const auto wait = [](void* data) {
      while (!*static_cast<std::atomic<bool>*>(data))
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    };
    ASSERT_EQ(cuLaunchHostFunc(on, wait, &gate), CUDA_SUCCESS);
  }
  void TearDown() override {
    DriverTest::TearDown();
    cuDevicePrimaryCtxReset(1);
    cuDevicePrimaryCtxReset(2);
  }
};

TEST_F(Streams, WorkIsDoneBehindTheCallersBack) {
  std::atomic<bool> gate{false};
  const CUstream s = stream();
  const CUdeviceptr memory = allocate(4);
  ASSERT_EQ(cuMemsetD32(memory, 1, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  block(s, gate);
  ASSERT_EQ(cuMemsetD32Async(memory, 2, 1, s), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(download<uint32_t>(memory, 1)[0], 1u);  // the default stream does not wait for a non-blocking one
  gate = true;
  ASSERT_EQ(cuStreamSynchronize(s), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(s), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(memory, 1)[0], 2u);
}

TEST_F(Streams, PageableSourcesAreReadWhenTheCopyIsCarriedOut) {
  std::atomic<bool> gate{false};
  const CUstream s = stream();
  const CUdeviceptr memory = allocate(4);
  uint32_t host = 1;
  block(s, gate);
  ASSERT_EQ(cuMemcpyHtoDAsync(memory, &host, 4, s), CUDA_SUCCESS);
  host = 2;  // a caller's mistake, which must show
  gate = true;
  ASSERT_EQ(cuStreamSynchronize(s), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(memory, 1)[0], 2u);
}

TEST_F(Streams, TheLegacyStreamWaitsForBlockingStreamsAndTheyForIt) {
  std::atomic<bool> gate{false};
  const CUstream blocking = stream(CU_STREAM_DEFAULT), other = stream(CU_STREAM_DEFAULT);
  const CUdeviceptr memory = allocate(4);
  block(blocking, gate);
  ASSERT_EQ(cuMemsetD32Async(memory, 1, 1, blocking), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(memory, 2, 1, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(memory, 3, 1, other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
  gate = true;
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(memory, 1)[0], 3u);
}

TEST_F(Streams, EventsOrderStreams) {
  std::atomic<bool> gate{false};
  const CUstream first = stream(), second = stream();
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);  // never recorded
  const CUdeviceptr memory = allocate(4);
  block(first, gate);
  ASSERT_EQ(cuMemsetD32Async(memory, 1, 1, first), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, first), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(memory, 2, 1, second), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  gate = true;
  ASSERT_EQ(cuStreamSynchronize(second), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(memory, 1)[0], 2u);
  float milliseconds = 0;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, event, event), CUDA_ERROR_INVALID_HANDLE);  // timing is off
}

TEST_F(Streams, ElapsedTimeNeedsTwoRecordedEvents) {
  CUevent start = nullptr, end = nullptr;
  ASSERT_EQ(cuEventCreate(&start, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&end, 0), CUDA_SUCCESS);
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_INVALID_HANDLE);
  ASSERT_EQ(cuEventRecord(start, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(end, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 0.0f);
}

TEST_F(Streams, HostFunctionsMayNotCallTheDriver) {
  CUresult inside = CUDA_SUCCESS;
  ASSERT_EQ(cuLaunchHostFunc(
                nullptr,
                [](void* data) {
                  CUdeviceptr memory = 0;
                  *static_cast<CUresult*>(data) = cuMemAlloc(&memory, 4);
                },
                &inside),
            CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(inside, CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(Streams, FreeingWaitsForTheWorkThatUsesTheMemory) {
  const CUstream s = stream();
  cudaDoubleDelay(3000, 7);
  const CUstream slow = stream();
  const CUdeviceptr memory = allocate(4);
  ASSERT_EQ(cuMemsetD32Async(memory, 1, 1, slow), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(slow), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(s), CUDA_SUCCESS);
}

TEST_F(Streams, MemoryFreedInOneStreamAndUsedLaterInAnotherIsReported) {
  std::atomic<bool> gate{false};
  const CUstream first = stream(), second = stream();
  const CUdeviceptr memory = allocate(4);
  block(second, gate);
  ASSERT_EQ(cuMemsetD32Async(memory, 1, 1, second), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(memory, first), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(first), CUDA_SUCCESS);
  gate = true;
  EXPECT_EQ(cuStreamSynchronize(second), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(cudaDoubleReport(0), HasSubstr("freed before it was filled"));
}

TEST_F(Streams, MemoryIsAccountedForAndRunsOut) {
  size_t free_bytes = 0, total = 0;
  ASSERT_EQ(cuMemGetInfo(&free_bytes, &total), CUDA_SUCCESS);
  EXPECT_EQ(total, 64u << 20);
  EXPECT_EQ(free_bytes, total);
  CUdeviceptr most = 0, more = 0;
  ASSERT_EQ(cuMemAlloc(&most, 63 << 20), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&more, 2 << 20), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc(&more, size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc(&more, ~size_t{0}), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cudaDoubleBytesInUse(0), 63u << 20);
  EXPECT_EQ(cudaDoubleBytesInUse(1), 0u);
  ASSERT_EQ(cuMemFree(most), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&more, 64 << 20), CUDA_SUCCESS);
}

TEST_F(Streams, TheEndOfAContextGivesItsMemoryBack) {
  allocate(1 << 20);
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, (std::string(kHeader) + ".global .align 4 .b8 big[4096];\n").c_str()),
            CUDA_SUCCESS);
  EXPECT_EQ(cudaDoubleBytesInUse(0), (1u << 20) + 4096);
  ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  EXPECT_EQ(cudaDoubleBytesInUse(0), 0u);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

TEST_F(Streams, TheNthCallFailsOnRequestAndOnlyThatOne) {
  cudaDoubleFail("cuMemAlloc:2:2");
  CUdeviceptr a = 0, b = 0;
  EXPECT_EQ(cuMemAlloc(&a, 16), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&b, 16), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc(&b, 16), CUDA_SUCCESS);
  EXPECT_EQ(cudaDoubleCallCount("cuMemAlloc_v2"), 3u);
  cudaDoubleFail("cuStreamSynchronize:1:719:sticky");
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(cuMemAlloc(&b, 16), CUDA_ERROR_LAUNCH_FAILED);
}

class TwoDevices : public Streams {
 protected:
  void SetUp() override {
    Streams::SetUp();
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&second_, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&third_, 2), CUDA_SUCCESS);
  }
  CUdeviceptr allocate_on(CUcontext context, size_t size) {
    cuCtxPushCurrent(context);
    const CUdeviceptr memory = allocate(size);
    CUcontext popped = nullptr;
    cuCtxPopCurrent(&popped);
    return memory;
  }
  CUcontext second_ = nullptr, third_ = nullptr;
};

TEST_F(TwoDevices, APeersMemoryNeedsPeerAccess) {
  const std::string text = kernel("mov.u32 %r1, 77;\nst.global.u32 [%out], %r1;\n");
  const CUdeviceptr theirs = allocate_on(second_, 4);
  int can = -1;
  ASSERT_EQ(cuDeviceCanAccessPeer(&can, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(can, 1);
  ASSERT_EQ(cuDeviceCanAccessPeer(&can, 0, 2), CUDA_SUCCESS);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cuCtxEnablePeerAccess(third_, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  ASSERT_EQ(cuCtxEnablePeerAccess(second_, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxEnablePeerAccess(second_, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  EXPECT_EQ(fault(text, 1, theirs, theirs, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(theirs, 1)[0], 77u);
  std::string report;
  ASSERT_EQ(cuCtxDisablePeerAccess(second_), CUDA_SUCCESS);
  EXPECT_EQ(fault(text, 1, theirs, theirs, &report), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(report, HasSubstr("peer access is not enabled"));
}

TEST_F(TwoDevices, PeerCopiesArriveOrSilentlyWriteZerosOnRequest) {
  const CUdeviceptr mine = allocate(4), theirs = allocate_on(second_, 4);
  ASSERT_EQ(cuMemsetD32(mine, 5, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyPeer(theirs, second_, mine, context_, 4), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(theirs, 1)[0], 5u);
  cudaDoublePeerZeros("0-1");
  ASSERT_EQ(cuMemcpyPeer(theirs, second_, mine, context_, 4), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(theirs, 1)[0], 0u);
  EXPECT_EQ(cuMemcpyPeer(theirs, context_, mine, second_, 4), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(TwoDevices, OneDevicesFaultLeavesTheOthersAlone) {
  EXPECT_EQ(fault(kernel("trap;\n"), 1, 0, 0, nullptr), CUDA_ERROR_LAUNCH_FAILED);
  ASSERT_EQ(cuCtxSetCurrent(second_), CUDA_SUCCESS);
  const CUdeviceptr memory = allocate(4);
  EXPECT_EQ(cuMemsetD32(memory, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(TwoDevices, FunctionsAndStreamsOfAnotherContextAreRefused) {
  const CUfunction function = load(kernel(""));
  const CUstream mine = stream();
  ASSERT_EQ(cuCtxSetCurrent(second_), CUDA_SUCCESS);
  EXPECT_EQ(launch(function, 1, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
  const CUdeviceptr memory = allocate(4);
  EXPECT_EQ(cuMemsetD32Async(memory, 1, 1, mine), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuStreamSynchronize(mine), CUDA_SUCCESS);
}

TEST_F(TwoDevices, HostThreadsUseBothDevicesAtOnce) {
  const std::string text = kernel(std::string("mad.lo.s32 %r0, %t, 3, 1;\n") + kStoreR0);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      cuCtxSetCurrent(i % 2 == 0 ? context_ : second_);
      for (int round = 0; round < 20; ++round) {
        const CUfunction function = load(text);
        const CUdeviceptr out = allocate(4 * 64);
        if (launch(function, 64, out, out) != CUDA_SUCCESS) ++wrong;
        const auto values = download<uint32_t>(out, 64);
        for (uint32_t k = 0; k < 64; ++k) wrong += values[k] != 3 * k + 1;
        cuMemFree(out);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Streams, NewestEntryPointsAreFoundByName) {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status;
  ASSERT_EQ(cuGetProcAddress("cuMemAlloc", &function, 12000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuMemAlloc));
  EXPECT_EQ(cuGetProcAddress("cuNoSuchThing", &function, 12000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

}  // namespace
}  // namespace cuda_double_test
