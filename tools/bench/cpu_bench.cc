// SPDX-License-Identifier: Apache-2.0
//
// backplane-bench-cpu: what the CPU plugin costs, against loops at the limit of the machine and against
// libraries called directly, in one run.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "backplane/backplane.h"
#include "machine.h"
#include "pairs.h"
#include "peers/libraries.h"

namespace {

using namespace backplane;
using bench::add_pair;
using bench::Goal;

constexpr int64_t kLarge = int64_t{1} << 24;

// The call that any runtime could at best be: allocate, add, free.
void plain_small_add() {
  static float a[16] = {1}, b[16] = {2};
  auto* c = static_cast<float*>(std::malloc(64));
  for (int i = 0; i < 16; ++i) c[i] = a[i] + b[i];
  benchmark::DoNotOptimize(c);
  benchmark::ClobberMemory();
  std::free(c);
}

void small_calls() {
  const Tensor a = ones({16}), b = ones({16});
  add_pair(
      "add of 16 float32, new result", Goal::TimeAtMost, 8, [=] { benchmark::DoNotOptimize(add(a, b)); },
      "malloc, add, free", plain_small_add);
}

void large_elementwise() {
  const Tensor a = uniform({kLarge}, 1), b = uniform({kLarge}, 2), c = empty({kLarge});
  add_pair(
      "add of 2^24 float32, existing result", Goal::SpeedAtLeast, 0.9, [=] { add_out(c, a, b); },
      "streaming triad",
      [=] { bench::streaming_triad(c.data<float>(), a.data<float>(), b.data<float>(), kLarge); });
  add_pair(
      "add of 2^24 float32, new result", Goal::SpeedAtLeast, 0.9,
      [=] { benchmark::DoNotOptimize(add(a, b)); }, "streaming triad",
      [=] { bench::streaming_triad(c.data<float>(), a.data<float>(), b.data<float>(), kLarge); });
  add_pair(
      "five operators fused, 2^24", Goal::SpeedAtLeast, 3,
      [=] {
        fuse_out(
            c, [](Expr x, Expr y) { return relu(x * y + 1.0) * 0.5 - y; }, a, b);
      },
      "one by one", [=] { benchmark::DoNotOptimize(relu(a * b + 1.0) * 0.5 - b); });
  add_pair(
      "sum of 2^24 float32", Goal::SpeedAtLeast, 0.9, [=] { benchmark::DoNotOptimize(sum(a)); }, "plain read",
      [=] { benchmark::DoNotOptimize(bench::plain_read(a.data<float>(), kLarge)); });
}

void rows() {
  const Tensor x = uniform({4096, 4096}, 3), y = empty({4096, 4096});
  add_pair(
      "softmax over rows, 4096x4096", Goal::SpeedAtLeast, 0.4, [=] { benchmark::DoNotOptimize(softmax(x)); },
      "streaming copy", [=] { bench::streaming_copy(y.data<float>(), x.data<float>(), x.nbytes()); });
  add_pair(
      "softmax over columns, 4096x4096", Goal::SpeedAtLeast, 0.4,
      [=] { benchmark::DoNotOptimize(softmax(x, 0)); }, "streaming copy",
      [=] { bench::streaming_copy(y.data<float>(), x.data<float>(), x.nbytes()); });
  add_pair(
      "transpose copied contiguous, 4096x4096", Goal::SpeedAtLeast, 0.6,
      [=] { benchmark::DoNotOptimize(x.transpose().contiguous()); }, "streaming copy",
      [=] { bench::streaming_copy(y.data<float>(), x.data<float>(), x.nbytes()); });
}

void narrow_products() {
  const int64_t n = 1024;
  const Tensor a = integers({n, n}, 1, -128, 128, int8), b = integers({n, n}, 2, -128, 128, int8),
               c = empty({n, n}, int32);
  if (bench::integer_gemm_peer() != nullptr)
    add_pair(
        "matmul of int8 with int32 results, n = 1024", Goal::SpeedAtLeast, 0.9,
        [=] { benchmark::DoNotOptimize(matmul(a, b, int32)); }, "oneDNN",
        [=] { bench::integer_gemm_peer()(n, a.data<int8_t>(), b.data<int8_t>(), c.data<int32_t>()); });
  for (const DType type : {float16, bfloat16}) {
    const Tensor x = uniform({n, n}, 1, -1, 1).astype(type), y = uniform({n, n}, 2, -1, 1).astype(type);
    add_pair(
        "matmul of " + std::string(to_string(type)) + ", n = 1024", Goal::TimeAtMost, 1,
        [=] { benchmark::DoNotOptimize(matmul(x, y)); }, "by way of float32",
        [=] { benchmark::DoNotOptimize(matmul(x.astype(float32), y.astype(float32)).astype(type)); });
  }
}

void products() {
  for (const int64_t n : {64, 100, 256, 512, 1024, 2048}) {
    const Tensor a = uniform({n, n}, 1, -1, 1), b = uniform({n, n}, 2, -1, 1), c = empty({n, n});
    for (const bench::Gemm& peer : bench::gemm_peers())
      add_pair(
          "matmul n = " + std::to_string(n) + " against " + peer.name, Goal::SpeedAtLeast, 0.9,
          [=] { matmul_out(c, a, b); }, peer.name,
          [=] { peer.run(n, a.data<float>(), b.data<float>(), c.data<float>()); });
  }
  const Tensor a = uniform({1000, 100, 100}, 1), b = uniform({1000, 100, 100}, 2),
               c = empty({1000, 100, 100});
  narrow_products();
  if (bench::batched_matmul_peer() != nullptr)
    add_pair(
        "1000 products 100x100", Goal::SpeedAtLeast, 1, [=] { matmul_out(c, a, b); }, "oneDNN batched",
        [=] { bench::batched_matmul_peer()(1000, 100, a.data<float>(), b.data<float>(), c.data<float>()); });
}

}  // namespace

int main(int argc, char** argv) {
  small_calls();
  large_elementwise();
  rows();
  products();
  return backplane::bench::run_pairs(argc, argv, "CPU plugin");
}
