// SPDX-License-Identifier: Apache-2.0
#include "families.h"

#include <functional>
#include <vector>

#include "backplane/backplane.h"

namespace backplane::cpu_test {
namespace {

// FNV-1a.
uint64_t hash(const Tensor& x) {
  std::vector<unsigned char> bytes(x.nbytes());
  x.copy_to_host(bytes.data(), bytes.size());
  uint64_t value = 0xcbf29ce484222325u;
  for (const unsigned char byte : bytes) value = (value ^ byte) * 0x100000001b3u;
  return value;
}

struct Work {
  const char* name;
  std::function<Tensor()> run;
};

constexpr int64_t kOdd = 300007;

Tensor values(const Shape& shape, uint64_t seed, DType type = float32) {
  return normal(shape, seed, 0, 3).astype(type);
}

std::vector<Work> elementwise() {
  return {
      {"elementwise: one by one", [] { return exp(values({kOdd}, 1)) + tanh(values({kOdd}, 2)); }},
      {"elementwise: fused",
       [] {
         return fuse([](Expr x, Expr y) { return sigmoid(x * y + 1.0) * 0.5 - sin(y); }, values({kOdd}, 1),
                     values({kOdd}, 2));
       }},
      {"elementwise: broadcast",
       [] {
         return values({701, 1}, 3) * values({1, 433}, 4);
       }},
      {"elementwise: remainder of float64",
       [] { return remainder(values({kOdd}, 5, float64), values({kOdd}, 6, float64)); }},
      {"elementwise: bfloat16", [] { return log1p(abs(values({kOdd}, 7, bfloat16))); }},
  };
}

std::vector<Work> reductions() {
  return {
      {"reduce: sum of all", [] { return sum(values({kOdd}, 8)); }},
      {"reduce: sum over columns",
       [] {
         return sum(values({1201, 301}, 9), {0});
       }},
      {"reduce: mean and variance of float16", [] { return var(values({kOdd}, 10, float16)); }},
      {"reduce: norm",
       [] {
         return norm(values({601, 502}, 11), {1});
       }},
      {"reduce: argmax", [] { return argmax(values({kOdd}, 12, float16)); }},
      {"reduce: product of float64", [] { return prod(values({kOdd}, 13, float64) * 0.1 + 1.0); }},
      {"scan: cumulative sum", [] { return cumulative_sum(values({kOdd}, 14)); }},
      {"scan: along columns",
       [] {
         return cumulative_sum(values({1201, 301}, 15), 0);
       }},
  };
}

std::vector<Work> products() {
  return {
      {"matmul: one",
       [] {
         return matmul(values({301, 557}, 16), values({557, 315}, 17));
       }},
      {"matmul: small",
       [] {
         return matmul(values({100, 100}, 18), values({100, 100}, 19));
       }},
      {"matmul: batch",
       [] {
         return matmul(values({40, 51, 33}, 20), values({40, 33, 29}, 21));
       }},
      {"matmul: long sums",
       [] {
         return matmul(values({5, 70001}, 22), values({70001, 3}, 23));
       }},
      {"matmul: a vector",
       [] {
         return matmul(values({901, 703}, 24), values({703}, 25));
       }},
      {"matmul: float64 transposed",
       [] {
         return matmul(values({201, 150}, 26, float64).transpose(), values({201, 99}, 27, float64));
       }},
      {"matmul: bfloat16",
       [] {
         return matmul(values({130, 270}, 28, bfloat16), values({270, 131}, 29, bfloat16));
       }},
      {"matmul: int8",
       [] {
         return matmul(integers({133, 277}, 30, -128, 128, int8), integers({277, 140}, 31, -128, 128, int8),
                       int32);
       }},
  };
}

std::vector<Work> rows() {
  return {
      {"rowwise: softmax over rows",
       [] {
         return softmax(values({403, 507}, 32));
       }},
      {"rowwise: softmax over columns",
       [] {
         return softmax(values({507, 403}, 33), 0);
       }},
      {"rowwise: log_softmax between",
       [] {
         return log_softmax(values({7, 211, 130}, 34), 1);
       }},
      {"rowwise: layer_norm",
       [] {
         return layer_norm(values({403, 507}, 35));
       }},
      {"rowwise: rms_norm of float16",
       [] {
         return rms_norm(values({403, 507}, 36, float16));
       }},
  };
}

std::vector<Work> moves() {
  return {
      {"copy: transposed",
       [] {
         return values({1203, 305}, 37).transpose();
       }},
      {"copy: every third",
       [] {
         return values({kOdd}, 38).slice(0, {1, kOdd, 3});
       }},
      {"index: rows",
       [] {
         return take(values({5000, 64}, 39), integers({9001}, 40, 0, 5000));
       }},
      {"index: along columns",
       [] {
         return take(values({300, 500}, 41), integers({901}, 42, -500, 500), 1);
       }},
      {"index: true ones", [] { return nonzero(values({kOdd}, 43) > 1.0)[0]; }},
      {"sort: values", [] { return sort(values({kOdd}, 44, float16)); }},
      {"sort: positions",
       [] {
         return argsort(values({20, 4001}, 45, float16));
       }},
      {"random: uniform", [] { return uniform({kOdd}, 46); }},
      {"random: normal of float64", [] { return normal({kOdd}, 47, 0, 1, float64); }},
      {"random: permutation", [] { return permutation(kOdd, 48); }},
  };
}

}  // namespace

std::map<std::string, uint64_t> hash_families() {
  std::map<std::string, uint64_t> hashes;
  for (const auto& family : {elementwise(), reductions(), products(), rows(), moves()}) {
    for (const Work& work : family) hashes[work.name] = hash(work.run());
  }
  return hashes;
}

}  // namespace backplane::cpu_test
