// SPDX-License-Identifier: Apache-2.0
// What the tests of the driver double share: a fresh context a test, PTX from text, launches.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "driver/control.h"

namespace cuda_double_test {

// Set before the driver reads them, at the first cuInit of the program.
struct Environment {
  Environment(std::initializer_list<std::pair<const char*, const char*>> variables) {
    for (const auto& [name, value] : variables) setenv(name, value, 1);
  }
};

inline constexpr char kHeader[] = ".version 8.0\n.target sm_75\n.address_size 64\n";

// A kernel `f(in, out)`; %in and %out hold the addresses, %t the thread's index in the block, as 32 and 64
// bits.
inline std::string kernel(const std::string& body, const std::string& before = "") {
  return std::string(kHeader) + before +
         ".visible .entry f(.param .u64 p_in, .param .u64 p_out)\n{\n"
         ".reg .b64 %in, %out, %t64, %a<20>;\n.reg .b32 %t, %r<40>;\n.reg .b16 %h<20>;\n.reg .f32 %f<20>;\n"
         ".reg .f64 %d<20>;\n.reg .pred %p<20>;\n"
         "ld.param.u64 %in, [p_in];\nld.param.u64 %out, [p_out];\nmov.u32 %t, %tid.x;\ncvt.u64.u32 %t64, "
         "%t;\n" +
         body + "\nret;\n}\n";
}

// Stores %r0 of each thread at out[thread].
inline constexpr char kStoreR0[] =
    "shl.b64 %a18, %t64, 2;\nadd.s64 %a19, %out, %a18;\nst.global.u32 [%a19], %r0;\n";

class DriverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    cudaDoubleClearReports();
  }

  void TearDown() override {
    cudaDoubleFail("");
    cudaDoublePeerZeros("");
    cudaDoubleCheck(0, 0);
    cudaDoubleDelay(0, 0);
    cuCtxSetCurrent(nullptr);
    cuDevicePrimaryCtxReset(0);
  }

  CUfunction load(const std::string& ptx, const char* name = "f") {
    char log[1024] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values), CUDA_SUCCESS) << log;
    if (module == nullptr) return nullptr;
    EXPECT_EQ(cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
    return function;
  }

  template <class T>
  CUdeviceptr upload(const std::vector<T>& values) {
    CUdeviceptr address = allocate(values.size() * sizeof(T));
    EXPECT_EQ(cuMemcpyHtoD(address, values.data(), values.size() * sizeof(T)), CUDA_SUCCESS);
    return address;
  }

  CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAlloc(&address, bytes == 0 ? 1 : bytes), CUDA_SUCCESS);
    return address;
  }

  template <class T>
  std::vector<T> download(CUdeviceptr address, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(cuMemcpyDtoH(values.data(), address, count * sizeof(T)), CUDA_SUCCESS);
    return values;
  }

  CUresult launch(CUfunction function, unsigned threads, CUdeviceptr in, CUdeviceptr out, unsigned blocks = 1,
                  unsigned shared = 0, CUstream stream = nullptr) {
    void* parameters[] = {&in, &out};
    return cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared, stream, parameters, nullptr);
  }

  // Runs the kernel on one block and returns `count` results.
  template <class Out, class In>
  std::vector<Out> run(const std::string& ptx, const std::vector<In>& in, unsigned threads, size_t count) {
    const CUfunction function = load(ptx);
    if (function == nullptr) return {};
    const CUdeviceptr source = upload(in), target = allocate(count * sizeof(Out));
    EXPECT_EQ(launch(function, threads, source, target), CUDA_SUCCESS);
    return download<Out>(target, count);
  }

  std::vector<uint32_t> run32(const std::string& body, unsigned threads, const std::string& before = "") {
    return run<uint32_t>(kernel(body + kStoreR0, before), std::vector<uint32_t>(threads, 0), threads,
                         threads);
  }

  // Launches and waits; the code that comes back, the text of the first report in `report`.
  CUresult fault(const std::string& ptx, unsigned threads, CUdeviceptr in, CUdeviceptr out,
                 std::string* report, unsigned shared = 0) {
    const CUfunction function = load(ptx);
    const CUresult launched = launch(function, threads, in, out, 1, shared);
    const CUresult result = launched != CUDA_SUCCESS ? launched : cuCtxSynchronize();
    const char* text = cudaDoubleReport(0);
    if (report != nullptr) *report = text == nullptr ? "" : text;
    return result;
  }

  // What cuModuleLoadData says about a text, and the message.
  CUresult refuse(const std::string& ptx, std::string* message) {
    char log[1024] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    CUmodule module = nullptr;
    const CUresult result = cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values);
    *message = log;
    return result;
  }

  CUcontext context_ = nullptr;
};

}  // namespace cuda_double_test
