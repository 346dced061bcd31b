// SPDX-License-Identifier: Apache-2.0
#include "libraries.h"

#include <dlfcn.h>

#ifdef BACKPLANE_HAVE_DNNL
#include <dnnl.hpp>
#endif

#include <map>
#include <utility>

#include "machine.h"

namespace backplane::bench {
namespace {

#ifdef BACKPLANE_HAVE_DNNL
// Made once a size: making a primitive costs more than a small product.
struct Prepared {
  dnnl::matmul product;
  dnnl::memory::desc desc;
};

dnnl::engine& engine() {
  static dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}

const Prepared& prepare(int64_t count, int64_t n) {
  static std::map<std::pair<int64_t, int64_t>, Prepared> made;
  const auto found = made.find({count, n});
  if (found != made.end()) return found->second;
  const dnnl::memory::desc desc({count, n, n}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::abc);
  const dnnl::matmul::primitive_desc primitive(dnnl::matmul::desc(desc, desc, desc), engine());
  return made.emplace(std::pair(count, n), Prepared{dnnl::matmul(primitive), desc}).first->second;
}

void dnnl_batched(int64_t count, int64_t n, const float* a, const float* b, float* c) {
  const Prepared& p = prepare(count, n);
  static dnnl::stream stream(engine());
  const auto memory = [&](const float* data) {
    return dnnl::memory(p.desc, engine(), const_cast<float*>(data));
  };
  p.product.execute(stream,
                    {{DNNL_ARG_SRC, memory(a)}, {DNNL_ARG_WEIGHTS, memory(b)}, {DNNL_ARG_DST, memory(c)}});
  stream.wait();
}

void dnnl_int8(int64_t n, const int8_t* a, const int8_t* b, int32_t* c) {
  using Type = dnnl::memory::data_type;
  static std::map<int64_t, dnnl::matmul> made;
  const auto desc = [n](Type type) { return dnnl::memory::desc({n, n}, type, dnnl::memory::format_tag::ab); };
  auto found = made.find(n);
  if (found == made.end()) {
    const dnnl::matmul::primitive_desc primitive(
        dnnl::matmul::desc(desc(Type::s8), desc(Type::s8), desc(Type::s32)), engine());
    found = made.emplace(n, dnnl::matmul(primitive)).first;
  }
  static dnnl::stream stream(engine());
  const auto memory = [&](Type type, const void* data) {
    return dnnl::memory(desc(type), engine(), const_cast<void*>(data));
  };
  found->second.execute(stream, {{DNNL_ARG_SRC, memory(Type::s8, a)},
                                 {DNNL_ARG_WEIGHTS, memory(Type::s8, b)},
                                 {DNNL_ARG_DST, memory(Type::s32, c)}});
  stream.wait();
}

void dnnl_gemm(int64_t n, const float* a, const float* b, float* c) {
  dnnl_sgemm('N', 'N', n, n, n, 1.0f, a, n, b, n, 0.0f, c, n);
}

// OpenMP's number of threads, which each calling thread has its own of, while this lives.
class OneOmpThread {
 public:
  OneOmpThread() {
    if (get() == nullptr || set() == nullptr) return;
    before_ = get()();
    set()(1);
  }
  ~OneOmpThread() {
    if (before_ > 0) set()(before_);
  }
  OneOmpThread(const OneOmpThread&) = delete;
  OneOmpThread& operator=(const OneOmpThread&) = delete;

 private:
  using Get = int (*)();
  using Set = void (*)(int);
  static Get get() {
    static const auto function = reinterpret_cast<Get>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
    return function;
  }
  static Set set() {
    static const auto function = reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
    return function;
  }
  int before_ = 0;
};

void dnnl_integer_gemm(int64_t n, const int8_t* a, const int8_t* b, int32_t* c) {
  const int32_t no_offset = 0;
  dnnl_gemm_s8s8s32('N', 'N', 'F', n, n, n, 1.0f, a, n, 0, b, n, 0, 0.0f, c, n, &no_offset);
}
#endif

// Calls function(first row, rows) for one share of n rows on each core.
template <typename Function>
void share_rows(int64_t n, const Function& function) {
  on_all_cores([&](size_t part, size_t parts) {
    const auto bound = [&](size_t i) { return n * static_cast<int64_t>(i) / static_cast<int64_t>(parts); };
    function(bound(part), bound(part + 1) - bound(part));
  });
}

using CblasSgemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                            const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);

struct OpenBlas {
  CblasSgemm sgemm = nullptr;
  bool has_threads = false;
};

OpenBlas openblas() {
  OpenBlas found;
  void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return found;
  found.sgemm = reinterpret_cast<CblasSgemm>(dlsym(library, "cblas_sgemm"));
  using GetParallel = int (*)();
  const auto get_parallel = reinterpret_cast<GetParallel>(dlsym(library, "openblas_get_parallel"));
  found.has_threads = get_parallel != nullptr && get_parallel() != 0;
  return found;
}

}  // namespace

std::vector<Gemm> gemm_peers() {
  std::vector<Gemm> peers;
#ifdef BACKPLANE_HAVE_DNNL
  peers.push_back({"oneDNN", dnnl_gemm});
  peers.push_back({"oneDNN in serial tasks", [](int64_t n, const float* a, const float* b, float* c) {
                     share_rows(n, [&](int64_t first, int64_t rows) {
                       const OneOmpThread one;
                       dnnl_sgemm('N', 'N', rows, n, n, 1.0f, a + first * n, n, b, n, 0.0f, c + first * n, n);
                     });
                   }});
#endif
  constexpr int kRowMajor = 101, kNoTranspose = 111;
  const OpenBlas blas = openblas();
  if (blas.sgemm == nullptr) return peers;
  const auto product = [sgemm = blas.sgemm](int64_t rows, int64_t size, const float* a, const float* b,
                                            float* c) {
    const int n = static_cast<int>(size);
    sgemm(kRowMajor, kNoTranspose, kNoTranspose, static_cast<int>(rows), n, n, 1, a, n, b, n, 0, c, n);
  };
  if (blas.has_threads) {
    peers.push_back({"OpenBLAS", [product](int64_t n, const float* a, const float* b, float* c) {
                       product(n, n, a, b, c);
                     }});
  } else {
    peers.push_back(
        {"OpenBLAS in serial tasks", [product](int64_t n, const float* a, const float* b, float* c) {
           share_rows(
               n, [&](int64_t first, int64_t rows) { product(rows, n, a + first * n, b, c + first * n); });
         }});
  }
  return peers;
}

IntegerGemm integer_gemm_peer() {
#ifdef BACKPLANE_HAVE_DNNL
  return dnnl_integer_gemm;
#else
  return nullptr;
#endif
}

BatchedMatmul batched_matmul_peer() {
#ifdef BACKPLANE_HAVE_DNNL
  return dnnl_batched;
#else
  return nullptr;
#endif
}

Int8Matmul int8_matmul_peer() {
#ifdef BACKPLANE_HAVE_DNNL
  return dnnl_int8;
#else
  return nullptr;
#endif
}

}  // namespace backplane::bench
