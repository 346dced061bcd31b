// SPDX-License-Identifier: Apache-2.0
//
// backplane-bench-memory: copies within the host, between devices and through the host, and what memory
// costs.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "backplane/backplane.h"
#include "machine.h"
#include "pairs.h"

namespace {

using namespace backplane;
using bench::add_pair;
using bench::Goal;

constexpr int64_t kMiB = 1 << 20;

std::string readable(int64_t bytes) {
  if (bytes >= kMiB) return std::to_string(bytes / kMiB) + " MiB";
  return bytes >= 1024 ? std::to_string(bytes / 1024) + " KiB" : std::to_string(bytes) + " B";
}

Tensor bytes_on(const Device& device, int64_t count) {
  return full({count}, 1, uint8, "cpu:0").copy_to(device);
}

bool is_here(const char* device) {
  for (const Device& known : devices())
    if (known.name() == device) return true;
  return false;
}

void stream_copy(const Tensor& to, const Tensor& from) {
  bench::streaming_copy(reinterpret_cast<float*>(to.data<uint8_t>()),
                        reinterpret_cast<float*>(from.data<uint8_t>()), from.nbytes());
}

void host_copies() {
  for (int64_t size = 16; size <= 512 * kMiB; size *= size < kMiB ? 8 : 4) {
    const Tensor from = bytes_on("cpu:0", size), to = bytes_on("cpu:0", size);
    const auto ours = [=] { to.assign(from); };
    add_pair("copy of " + readable(size) + " against memcpy", Goal::SpeedAtLeast, 0.95, ours, "memcpy", [=] {
      std::memcpy(to.data<uint8_t>(), from.data<uint8_t>(), from.nbytes());
      benchmark::ClobberMemory();
    });
    if (size >= 4096)
      add_pair("copy of " + readable(size) + " against streaming", Goal::SpeedAtLeast, 0.95, ours,
               "two streaming threads", [=] { stream_copy(to, from); });
  }
  const Tensor x = uniform({4096, 4096}, 3), y = empty({4096, 4096});
  add_pair(
      "transposing copy, 4096x4096 float32", Goal::SpeedAtLeast, 0.6, [=] { y.assign(x.transpose()); },
      "plain copy", [=] { y.assign(x); });
}

void copy_and_wait(const Tensor& to, const Tensor& from) {
  to.assign(from);
  to.ready().wait();
}

void copies_with_opencl() {
  if (!is_here("opencl:0")) return;
  const Tensor host = bytes_on("cpu:0", 64 * kMiB), back = bytes_on("cpu:0", 64 * kMiB);
  const Tensor there = bytes_on("opencl:0", 64 * kMiB);
  const auto peer = [=] { stream_copy(back, host); };
  add_pair(
      "64 MiB from the CPU to OpenCL", Goal::SpeedAtLeast, 0.9, [=] { copy_and_wait(there, host); },
      "two streaming threads", peer);
  add_pair(
      "64 MiB from OpenCL to the CPU", Goal::SpeedAtLeast, 0.9, [=] { copy_and_wait(back, there); },
      "two streaming threads", peer);
}

// Test devices with memory of their own: each stream copies in one thread.
void staged_copies() {
  if (!is_here("far:1")) return;
  for (const int64_t size : {16 * kMiB, 256 * kMiB}) {
    const Tensor from = bytes_on("far:0", size), to = bytes_on("far:1", size), host = bytes_on("cpu:0", size);
    const auto ours = [=] { copy_and_wait(to, from); };
    add_pair(readable(size) + " staged, against its download", Goal::SpeedAtLeast, 0.85, ours,
             "download alone", [=] { copy_and_wait(host, from); });
    add_pair(readable(size) + " staged, against its upload", Goal::SpeedAtLeast, 0.85, ours, "upload alone",
             [=] { copy_and_wait(to, host); });
  }
}

void plain_allocation() {
  void* block = std::malloc(4096);
  benchmark::DoNotOptimize(block);
  benchmark::ClobberMemory();
  std::free(block);
}

void allocations() {
  for (const int64_t size : {int64_t{4096}, 64 * kMiB})
    add_pair(
        "warm allocation of " + readable(size), Goal::TimeAtMost, 1,
        [=] { benchmark::DoNotOptimize(empty({size}, uint8)); }, "malloc and free of 4 KiB",
        plain_allocation);
}

}  // namespace

int main(int argc, char** argv) {
  RuntimeOptions options;
  if (std::filesystem::exists(BENCH_PLUGINS)) options.plugin_folders = {BENCH_PLUGINS};
  Runtime::configure(options);
  allocations();
  host_copies();
  copies_with_opencl();
  staged_copies();
  return bench::run_pairs(argc, argv, "Memory, streams, copies");
}
