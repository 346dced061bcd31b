// SPDX-License-Identifier: Apache-2.0
//
// backplane-bench-scaling: what grows with what. A call with many tensors alive, memory for each tensor and
// device, the time to the first result in a fresh process against bare OpenCL's and TBB's, and two CPU
// devices of one core against one. Fresh processes are this program again, with the name of a part.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "backplane/backplane.h"
#include "ls/text.h"
#include "timing.h"

#if defined(BACKPLANE_HAVE_BARE)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <oneapi/tbb/parallel_for.h>
#endif

namespace {

using namespace backplane;
using namespace backplane::bench;
using backplane::tools::time_text;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Bytes of this process that are in memory.
double resident() {
  std::ifstream file("/proc/self/statm");
  double total = 0, in_memory = 0;
  file >> total >> in_memory;
  return in_memory * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

void live_tensors() {
  fmt::print("\n| live tensors | add of 16 float32 | ratio to one | resident bytes a tensor of 64 |\n");
  fmt::print("| --- | --- | --- | --- |\n");
  const Tensor a = ones({16}), b = ones({16});
  std::vector<Tensor> live;
  live.reserve(1000000);
  double first = 0;
  const double before = resident();
  for (const size_t count : {1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u}) {
    while (live.size() < count) live.push_back(add(a, b));
    const double bytes = (resident() - before) / static_cast<double>(count);
    const double time = measure([&] { const Tensor c = add(a, b); }, [] {}, Effort{9, 0.02}).seconds;
    if (count == 1) first = time;
    fmt::print("| {} | {} | {:.2f} | {} |\n", count, time_text(time), time / first,
               count < 1000 ? "-" : fmt::format("{:.0f}", bytes));
  }
}

// The first use of each device; its memory is what it adds to the process.
void first_uses() {
  fmt::print("\n| first use of | time | resident |\n| --- | --- | --- |\n");
  double memory = resident(), time = now();
  const auto row = [&](const std::string& name) {
    fmt::print("| {} | {} | {:.1f} MB |\n", name, time_text(now() - time), (resident() - memory) / 1e6);
    memory = resident(), time = now();
  };
  const std::vector<Device> all = devices();
  row("the runtime (plugins loaded, devices listed)");
  for (const Device& device : all) {
    const Tensor x = ones({16}, float32, device);
    static_cast<void>((x + x).to_vector<float>());
    row(device.name());
  }
}

// Loads all plugins, lists, computes on every device.
void first_result() {
  for (const Device& device : devices()) {
    const Tensor x = ones({16}, float32, device);
    static_cast<void>((x + x).to_vector<float>());
  }
}

#if defined(BACKPLANE_HAVE_BARE)
// What no program that uses both libraries can do without.
void bare() {
  cl_uint count = 0;
  clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  clGetPlatformIDs(count, platforms.data(), nullptr);
  for (const cl_platform_id platform : platforms) {
    cl_device_id device = nullptr;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) continue;
    cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    if (context != nullptr) clCreateCommandQueue(context, device, 0, nullptr);
  }
  std::array<float, 1024> values{};
  oneapi::tbb::parallel_for(0, 1024, [&](int i) { values[static_cast<size_t>(i)] = 1; });
}
#endif

// A process of its own, which prints its seconds.
double fresh(const std::string& part) {
  const std::string command = "/proc/" + std::to_string(::getpid()) + "/exe " + part;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  double seconds = 0;
  const bool read = pipe != nullptr && std::fscanf(pipe, "%lf", &seconds) == 1;
  if (pipe == nullptr || ::pclose(pipe) != 0 || !read) throw std::runtime_error(part + " failed");
  return seconds;
}

void pair(const std::string& work, const std::string& ours, const std::string& peer, double goal) {
  std::vector<double> mine, others, ratios;
  fresh(ours);  // warms the kernel cache on disk
  for (int i = 0; i < 7; ++i) {
    mine.push_back(fresh(ours));
    others.push_back(fresh(peer));
    ratios.push_back(mine.back() / others.back());
  }
  fmt::print("| {} | {} | {} | {} | {:.2f} | ≤ {} | {} |\n", work, time_text(median(mine)), peer,
             time_text(median(others)), median(ratios), goal, median(ratios) <= goal ? "met" : "missed");
}

struct Products {
  Tensor a, b, c;
  explicit Products(const Device& device)
      : a(uniform({1024, 1024}, 1, 0, 1, float32, device)), b(a.clone()), c(matmul(a, b)) {}
  void run() const { matmul_out(c, a, b); }
};

double two_products(bool together) {
  ::setenv("BACKPLANE_CPU_DEVICES", "2", 1);
  const Products first(Device("cpu:0")), second(Device(together ? "cpu:1" : "cpu:0"));
  const auto work = [&] {
    if (!together) return first.run(), second.run();
    std::thread other([&] { second.run(); });
    first.run();
    other.join();
  };
  return measure(
             work, [] {}, Effort{5, 0.1})
      .seconds;
}

double timed(void (*work)()) {
  const double start = now();
  work();
  return now() - start;
}

int part(const std::string& name) {
  double seconds = 0;
  if (name == "first-result") seconds = timed(first_result);
#if defined(BACKPLANE_HAVE_BARE)
  if (name == "bare-opencl-and-tbb") seconds = timed(bare);
#endif
  if (name == "two-devices-at-once") seconds = two_products(true);
  if (name == "one-core-both") seconds = two_products(false);
  fmt::print("{}\n", seconds);
  return seconds > 0 ? 0 : 1;
}

void all_parts() {
  first_uses();
  live_tensors();
  fmt::print(
      "\n| work | ours | against | its time | ratio | goal | |\n| --- | --- | --- | --- | --- | --- | --- "
      "|\n");
#if defined(BACKPLANE_HAVE_BARE)
  pair("time to the first result on every device", "first-result", "bare-opencl-and-tbb", 1.5);
#endif
  pair("two products on two devices of one core", "two-devices-at-once", "one-core-both", 0.55);
}

}  // namespace

int main(int count, char** values) {
  try {
    if (count == 2) return part(values[1]);
    all_parts();
  } catch (const std::exception& error) {
    fmt::print(stderr, "backplane-bench-scaling: {}\n", error.what());
    return 1;
  }
  return 0;
}
