// SPDX-License-Identifier: Apache-2.0
//
// backplane-bench-opencl: what the OpenCL plugin costs at the boundary, against the same work done with bare
// OpenCL calls, and its matrix product against CLBlast called directly and against the CPU plugin, in one
// run, on device 0. First uses are timed once, without any cache on disk; set POCL_CACHE_DIR to an empty
// folder to have PoCL's own empty too.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include "launch.h"
#include "pairs.h"

namespace {

using namespace backplane::conformance;
namespace plugin = backplane::plugin;
using backplane::bench::add_pair;
using backplane::bench::Goal;

constexpr uint64_t kForever = UINT64_MAX;
constexpr int64_t kLarge = int64_t{1} << 24;
constexpr int kLaunches = 500;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Bare OpenCL on the plugin's own context, in a queue of its own.
struct Bare {
  explicit Bare(Context& context) {
    void* handle = nullptr;
    require_ok(context.device().native_handle(plugin::NativeHandle::Context, &handle), "native_handle");
    this->context = static_cast<cl_context>(handle);
    require_ok(context.device().native_handle(plugin::NativeHandle::Device, &handle), "native_handle");
    device = static_cast<cl_device_id>(handle);
    queue = clCreateCommandQueue(this->context, device, 0, nullptr);
  }
  cl_mem memory(plugin::Buffer& buffer) const {
    void* handle = nullptr;
    require_ok(buffer.native_handle(&handle), "native_handle");
    return static_cast<cl_mem>(handle);
  }

  cl_context context;
  cl_device_id device;
  cl_command_queue queue;
};

// The loop that the plugin generates for this addition, without its offsets and strides.
constexpr char kAdd[] =
    "__attribute__((reqd_work_group_size(1, 1, 1)))\n"
    "__kernel void add(__global float* out, __global const float* a, __global const float* b, long n, long "
    "each) {\n"
    "  const long first = get_global_id(0) * each, last = min(first + each, n);\n"
    "#pragma clang loop vectorize(assume_safety)\n"
    "  for (long i = first; i < last; ++i) out[i] = a[i] + b[i];\n}\n";

// The same, past the caches. The buffers begin at multiples of 64 bytes.
constexpr char kStreamingAdd[] =
    "__attribute__((reqd_work_group_size(1, 1, 1)))\n"
    "__kernel void add(__global float* out, __global const float* a, __global const float* b, long n, long "
    "each) {\n"
    "  const long first = get_global_id(0) * each, last = min(first + each, n);\n"
    "  for (long i = first; i + 8 <= last; i += 8)\n"
    "    __builtin_nontemporal_store(vload8(0, a + i) + vload8(0, b + i), (__global float8*)(out + i));\n}\n";

struct Addition {
  Addition(Context& context, const Bare& bare, int64_t n, const char* text) : n(n), launch_args({n}) {
    for (auto& buffer : buffers) {
      buffer = context.allocate(static_cast<uint64_t>(n) * 4);
      const float one = 1;
      require_ok(context.stream().fill(buffer.get(), 0, buffer->size(), &one, 4), "fill");
      launch_args.operand(*buffer, DType::Float32, {1});
    }
    context.synchronize();
    plugin::KernelDesc desc = make_desc(plugin::Family::Elementwise);
    desc.layout = plugin::Layout::Contiguous;
    desc.program = one_op_program(plugin::ScalarOp::add, {DType::Float32, DType::Float32}, DType::Float32);
    kernel = context.create_kernel(desc);
    const cl_program program = clCreateProgramWithSource(bare.context, 1, &text, nullptr, nullptr);
    clBuildProgram(program, 1, &bare.device, "", nullptr, nullptr);
    native = clCreateKernel(program, "add", nullptr);
    const cl_long count = n;
    const cl_long each = n < 4096 ? n : 32768;
    for (cl_uint i = 0; i < 3; ++i) {
      const cl_mem memory = bare.memory(*buffers[i]);
      clSetKernelArg(native, i, sizeof(cl_mem), &memory);
    }
    clSetKernelArg(native, 3, sizeof count, &count);
    clSetKernelArg(native, 4, sizeof each, &each);
    groups = static_cast<size_t>((n + each - 1) / each);
  }

