// SPDX-License-Identifier: Apache-2.0
// The text that backends hand to compilers on the user's machine, through NVRTC, which needs no GPU.
#include <gtest/gtest.h>
#include <nvrtc.h>

#include <string>

extern const char kernel_text[];

namespace {

TEST(KernelText, CompilesToPtxWithoutFusedMultiplications) {
  const std::string source = std::string(kernel_text) +
                             "extern \"C\" __global__ void k(float* a, const float* b) {\n"
                             "  a[0] = bp_gelu_f32(b[0]) * b[1] + bp_multiply_f32(b[2], b[3]);\n"
                             "  a[1] = bp_add_f32(bp_multiply_f32(b[4], b[5]), b[6]);\n}\n";
  nvrtcProgram program;
  ASSERT_EQ(nvrtcCreateProgram(&program, source.c_str(), "k.cu", 0, nullptr, nullptr), NVRTC_SUCCESS);
  const char* options[] = {"-fmad=false", "-std=c++17"};
  const nvrtcResult result = nvrtcCompileProgram(program, 2, options);
  size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  std::string log(size, 0);
  nvrtcGetProgramLog(program, log.data());
  EXPECT_EQ(result, NVRTC_SUCCESS) << log;
  EXPECT_LE(size, 1u) << "warnings: " << log;
  ASSERT_EQ(nvrtcGetPTXSize(program, &size), NVRTC_SUCCESS);
  std::string ptx(size, 0);
  nvrtcGetPTX(program, ptx.data());
  EXPECT_NE(ptx.find(".entry k"), std::string::npos);
  nvrtcDestroyProgram(&program);
}

}  // namespace
