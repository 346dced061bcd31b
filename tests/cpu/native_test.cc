// SPDX-License-Identifier: Apache-2.0
//
// Kernels that are functions of the program.
#include <gtest/gtest.h>

#include "backplane/backplane.h"

namespace backplane {
namespace {

const float* pointer(const plugin::LaunchArgs* args, uint32_t k) {
  return reinterpret_cast<const float*>(args->operand(k).address);
}

// out[i] = factor * in[i], a slice of the rows that lie behind one another.
void scale_rows(const plugin::LaunchArgs* args, int64_t begin, int64_t end) noexcept {
  auto* const out = const_cast<float*>(pointer(args, 0));
  const float* const in = pointer(args, 1);
  const int64_t row = args->shape[1];
  for (int64_t i = begin * row; i < end * row; ++i) out[i] = static_cast<float>(args->scalars[0].f) * in[i];
}

KernelSource source_of(void (*native)(const plugin::LaunchArgs*, int64_t, int64_t) noexcept) {
  KernelSource source;
  source.language = SourceLanguage::Native;
  source.native = native;
  source.operands = 2;
  source.scalars = {float64};
  return source;
}

TEST(CpuNativeKernel, IsCalledForEverySliceOnce) {
  const Device device("cpu");
  const Tensor in = arange(1000 * 30, float32, device).reshape({1000, 30});
  const Tensor out = zeros({1000, 30}, device);
  const Kernel kernel(device, source_of(scale_rows));
  for (const Shape& group : {Shape{}, Shape{64, 1}}) {
    out.fill(0);
    kernel({out, in}, {2.5}, {1000, 30}, group);
    for (int i = 0; i < 30000; ++i) ASSERT_EQ(out.data<float>()[i], 2.5f * static_cast<float>(i));
  }
}

TEST(CpuNativeKernel, RunsInOrderWithOtherWork) {
  const Device device("cpu");
  const Stream stream(device);
  const StreamGuard guard(stream);
  const Tensor x = ones({64, 1000}, device), y = zeros({64, 1000}, device);
  const Kernel kernel(device, source_of(scale_rows));
  for (int i = 0; i < 10; ++i) {
    kernel({y, x}, {2.0}, {64, 1000});
    add_out(x, y, 1.0);
  }
  // x -> 2 x + 1, ten times from 1.
  EXPECT_EQ(min(x).item<float>(), 2047);
  EXPECT_EQ(max(x).item<float>(), 2047);
}

TEST(CpuNativeKernel, TakesNoTextAndNoNullFunction) {
  const Device device("cpu");
  KernelSource text = source_of(scale_rows);
  text.language = SourceLanguage::OpenCLC;
  text.text.append("kernel void f() {}");
  text.entry.push_back('f');
  try {
    Kernel kernel(device, text);
    ADD_FAILURE() << "OpenCL C on the cpu";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unimplemented) << error.what();
  }
  try {
    Kernel kernel(device, source_of(nullptr));
    ADD_FAILURE() << "no function";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument) << error.what();
  }
}

}  // namespace
}  // namespace backplane