  int64_t n;
  Owned<plugin::Buffer> buffers[3];
  Launch launch_args;
  Owned<plugin::Kernel> kernel;
  cl_kernel native = nullptr;
  size_t groups = 0;
};

void additions(const std::shared_ptr<Context>& context, const Bare& bare, const std::string& name, int64_t n,
               int repeats, const char* text, Goal kind, double goal) {
  auto work = std::make_shared<Addition>(*context, bare, n, text);
  if (work->native == nullptr) {
    std::printf("%s: the device's compiler refuses the bare kernel\n", name.c_str());
    return;
  }
  add_pair(
      name, kind, goal,
      [=] {
        for (int i = 0; i < repeats; ++i)
          require_ok(work->launch_args.launch(*context, *work->kernel, context->stream()), "launch");
        require_ok(context->stream().synchronize(kForever), "synchronize");
      },
      "bare enqueues",
      [=] {
        const size_t one = 1;
        for (int i = 0; i < repeats; ++i)
          clEnqueueNDRangeKernel(bare.queue, work->native, 1, nullptr, &work->groups, &one, 0, nullptr,
                                 nullptr);
        clFinish(bare.queue);
      });
}

void copies(const std::shared_ptr<Context>& context, const Bare& bare) {
  constexpr uint64_t kBytes = uint64_t{64} << 20;
  auto host = std::shared_ptr<char>(static_cast<char*>(std::aligned_alloc(4096, kBytes)), std::free);
  std::fill_n(host.get(), kBytes, 1);
  auto buffer = std::make_shared<Owned<plugin::Buffer>>(context->allocate(kBytes));
  const cl_mem memory = bare.memory(**buffer);
  add_pair(
      "upload of 64 MiB", Goal::SpeedAtLeast, 4,
      [=] {
        require_ok(context->stream().upload(buffer->get(), 0, host.get(), kBytes), "upload");
        require_ok(context->stream().synchronize(kForever), "synchronize");
      },
      "clEnqueueWriteBuffer",
      [=] { clEnqueueWriteBuffer(bare.queue, memory, CL_TRUE, 0, kBytes, host.get(), 0, nullptr, nullptr); });
  add_pair(
      "download of 64 MiB", Goal::SpeedAtLeast, 4,
      [=] {
        require_ok(context->stream().download(host.get(), buffer->get(), 0, kBytes), "download");
        require_ok(context->stream().synchronize(kForever), "synchronize");
      },
      "clEnqueueReadBuffer",
      [=] { clEnqueueReadBuffer(bare.queue, memory, CL_TRUE, 0, kBytes, host.get(), 0, nullptr, nullptr); });
}

// CLBlast's C interface; layouts and transposes are the numbers of CBLAS.
using ClblastSgemm = int (*)(int, int, int, size_t, size_t, size_t, float, cl_mem, size_t, size_t, cl_mem,
                             size_t, size_t, float, cl_mem, size_t, size_t, cl_command_queue*, cl_event*);
ClblastSgemm find_clblast() {
  void* library = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<ClblastSgemm>(dlsym(library, "CLBlastSgemm"));
}

struct Product {
  Product(Context& context, int64_t n) : launch_args({n, n, n}) {
    for (auto& buffer : buffers) {
      buffer = context.allocate(static_cast<uint64_t>(n * n) * 4);
      const float one = 1;
      require_ok(context.stream().fill(buffer.get(), 0, buffer->size(), &one, 4), "fill");
    }
    context.synchronize();
    launch_args.operand(*buffers[0], DType::Float32, {n, 1, 0});
    launch_args.operand(*buffers[1], DType::Float32, {n, 0, 1});
    launch_args.operand(*buffers[2], DType::Float32, {0, 1, n});
    plugin::KernelDesc desc = make_desc(plugin::Family::Matmul);
    for (DType& type : desc.types) type = DType::Float32;
    desc.compute_type = DType::Float32;
    kernel = context.create_kernel(desc);
  }
  Owned<plugin::Buffer> buffers[3];
  Launch launch_args;
  Owned<plugin::Kernel> kernel;
};

std::function<void()> multiplication(const std::shared_ptr<Context>& context,
                                     const std::shared_ptr<Product>& work) {
  return [=] {
    require_ok(work->launch_args.launch(*context, *work->kernel, context->stream()), "launch");
    require_ok(context->stream().synchronize(kForever), "synchronize");
  };
}

void against_clblast(const Bare& bare, Product& work, int64_t n, const std::function<void()>& ours) {
  const ClblastSgemm clblast = find_clblast();
  if (clblast == nullptr) {
    std::printf("CLBlast: not installed (libclblast1), nothing to compare products with\n");
    return;
  }
  const cl_mem out = bare.memory(*work.buffers[0]), a = bare.memory(*work.buffers[1]),
               b = bare.memory(*work.buffers[2]);
  const auto theirs = [=] {
    const auto size = static_cast<size_t>(n);
    cl_command_queue queue = bare.queue;
    clblast(101, 111, 111, size, size, size, 1, a, 0, size, b, 0, size, 0, out, 0, size, &queue, nullptr);
    clFinish(queue);
  };
  std::printf("  CLBlast: first use %.2f s\n", seconds_of(theirs));
  add_pair("matmul n = " + std::to_string(n), Goal::SpeedAtLeast, 8, ours, "CLBlast", theirs);
}

// `cpu` may be null.
void products(const std::shared_ptr<Context>& context, const Bare& bare,
              const std::shared_ptr<Context>& cpu) {
  for (const int64_t n : {512, 1024, 2048}) {
    const auto work = std::make_shared<Product>(*context, n);
    const auto ours = multiplication(context, work);
    const double first = seconds_of(ours);
    const double again = seconds_of(ours);
    std::printf("matmul n = %d: first use %.2f s, again %.4f s (%.0f GFLOP/s)\n", static_cast<int>(n), first,
                again, 2e-9 * static_cast<double>(n * n * n) / again);
    if (n < 2048) against_clblast(bare, *work, n, ours);
    if (cpu != nullptr)
      add_pair("matmul n = " + std::to_string(n) + " (CPU)", Goal::SpeedAtLeast, 0.8, ours, "the CPU plugin",
               multiplication(cpu, std::make_shared<Product>(*cpu, n)));
  }
}

// A backend is never destroyed before the process ends. Null where there is no device.
std::shared_ptr<Context> open(const char* path, const std::map<std::string, std::string>& settings) {
  Options options;
  options.plugin_path = path;
  options.settings = settings;
  auto* const loaded = new LoadedPlugin(options);
  if (loaded->backend().device_count() == 0) return nullptr;
  return std::make_shared<Context>(loaded->backend(), 0);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto context = open(OPENCL_PLUGIN, {{"cache", "off"}});
    if (context == nullptr) {
      std::printf("no OpenCL device on this machine\n");
      return 0;
    }
    const Bare bare(*context);
    additions(context, bare, "add of 1024 float32, pipelined", 1024, kLaunches, kAdd, Goal::TimeAtMost, 1.2);
    additions(context, bare, "add of 2^24 float32 (loop)", kLarge, 1, kAdd, Goal::SpeedAtLeast, 0.95);
    additions(context, bare, "add of 2^24 float32 (streaming)", kLarge, 1, kStreamingAdd, Goal::SpeedAtLeast,
              1.0);
    copies(context, bare);
    products(context, bare, CPU_PLUGIN[0] == '\0' ? nullptr : open(CPU_PLUGIN, {}));
    return backplane::bench::run_pairs(argc, argv, std::string("OpenCL: ") + context->properties().name);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
