// SPDX-License-Identifier: Apache-2.0
//
// The plugin beside a program that uses the driver itself, and the user's own kernels.
#include <cuda.h>

#include "support.h"

namespace backplane::cuda_tests {
namespace {

constexpr int64_t kCount = 500;

void check(CUresult result) { ASSERT_EQ(result, CUDA_SUCCESS); }

plugin::Device* open_native(plugin::Backend& backend, CUcontext context) {
  plugin::NativeContext native{};
  native.struct_size = sizeof native;
  native.context = context;
  plugin::Device* device = nullptr;
  const auto status = backend.open_native(&native, &device);
  EXPECT_TRUE(status.ok()) << status.message;
  return device;
}

TEST(CudaNative, WorksInTheHostProgramsContextOnItsMemoryAndStream) {
  auto& loaded = load();
  CUcontext context = nullptr;
  check(cuCtxCreate(&context, nullptr, 0, 0));
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  check(cuMemAlloc(&memory, kCount * sizeof(float)));
  check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  check(cuMemsetD32Async(memory, 0x3f800000, kCount, stream));  // 1.0f

  const Owned<plugin::Device> device(open_native(loaded.backend(), context));
  plugin::Buffer* buffer = nullptr;
  plugin::Stream* wrapped = nullptr;
  ASSERT_TRUE(device->wrap_buffer(reinterpret_cast<void*>(memory), kCount * sizeof(float), &buffer).ok());
  ASSERT_TRUE(device->wrap_stream(stream, &wrapped).ok());
  const Owned<plugin::Buffer> owned_buffer(buffer);
  Owned<plugin::Stream> owned_stream(wrapped);

  auto desc = conformance::make_desc(plugin::Family::Elementwise);
  desc.program =
      conformance::one_op_program(plugin::ScalarOp::add, {DType::Float32, DType::Float32}, DType::Float32);
  plugin::Kernel* made = nullptr;
  ASSERT_TRUE(device->create_kernel(&desc, &made).ok());
  const Owned<plugin::Kernel> add(made);
  plugin::Operand operands[3]{};
  for (auto& operand : operands) {
    operand.buffer = buffer;
    operand.address = buffer->address();
    operand.strides[0] = 1;
  }
  plugin::LaunchArgs args{};
  args.struct_size = sizeof args;
  args.operands = operands;
  args.operand_count = 3;
  args.operand_stride = sizeof operands[0];
  args.rank = 1;
  args.shape[0] = kCount;
  args.label = "add";
  ASSERT_TRUE(add->launch(wrapped, &args).ok());
  owned_stream.reset();

  // The program's own objects have survived the wrapping, and its context is still current.
  std::vector<float> values(kCount);
  check(cuMemcpyDtoHAsync(values.data(), memory, kCount * sizeof(float), stream));
  check(cuStreamSynchronize(stream));
  EXPECT_EQ(values, std::vector<float>(kCount, 2.0f));
  CUcontext current = nullptr;
  check(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, context);
}

TEST(CudaNative, LeavesTheProgramsCurrentContextAlone) {
  auto& loaded = load({{"CUDA_DOUBLE_DEVICES", "2"}});
  CUcontext mine = nullptr;
  check(cuCtxCreate(&mine, nullptr, 0, 1));
  Context context(loaded.backend(), 0);
  const auto buffer = context.allocate(64);
  context.synchronize();
  CUcontext current = nullptr;
  check(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, mine);
}

TEST(CudaNative, HandsOutHandlesThatTheDriverTakes) {
  Context context(load().backend(), 0);
  const auto buffer = context.allocate(kCount * sizeof(float));
  void *native_context = nullptr, *stream = nullptr, *memory = nullptr;
  ASSERT_TRUE(context.device().native_handle(plugin::NativeHandle::Context, &native_context).ok());
  ASSERT_TRUE(context.stream().native_handle(&stream).ok());
  ASSERT_TRUE(buffer->native_handle(&memory).ok());
  EXPECT_EQ(reinterpret_cast<uint64_t>(memory), buffer->address());
  check(cuCtxPushCurrent(static_cast<CUcontext>(native_context)));
  check(cuMemsetD32Async(reinterpret_cast<CUdeviceptr>(memory), 0x40400000, kCount,
                         static_cast<CUstream>(stream)));
  CUcontext popped = nullptr;
  check(cuCtxPopCurrent(&popped));
  EXPECT_EQ(floats(context, *buffer, kCount), std::vector<float>(kCount, 3.0f));
}

// As cudart, cuBLAS and PyTorch do.
TEST(CudaNative, WorksInThePrimaryContext) {
  Context context(load().backend(), 0);
  CUcontext primary = nullptr;
  check(cuDevicePrimaryCtxRetain(&primary, 0));
  void* native = nullptr;
  ASSERT_TRUE(context.device().native_handle(plugin::NativeHandle::Context, &native).ok());
  EXPECT_EQ(native, primary);
  check(cuDevicePrimaryCtxRelease(0));
}

// A pointer for every operand, then the scalars by type; the grid covers the global size.
void expect_scaled(const char* text, plugin::SourceLanguage language) {
  Context context(load({}, {{"nvrtc", "1"}}).backend(), 0);
  plugin::SourceDesc source{};
  source.struct_size = sizeof source;
  source.language = language;
  source.text = text;
  source.entry = "scale";
  source.scalar_types[0] = DType::Float32;
  source.scalar_types[1] = DType::Int32;
  auto desc = conformance::make_desc(plugin::Family::Source);
  desc.operand_count = 2;
  desc.scalar_count = 2;
  desc.source = &source;
  auto kernel = context.create_kernel(desc);
  auto in = upload(context, std::vector<float>(kCount, 1.5f));
  auto out = context.allocate(kCount * sizeof(float));
  Launch launch({kCount});
  launch.operand(*out, DType::Float32, {1}).operand(*in, DType::Float32, {1}).scalar(4.0).scalar(kCount);
  launch.run(context, *kernel);
  EXPECT_EQ(floats(context, *out, kCount), std::vector<float>(kCount, 6.0f));
}

TEST(CudaSource, RunsTheUsersCudaCpp) {
  expect_scaled(
      "extern \"C\" __global__ void scale(float* out, const float* in, float factor, int count) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < count) out[i] = in[i] * factor;\n"
      "}\n",
      plugin::SourceLanguage::CudaCpp);
}

TEST(CudaSource, RunsTheUsersPtx) {
  expect_scaled(R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 out, .param .u64 in, .param .f32 factor, .param .u32 count)
{
  .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %d<5>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [out];
  ld.param.u64 %d2, [in];
  ld.param.f32 %f1, [factor];
  ld.param.u32 %r4, [count];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  setp.ge.u32 %p, %r1, %r4;
  @%p bra done;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d2, %d2, %d3;
  add.u64 %d1, %d1, %d3;
  ld.global.f32 %f2, [%d2];
  mul.rn.f32 %f3, %f2, %f1;
  st.global.f32 [%d1], %f3;
done:
  ret;
}
)",
                plugin::SourceLanguage::Ptx);
}

TEST(CudaSource, ShowsTheCompilersLog) {
  Context context(load({}, {{"nvrtc", "1"}}).backend(), 0);
  plugin::SourceDesc source{};
  source.struct_size = sizeof source;
  source.language = plugin::SourceLanguage::CudaCpp;
  source.text = "extern \"C\" __global__ void broken() { no_such_name(); }";
  source.entry = "broken";
  auto desc = conformance::make_desc(plugin::Family::Source);
  desc.source = &source;
  plugin::Kernel* kernel = nullptr;
  const auto status = context.device().create_kernel(&desc, &kernel);
  EXPECT_EQ(status.code, StatusCode::InvalidArgument);
  EXPECT_NE(std::string(status.message).find("no_such_name"), std::string::npos) << status.message;
}

}  // namespace
}  // namespace backplane::cuda_tests
