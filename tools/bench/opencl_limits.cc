// SPDX-License-Identifier: Apache-2.0
//
// Bare OpenCL calls, through a loader that is looked for when the program runs.
#include "machine_limits.h"

#if defined(BACKPLANE_HAVE_OPENCL_HEADERS)

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

namespace backplane::bench {
namespace {

struct Api {
  decltype(&clGetPlatformIDs) get_platforms = nullptr;
  decltype(&clGetDeviceIDs) get_devices = nullptr;
  decltype(&clCreateContext) create_context = nullptr;
  decltype(&clCreateCommandQueue) create_queue = nullptr;
  decltype(&clCreateProgramWithSource) create_program = nullptr;
  decltype(&clBuildProgram) build = nullptr;
  decltype(&clCreateKernel) create_kernel = nullptr;
  decltype(&clCreateBuffer) create_buffer = nullptr;
  decltype(&clSetKernelArg) set_argument = nullptr;
  decltype(&clEnqueueNDRangeKernel) launch = nullptr;
  decltype(&clEnqueueWriteBuffer) write = nullptr;
  decltype(&clEnqueueReadBuffer) read = nullptr;
  decltype(&clFinish) finish = nullptr;
};

bool load(Api& api) {
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  bool complete = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    complete = complete && function != nullptr;
  };
  find(api.get_platforms, "clGetPlatformIDs");
  find(api.get_devices, "clGetDeviceIDs");
  find(api.create_context, "clCreateContext");
  find(api.create_queue, "clCreateCommandQueue");
  find(api.create_program, "clCreateProgramWithSource");
  find(api.build, "clBuildProgram");
  find(api.create_kernel, "clCreateKernel");
  find(api.create_buffer, "clCreateBuffer");
  find(api.set_argument, "clSetKernelArg");
  find(api.launch, "clEnqueueNDRangeKernel");
  find(api.write, "clEnqueueWriteBuffer");
  find(api.read, "clEnqueueReadBuffer");
  find(api.finish, "clFinish");
  return complete;
}

// A queue, a buffer and the smallest kernel on the first device. They live as long as the process.
struct Bare {
  Api api;
  cl_command_queue queue = nullptr;
  cl_mem buffer = nullptr;
  cl_kernel kernel = nullptr;

  bool open(size_t bytes) {
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    if (!load(api) || api.get_platforms(1, &platform, nullptr) != CL_SUCCESS ||
        api.get_devices(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS)
      return false;
    cl_context context = api.create_context(nullptr, 1, &device, nullptr, nullptr, nullptr);
    if (context == nullptr) return false;
    queue = api.create_queue(context, device, 0, nullptr);
    buffer = api.create_buffer(context, CL_MEM_READ_WRITE, bytes, nullptr, nullptr);
    const char* source = "__kernel void touch(__global float* x) { x[get_global_id(0)] = 1.0f; }";
    cl_program program = api.create_program(context, 1, &source, nullptr, nullptr);
    if (queue == nullptr || buffer == nullptr || program == nullptr ||
        api.build(program, 1, &device, "", nullptr, nullptr) != CL_SUCCESS)
      return false;
    kernel = api.create_kernel(program, "touch", nullptr);
    return kernel != nullptr && api.set_argument(kernel, 0, sizeof buffer, &buffer) == CL_SUCCESS;
  }
  void launch() const {
    const size_t one = 1;
    api.launch(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr);
  }
};

}  // namespace

std::vector<Limit> opencl_limits(const Effort& effort) {
  constexpr size_t kBytes = size_t{16} << 20;
  Bare bare;
  if (!bare.open(kBytes)) return {};
  std::vector<char> host(kBytes, 1);
  const auto none = [] {};
  const auto finish = [&] { bare.api.finish(bare.queue); };
  const double empty = measure([&] { bare.launch(), finish(); }, none, effort).seconds;
  const double pipelined = measure([&] { bare.launch(); }, finish, effort).seconds;
  const auto copy = [&](auto function) {
    const Timing time = measure(
        [&] { function(bare.queue, bare.buffer, CL_TRUE, 0, kBytes, host.data(), 0, nullptr, nullptr); },
        none, effort);
    return kBytes / time.seconds / 1e9;
  };
  return {
      {"OpenCL launch and finish", empty * 1e6, "µs"},
      {"OpenCL pipelined launch", pipelined * 1e6, "µs"},
      {"OpenCL clEnqueueWriteBuffer", copy(bare.api.write), "GB/s"},
      {"OpenCL clEnqueueReadBuffer", copy(bare.api.read), "GB/s"},
  };
}

}  // namespace backplane::bench

#else

namespace backplane::bench {

std::vector<Limit> opencl_limits(const Effort&) { return {}; }

}  // namespace backplane::bench

#endif
