// SPDX-License-Identifier: Apache-2.0
//
// backplane-bench-memory: copies within the host, between devices and through the host, and what memory
// costs.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "backplane/backplane.h"
#include "device/device_state.h"
#include "machine.h"
#include "memory/pool.h"
#include "pairs.h"
#include "stream/stream_state.h"

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

// A bare memcpy knows the addresses; one between tensors asks for them, and so for what is queued, as a host
// program that does the copy itself would.
void host_copies() {
  for (int64_t size = 16; size <= 512 * kMiB; size *= size < kMiB ? 8 : 4) {
    const Tensor from = bytes_on("cpu:0", size), to = bytes_on("cpu:0", size);
    const auto ours = [=] { to.assign(from); };
    const auto peer = [to = to.data<uint8_t>(), from = from.data<uint8_t>(), bytes = from.nbytes()] {
      std::memcpy(to, from, bytes);
      benchmark::ClobberMemory();
    };
    add_pair("copy of " + readable(size) + " against memcpy", Goal::SpeedAtLeast, 0.95, ours, "bare memcpy",
             peer);
    if (size < 4096)
      add_pair("copy of " + readable(size) + " against memcpy by data()", Goal::SpeedAtLeast, 0.95, ours,
               "memcpy between data<uint8_t>()", [=] {
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

// One leg of a staged copy alone: the same pieces, through as much host memory, in the same order.
class Leg {
 public:
  enum class Way { Download, Upload };

  Leg(const Tensor& there, Way way) : there_(there), way_(way) {
    for (int i = 0; i < kPieces; ++i) host_.push_back(bytes_on("cpu:0", kPiece));
  }
  void operator()() const {
    for (int64_t at = 0; at < there_.size(); at += kPiece) {
      const Tensor& host = host_[static_cast<size_t>(at / kPiece % kPieces)];
      const Tensor piece = there_.slice(0, {at, at + kPiece});
      way_ == Way::Download ? host.assign(piece) : piece.assign(host);
    }
    (way_ == Way::Download ? host_[static_cast<size_t>((there_.size() / kPiece - 1) % kPieces)] : there_)
        .ready()
        .wait();
  }
  const char* name() const { return way_ == Way::Download ? "download alone" : "upload alone"; }
  double seconds() const {
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      (*this)();
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return best;
  }

 private:
  static constexpr int64_t kPiece = kMiB;  // core's own
  static constexpr int kPieces = 8;

  Tensor there_;
  Way way_;
  std::vector<Tensor> host_;
};

// Test devices with memory of their own: each stream copies in one thread.
void staged_copies() {
  if (!is_here("far:1")) return;
  for (const int64_t size : {16 * kMiB, 256 * kMiB}) {
    const Tensor from = bytes_on("far:0", size), to = bytes_on("far:1", size);
    const Leg download(from, Leg::Way::Download), upload(to, Leg::Way::Upload);
    const Leg& slower = download.seconds() > upload.seconds() ? download : upload;
    add_pair(
        readable(size) + " staged, against its slower leg", Goal::SpeedAtLeast, 0.85,
        [=] { copy_and_wait(to, from); }, slower.name(), slower);
  }
}

void plain_allocation() {
  void* block = std::malloc(4096);
  benchmark::DoNotOptimize(block);
  benchmark::ClobberMemory();
  std::free(block);
}

// The pool's block alone; and as operators have it for their results, with the tensor around it.
void allocations() {
  internal::DeviceState& device = *Device("cpu:0").state();
  for (const int64_t size : {int64_t{4096}, 64 * kMiB}) {
    const Tensor like = empty({size}, uint8, "cpu:0");
    add_pair(
        "warm allocation of " + readable(size) + " from the pool", Goal::TimeAtMost, 1,
        [size, &device] {
          internal::UseList uses;
          const internal::Block block =
              device.pool->allocate(static_cast<uint64_t>(size), internal::current_stream(device), &uses);
          benchmark::DoNotOptimize(block.host);
          device.pool->free(block, std::move(uses));
        },
        "malloc and free of 4 KiB", plain_allocation);
    add_pair(
        "warm allocation of " + readable(size) + ", with its tensor", Goal::TimeAtMost, 1,
        [=] { benchmark::DoNotOptimize(empty_like(like)); }, "malloc and free of 4 KiB", plain_allocation);
  }
}

}  // namespace

int main(int argc, char** argv) {
  RuntimeOptions options;
  options.plugin_folders = {BENCH_PLUGINS};
  if (std::filesystem::exists(BENCH_FAR_PLUGINS)) options.plugin_folders.emplace_back(BENCH_FAR_PLUGINS);
  Runtime::configure(options);
  allocations();
  host_copies();
  copies_with_opencl();
  staged_copies();
  return bench::run_pairs(argc, argv, "Memory, streams, copies");
}
