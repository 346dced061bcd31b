// SPDX-License-Identifier: Apache-2.0
//
// A bare OpenCL program that shares its context, queue and buffers with the plugin, and devices that share
// work with each other.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <thread>

#include "launch.h"

namespace backplane::conformance {
namespace {

constexpr uint64_t kMinute = uint64_t{60} * 1000 * 1000 * 1000;

// The plugin's backend, one in this process, its CPU split in two where it has the units.
plugin::Backend* backend() {
  static LoadedPlugin* const loaded = [] {
    Options options;
    options.plugin_path = OPENCL_PLUGIN;
    options.settings["cache_dir"] = OPENCL_CACHE;
    if (std::thread::hardware_concurrency() > 1) options.settings["subdevices"] = "2";
    try {
      return new LoadedPlugin(options);
    } catch (const std::exception&) {
      return static_cast<LoadedPlugin*>(nullptr);
    }
  }();
  return loaded == nullptr ? nullptr : &loaded->backend();
}

class OpenClNative : public testing::Test {
 protected:
  void SetUp() override {
    if (backend() == nullptr || backend()->device_count() == 0)
      GTEST_SKIP() << "no OpenCL device on this machine";
    ASSERT_EQ(clGetPlatformIDs(1, &platform_, nullptr), CL_SUCCESS);
    ASSERT_EQ(clGetDeviceIDs(platform_, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr), CL_SUCCESS);
    cl_int code = CL_SUCCESS;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
    ASSERT_EQ(code, CL_SUCCESS);
    queue_ = clCreateCommandQueue(context_, device_, 0, &code);
    ASSERT_EQ(code, CL_SUCCESS);
  }
  void TearDown() override {
    if (queue_ != nullptr) clReleaseCommandQueue(queue_);
    if (context_ != nullptr) clReleaseContext(context_);
  }

  Owned<plugin::Device> open() {
    const plugin::NativeContext native{sizeof(plugin::NativeContext), 0, context_, device_};
    plugin::Device* device = nullptr;
    require_ok(backend()->open_native(&native, &device), "open_native");
    return Owned<plugin::Device>(device);
  }

  cl_mem make_buffer(std::vector<float>& values) {
    return clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(float),
                          values.data(), nullptr);
  }

