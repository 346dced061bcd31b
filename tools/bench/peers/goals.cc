// SPDX-License-Identifier: Apache-2.0
#include "goals.h"

#include <cstdlib>
#include <memory>

#include "backplane/backplane.h"
#include "libraries.h"
#include "machine.h"
#include "machine_limits.h"

namespace backplane::bench {
namespace {

constexpr int64_t kLarge = int64_t{1} << 24;

Opponent torch(const std::string& work, double goal) { return {"PyTorch", goal, work, {}}; }

// The call that any runtime could at best be: allocate 64 bytes, add, free.
void plain_small_add() {
  static volatile float a[16] = {1}, b[16] = {2};
  auto* c = static_cast<volatile float*>(std::malloc(64));
  for (int i = 0; i < 16; ++i) c[i] = a[i] + b[i];
  std::free(const_cast<float*>(c));
}

Tensor chain(const Tensor& a, const Tensor& b) { return relu(a * b + 1.0) * 0.5 - b; }

void add_small(std::vector<GoalRow>& rows) {
  rows.push_back({"add, 16 elements, new result", [] {
                    const Tensor a = ones({16}), b = ones({16});
                    return Contest{[=] { const Tensor c = add(a, b); },
                                   {torch("add16", 5), {"malloc, add, free", 1.0 / 8, "", plain_small_add}}};
                  }});
  rows.push_back({"add, 16 elements, existing result", [] {
                    const Tensor a = ones({16}), b = ones({16}), c = empty({16});
                    return Contest{[=] { add_out(c, a, b); }, {torch("add16_out", 5)}};
                  }});
  rows.push_back({"five operators on 16 elements", [] {
                    const Tensor a = ones({16}), b = ones({16});
                    return Contest{[=] { const Tensor c = chain(a, b); }, {torch("chain16", 5)}};
                  }});
  const auto view = [&](const std::string& name, Tensor (*make)(const Tensor&)) {
    rows.push_back({name, [=] {
                      const Tensor x = ones({8, 8});
                      return Contest{[=] { const Tensor y = make(x); }, {torch(name, 3)}};
                    }});
  };
  view("view", [](const Tensor& x) { return x.reshape({4, 16}); });
  view("transpose", [](const Tensor& x) { return x.transpose(); });
  view("slice", [](const Tensor& x) { return x.slice(0, {2, 6}); });
}

void add_large(std::vector<GoalRow>& rows) {
  rows.push_back({"add, 2^24, new result", [] {
                    const Tensor a = uniform({kLarge}, 1), b = uniform({kLarge}, 2), c = empty({kLarge});
                    const auto triad = [=] {
                      streaming_triad(c.data<float>(), a.data<float>(), b.data<float>(), kLarge);
                    };
                    return Contest{[=] { const Tensor d = add(a, b); },
                                   {torch("add_large", 4), {kTriad, 0.9, "", triad}}};
                  }});
  rows.push_back({"relu, 2^24, new result", [] {
                    const Tensor a = uniform({kLarge}, 1, -1, 1), c = empty({kLarge});
                    const auto copy = [=] { streaming_copy(c.data<float>(), a.data<float>(), a.nbytes()); };
                    return Contest{[=] { const Tensor d = relu(a); },
                                   {torch("relu_large", 4), {"streaming copy", 0.9, "", copy}}};
                  }});
  rows.push_back({"five operators, 2^24, new results", [] {
                    const Tensor a = uniform({kLarge}, 1), b = uniform({kLarge}, 2);
                    return Contest{[=] { const Tensor c = chain(a, b); }, {torch("chain_large", 4)}};
                  }});
  rows.push_back({"add, 2^24, existing result", [] {
                    const Tensor a = uniform({kLarge}, 1), b = uniform({kLarge}, 2), c = empty({kLarge});
                    return Contest{[=] { add_out(c, a, b); }, {torch("add_large_out", 1.3)}};
                  }});
  const auto map = [&](const std::string& name, const Tensor& (*function)(const Tensor&, const Tensor&)) {
    rows.push_back({name + ", 2^24, existing result", [=] {
                      const Tensor a = uniform({kLarge}, 1), c = empty({kLarge});
                      return Contest{[=] { function(c, a); }, {torch(name + "_large_out", 1.3)}};
                    }});
  };
  map("exp", exp_out);
  map("sigmoid", sigmoid_out);
  map("tanh", tanh_out);
}

void add_reductions(std::vector<GoalRow>& rows) {
  const auto reduction = [&](const std::string& name, Tensor (*function)(const Tensor&)) {
    rows.push_back({name + ", 2^24", [=] {
                      const Tensor a = uniform({kLarge}, 1);
                      const auto read = [=] { static_cast<void>(plain_read(a.data<float>(), kLarge)); };
                      return Contest{[=] { const Tensor b = function(a); },
                                     {torch(name + "_large", 1.2), {kRead, 0.9, "", read}}};
                    }});
  };
  reduction("sum", [](const Tensor& x) { return sum(x); });
  reduction("max", [](const Tensor& x) { return max(x); });
}

void add_moves(std::vector<GoalRow>& rows) {
  const auto work = [&](const std::string& name, const std::string& peer, double goal, const Shape& shape,
                        Tensor (*function)(const Tensor&)) {
    rows.push_back({name, [=] {
                      const Tensor x = uniform(shape, 1);
                      return Contest{[=] { const Tensor y = function(x); }, {torch(peer, goal)}};
                    }});
  };
  const Shape square{4096, 4096};
  work("softmax over rows, 4096x4096", "softmax_rows", 4, square,
       [](const Tensor& x) { return softmax(x, 1); });
  work("softmax over columns, 4096x4096", "softmax_columns", 4, square,
       [](const Tensor& x) { return softmax(x, 0); });
  work("layer_norm, 4096x4096", "layer_norm", 4, square, [](const Tensor& x) { return layer_norm(x); });
  work("transpose copied, 4096x4096", "transpose_copied", 6, square,
       [](const Tensor& x) { return x.transpose().contiguous(); });
  work("permute (2,0,1) copied, 64x256x1024", "permute_copied", 6, {64, 256, 1024}, [](const Tensor& x) {
    return x.permute({2, 0, 1}).contiguous();
  });
  const Shape keys{int64_t{1} << 22};
  work("sort, 2^22", "sort", 1.5, keys, [](const Tensor& x) { return sort(x); });
  work("argsort, 2^22", "argsort", 1.5, keys, [](const Tensor& x) { return argsort(x); });
  rows.push_back(
      {"take of 2^20 rows of 64", [] {
         const Tensor x = uniform({int64_t{1} << 20, 64}, 1), rows = permutation(int64_t{1} << 20, 2);
         return Contest{[=] { const Tensor y = take(x, rows); }, {torch("take_rows", 1.5)}};
       }});
  rows.push_back({"uniform, 2^24", [] {
                    const Tensor x = empty({kLarge});
                    return Contest{[=] { uniform_out(x, 1); }, {torch("uniform", 8)}};
                  }});
  rows.push_back({"normal, 2^24", [] {
                    const Tensor x = empty({kLarge});
                    return Contest{[=] { normal_out(x, 1); }, {torch("normal", 8)}};
                  }});
}

Contest product(int64_t n) {
  const Tensor a = uniform({n, n}, 1, -1, 1), b = uniform({n, n}, 2, -1, 1), c = empty({n, n});
  const double goal = n < 512 ? 1.1 : 1;
  Contest contest{[=] { matmul_out(c, a, b); }, {torch("matmul_" + std::to_string(n), goal)}};
  for (const Gemm& peer : gemm_peers())
    contest.opponents.push_back(
        {peer.name, goal, "", [=] { peer.run(n, a.data<float>(), b.data<float>(), c.data<float>()); }});
  const double operations = 2.0 * static_cast<double>(n * n * n);
  if (n >= 1024) contest.opponents.push_back({kPeak, 0.9, "", [=] { run_multiply_adds(operations); }});
  return contest;
}

Contest narrow_product(DType type) {
  const Tensor a = uniform({1024, 1024}, 1).astype(type), b = uniform({1024, 1024}, 2).astype(type);
  const Tensor c = matmul(a, b);
  return {[=] { matmul_out(c, a, b); },
          {{"converting first", 1, "", [=] { c.assign(matmul(a.astype(float32), b.astype(float32))); }}}};
}

Contest int8_product() {
  const Tensor a = integers({1024, 1024}, 1, -100, 100, int8), b = integers({1024, 1024}, 2, -100, 100, int8);
  const Tensor c = matmul(a, b, int32);
  Contest contest{[=] { matmul_out(c, a, b, int32); }, {}};
  if (const Int8Matmul peer = int8_matmul_peer())
    contest.opponents.push_back(
        {"oneDNN", 0.9, "", [=] { peer(1024, a.data<int8_t>(), b.data<int8_t>(), c.data<int32_t>()); }});
  return contest;
}

Contest many_products() {
  const Shape shape{1000, 100, 100};
  const Tensor a = uniform(shape, 1), b = uniform(shape, 2), c = empty(shape);
  Contest contest{[=] { matmul_out(c, a, b); }, {torch("matmul_batched", 2)}};
  if (const BatchedMatmul peer = batched_matmul_peer())
    contest.opponents.push_back(
        {"oneDNN", 1, "", [=] { peer(1000, 100, a.data<float>(), b.data<float>(), c.data<float>()); }});
  return contest;
}

void add_products(std::vector<GoalRow>& rows) {
  for (const int64_t n : {64, 100, 256, 512, 1024, 2048, 4096})
    rows.push_back({"matmul n = " + std::to_string(n), [=] { return product(n); }});
  rows.push_back({"1000 products 100x100", many_products});
  rows.push_back({"matmul bfloat16, n = 1024", [] { return narrow_product(bfloat16); }});
  rows.push_back({"matmul float16, n = 1024", [] { return narrow_product(float16); }});
  rows.push_back({"matmul int8 to int32, n = 1024", int8_product});
}

}  // namespace

std::vector<GoalRow> goal_rows() {
  std::vector<GoalRow> rows;
  add_small(rows);
  add_large(rows);
  add_reductions(rows);
  add_moves(rows);
  add_products(rows);
  return rows;
}

}  // namespace backplane::bench
