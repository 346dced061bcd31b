// SPDX-License-Identifier: Apache-2.0
#include "libraries.h"

#include <dlfcn.h>

#ifdef BACKPLANE_HAVE_DNNL
#include <dnnl.hpp>
#endif

#include <map>
#include <utility>

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
#endif

using CblasSgemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                            const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);

CblasSgemm openblas() {
  for (const char* name : {"libopenblas.so.0", "openblas-pthread/libopenblas.so.0"})
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      if (void* symbol = dlsym(library, "cblas_sgemm")) return reinterpret_cast<CblasSgemm>(symbol);
  return nullptr;
}

}  // namespace

std::vector<Gemm> gemm_peers() {
  std::vector<Gemm> peers;
#ifdef BACKPLANE_HAVE_DNNL
  peers.push_back({"oneDNN", dnnl_gemm});
#endif
  constexpr int kRowMajor = 101, kNoTranspose = 111;
  if (const CblasSgemm sgemm = openblas())
    peers.push_back({"OpenBLAS", [sgemm](int64_t size, const float* a, const float* b, float* c) {
                       const int n = static_cast<int>(size);
                       sgemm(kRowMajor, kNoTranspose, kNoTranspose, n, n, n, 1, a, n, b, n, 0, c, n);
                     }});
  return peers;
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