  cl_platform_id platform_ = nullptr;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
};

Owned<plugin::Kernel> adder(plugin::Device& device) {
  plugin::KernelDesc desc = make_desc(plugin::Family::Elementwise);
  desc.program = one_op_program(plugin::ScalarOp::add, {DType::Float32, DType::Float32}, DType::Float32);
  plugin::Kernel* kernel = nullptr;
  require_ok(device.create_kernel(&desc, &kernel), "create_kernel");
  return Owned<plugin::Kernel>(kernel);
}

TEST_F(OpenClNative, AddsTheProgramsOwnBuffersInItsOwnQueue) {
  std::vector<float> a{1, 2, 3, 4}, b{10, 20, 30, 40}, out(4);
  const cl_mem memory[3] = {make_buffer(out), make_buffer(a), make_buffer(b)};
  {
    const Owned<plugin::Device> device = open();
    plugin::Stream* stream = nullptr;
    require_ok(device->wrap_stream(queue_, &stream), "wrap_stream");
    const Owned<plugin::Stream> owned_stream(stream);
    std::vector<Owned<plugin::Buffer>> buffers;
    std::vector<plugin::Operand> operands;
    for (const cl_mem each : memory) {
      plugin::Buffer* buffer = nullptr;
      require_ok(device->wrap_buffer(each, 16, &buffer), "wrap_buffer");
      buffers.emplace_back(buffer);
      plugin::Operand operand{};
      operand.buffer = buffer;
      operand.strides[0] = 1;
      operands.push_back(operand);
    }
    const Owned<plugin::Kernel> kernel = adder(*device);
    plugin::LaunchArgs args{};
    args.struct_size = sizeof args;
    args.operand_count = 3;
    args.operand_stride = sizeof operands[0];
    args.operands = operands.data();
    args.rank = 1;
    args.shape[0] = 4;
    args.label = "add";
    require_ok(kernel->launch(stream, &args), "launch");
    void* handle = nullptr;
    require_ok(device->native_handle(plugin::NativeHandle::Context, &handle), "native_handle");
    EXPECT_EQ(handle, context_);
    require_ok(stream->native_handle(&handle), "native_handle");
    EXPECT_EQ(handle, queue_);
    require_ok(buffers[0]->native_handle(&handle), "native_handle");
    EXPECT_EQ(handle, memory[0]);
  }
  // The plugin's objects are gone; the program's own live on, and the queue orders this read behind the
  // kernel.
  ASSERT_EQ(clEnqueueReadBuffer(queue_, memory[0], CL_TRUE, 0, 16, out.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_THAT(out, testing::ElementsAre(11, 22, 33, 44));
  for (const cl_mem each : memory) EXPECT_EQ(clReleaseMemObject(each), CL_SUCCESS);
}

TEST_F(OpenClNative, RefusesABufferAndAQueueOfAnotherContext) {
  cl_int code = CL_SUCCESS;
  const cl_context other = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  const cl_mem memory = clCreateBuffer(other, CL_MEM_READ_WRITE, 16, nullptr, &code);
  const cl_command_queue queue = clCreateCommandQueue(other, device_, 0, &code);
  const Owned<plugin::Device> device = open();
  plugin::Buffer* buffer = nullptr;
  EXPECT_EQ(device->wrap_buffer(memory, 16, &buffer).code, plugin::StatusCode::InvalidArgument);
  plugin::Stream* stream = nullptr;
  EXPECT_EQ(device->wrap_stream(queue, &stream).code, plugin::StatusCode::InvalidArgument);
  clReleaseMemObject(memory);
  clReleaseCommandQueue(queue);
  clReleaseContext(other);
}

TEST_F(OpenClNative, RefusesABufferThatIsSmallerThanTheProgramSays) {
  std::vector<float> four(4);
  const cl_mem memory = make_buffer(four);
  const Owned<plugin::Device> device = open();
  plugin::Buffer* buffer = nullptr;
  const plugin::Status status = device->wrap_buffer(memory, 32, &buffer);
  EXPECT_EQ(status.code, plugin::StatusCode::InvalidArgument);
  EXPECT_THAT(status.message, testing::HasSubstr("16 bytes, not 32"));
  clReleaseMemObject(memory);
}

TEST_F(OpenClNative, RefusesAQueueThatRunsOutOfOrder) {
  cl_int code = CL_SUCCESS;
  const cl_command_queue queue =
      clCreateCommandQueue(context_, device_, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
  if (code != CL_SUCCESS) GTEST_SKIP() << "the driver makes no such queue";
  const Owned<plugin::Device> device = open();
  plugin::Stream* stream = nullptr;
  EXPECT_EQ(device->wrap_stream(queue, &stream).code, plugin::StatusCode::InvalidArgument);
  clReleaseCommandQueue(queue);
}

TEST_F(OpenClNative, RunsAUsersOwnSourceAtAnyOffset) {
  Context context(*backend(), 0);
  plugin::SourceDesc source{};
  source.struct_size = sizeof source;
  source.language = plugin::SourceLanguage::OpenCLC;
  source.text =
      "__kernel void scale(__global float* out, __global const float* in, float factor, int plus) {\n"
      "  const size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);\n"
      "  out[i] = in[i] * factor + plus;\n}\n";
  source.entry = "scale";
  source.scalar_types[0] = DType::Float32;
  source.scalar_types[1] = DType::Int32;
  plugin::KernelDesc desc = make_desc(plugin::Family::Source);
  desc.operand_count = 2;
  desc.scalar_count = 2;
  desc.source = &source;
  const auto kernel = context.create_kernel(desc);
  for (const int64_t offset : {int64_t{0}, int64_t{1}, int64_t{256}}) {
    Values in(DType::Float32, 6 + offset), expected(DType::Float32, 6);
    for (int64_t i = 0; i < 6; ++i) {
      in.set(offset + i, static_cast<double>(i));
      expected.set(i, 2.5 * static_cast<double>(i) - 3);
    }
    const auto from = context.upload(in), to = context.allocate(4 * static_cast<uint64_t>(6 + offset));
    Launch launch({2, 3});
    launch.operand(*to, DType::Float32, {3, 1}, offset).operand(*from, DType::Float32, {3, 1}, offset);
    launch.scalar(2.5).scalar(int64_t{-3});
    launch.run(context, *kernel);
    require_same(context.download(*to, DType::Float32, 6, 4 * static_cast<uint64_t>(offset)), expected,
                 "the result");
  }
}

TEST_F(OpenClNative, ShowsTheCompilersLogAndTheKernelsName) {
  Context context(*backend(), 0);
  plugin::SourceDesc source{};
  source.struct_size = sizeof source;
  source.language = plugin::SourceLanguage::OpenCLC;
  source.text = "__kernel void broken(__global float* out) { out[0] = no_such_name; }";
  source.entry = "broken";
  plugin::KernelDesc desc = make_desc(plugin::Family::Source);
  desc.operand_count = 1;
  desc.source = &source;
  plugin::Kernel* kernel = nullptr;
  const plugin::Status status = context.device().create_kernel(&desc, &kernel);
  EXPECT_EQ(status.code, plugin::StatusCode::InvalidArgument);
  EXPECT_THAT(status.message,
              testing::AllOf(testing::HasSubstr("broken"), testing::HasSubstr("no_such_name")));
}

TEST_F(OpenClNative, RefusesMoreThanTheLargestAllocationWithBothNumbers) {
  Context context(*backend(), 0);
  plugin::Buffer* buffer = nullptr;
  const plugin::Status status = context.device().allocate(uint64_t{1} << 50, &buffer);
  EXPECT_EQ(status.code, plugin::StatusCode::OutOfMemory);
  EXPECT_THAT(status.message,
              testing::AllOf(testing::HasSubstr("1125899906842624"),
                             testing::HasSubstr(std::to_string(context.properties().largest_allocation))));
  context.allocate(1 << 20);
}

// A result larger than the caches is stored past them, in blocks; before, between and behind whole blocks too
// every element must be right, and no other written.
template <typename T>
void add_past_the_caches(Context& context, cl_ulong cache, DType type, int64_t offset) {
  const auto n = static_cast<int64_t>(cache / sizeof(T)) + 777;
  const auto bytes = static_cast<uint64_t>(n + offset + 100) * sizeof(T);
  std::vector<T> a(bytes / sizeof(T)), b(a.size()), out(a.size(), T{99});
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<T>(i % 61);
    b[i] = static_cast<T>(i % 47);
  }
  std::vector<T>* const values[3] = {&out, &a, &b};
  Launch launch({n});
  std::vector<Owned<plugin::Buffer>> buffers;
  for (std::vector<T>* each : values) {
    buffers.push_back(context.allocate(bytes));
    require_ok(context.stream().upload(buffers.back().get(), 0, each->data(), bytes), "upload");
    launch.operand(*buffers.back(), type, {1}, offset);
  }
  plugin::KernelDesc desc = make_desc(plugin::Family::Elementwise);
  desc.program = one_op_program(plugin::ScalarOp::add, {type, type}, type);
  const auto kernel = context.create_kernel(desc);
  launch.run(context, *kernel);
  require_ok(context.stream().download(out.data(), buffers[0].get(), 0, bytes), "download");
  context.synchronize();
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
    const bool inside = i >= offset && i < offset + n;
    const T expected = inside ? static_cast<T>(i % 61 + i % 47) : T{99};
    ASSERT_EQ(out[static_cast<size_t>(i)], expected) << "element " << i << " of " << n << " from " << offset;
  }
}

TEST_F(OpenClNative, ALargeResultIsRightInEveryElement) {
  cl_ulong cache = 0;
  ASSERT_EQ(clGetDeviceInfo(device_, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof cache, &cache, nullptr),
            CL_SUCCESS);
  if (cache == 0) cache = cl_ulong{8} << 20;  // what is assumed where the device does not say
  Context context(*backend(), 0);
  if (cache * 2 > context.properties().largest_allocation) GTEST_SKIP() << "its caches are half its memory";
  add_past_the_caches<uint8_t>(context, cache, DType::UInt8, 3);
  add_past_the_caches<float>(context, cache, DType::Float32, 5);
}

TEST_F(OpenClNative, PartsOfOneDeviceCopyDirectlyAndOthersSayThatTheyDoNot) {
  if (backend()->device_count() < 2) GTEST_SKIP() << "one device only";
  Context first(*backend(), 0), second(*backend(), 1);
  const Values values = some_values(DType::Float32, 1000, 7);
  const auto src = first.upload(values), dst = second.allocate(values.byte_size());
  require_ok(second.device().can_copy_from(&first.device()), "can_copy_from");
  require_ok(second.stream().copy_from_peer(dst.get(), 0, &first.device(), src.get(), 0, values.byte_size()),
             "copy");
  require_same(second.download(*dst, DType::Float32, 1000), values, "the copy");
  const Owned<plugin::Device> stranger = open();
  EXPECT_EQ(second.device().can_copy_from(stranger.get()).code, plugin::StatusCode::Unimplemented);
}

TEST_F(OpenClNative, AStreamWaitsForAnEventOfAnotherContext) {
  Context context(*backend(), 0);
  const Owned<plugin::Device> stranger = open();
  plugin::Event* made = nullptr;
  require_ok(stranger->create_host_event(&made), "create_host_event");
  const Owned<plugin::Event> host(made);
  require_ok(context.stream().wait(host.get()), "wait");
  const auto buffer = context.allocate(4);
  const uint32_t pattern = 7;
  require_ok(context.stream().fill(buffer.get(), 0, 4, &pattern, 4), "fill");
  const auto event = context.create_event();
  require_ok(context.stream().record(event.get()), "record");
  bool complete = true;
  require_ok(event->query(&complete), "query");
  EXPECT_FALSE(complete);
  EXPECT_EQ(event->wait(1000000).code, plugin::StatusCode::Unavailable);
  require_ok(host->signal(), "signal");
  require_ok(event->wait(kMinute), "wait");
}

}  // namespace
}  // namespace backplane::conformance
