// SPDX-License-Identifier: Apache-2.0
#include "opencl/clblast.h"

#include <dlfcn.h>

#include <bit>
#include <chrono>
#include <cmath>

namespace backplane::opencl {

using plugin::DType;

namespace {

constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
// Smaller products are over before a choice between kernels could matter.
constexpr uint64_t kLeastWork = uint64_t{1} << 26;
constexpr int64_t kLeastSide = 64;

// CLBlast's C interface, from its documentation; enumerations are the numbers of CBLAS.
template <typename T>
using Gemm = int (*)(int layout, int transpose_a, int transpose_b, size_t m, size_t n, size_t k, T alpha,
                     cl_mem a, size_t a_offset, size_t a_ld, cl_mem b, size_t b_offset, size_t b_ld, T beta,
                     cl_mem c, size_t c_offset, size_t c_ld, cl_command_queue* queue, cl_event* event);

struct Library {
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
};

// Never unloaded: drivers keep pointers into it.
const Library& library() noexcept {
  static const Library loaded = [] {
    Library found;
    void* handle = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) return found;
    found.sgemm = reinterpret_cast<Gemm<float>>(dlsym(handle, "CLBlastSgemm"));
    found.dgemm = reinterpret_cast<Gemm<double>>(dlsym(handle, "CLBlastDgemm"));
    return found;
  }();
  return loaded;
}

bool is_available(DType type) noexcept {
  return type == DType::Float32   ? library().sgemm != nullptr
         : type == DType::Float64 ? library().dgemm != nullptr
                                  : false;
}

// Finds how a matrix of `rows` by `columns` lies; false where its elements are not side by side.
bool find_layout(int64_t row_stride, int64_t column_stride, int64_t rows, int64_t columns, int* transpose,
                 size_t* lead) noexcept {
  const bool plain = column_stride == 1 && row_stride >= columns;
  if (!plain && !(row_stride == 1 && column_stride >= rows)) return false;
  *transpose = plain ? kPlain : kTransposed;
  *lead = static_cast<size_t>(plain ? row_stride : column_stride);
  return true;
}

template <typename T>
bool multiply(ClStream* stream, const ClblastProduct& p, Gemm<T> gemm) noexcept {
  // CLBlast may multiply what was there by 0, which NaN survives.
  const T zero = 0;
  cl_command_queue queue = stream->queue();
  return api().clEnqueueFillBuffer(queue, p.out, &zero, sizeof zero, p.out_at * sizeof zero,
                                   p.m * p.n * sizeof zero, 0, nullptr, nullptr) == CL_SUCCESS &&
         gemm(kRowMajor, p.transpose_a, p.transpose_b, p.m, p.n, p.depth, 1, p.a, p.a_at, p.lead_a, p.b,
              p.b_at, p.lead_b, 0, p.out, p.out_at, p.n, &queue, nullptr) == 0;
}

bool multiply(ClStream* stream, const ClblastProduct& product) noexcept {
  const bool done = product.type == DType::Float32 ? multiply<float>(stream, product, library().sgemm)
                                                   : multiply<double>(stream, product, library().dgemm);
  stream->note_command();
  return done;
}

double seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of the second run, as the first one compiles; infinite where it fails.
template <typename Work>
double time_of(ClStream* stream, Work&& work) {
  if (!work() || api().clFinish(stream->queue()) != CL_SUCCESS) return HUGE_VAL;
  const double start = seconds();
  if (!work() || api().clFinish(stream->queue()) != CL_SUCCESS) return HUGE_VAL;
  return seconds() - start;
}

}  // namespace

std::optional<ClblastProduct> clblast_product(const plugin::KernelDesc& desc, const Space& space) {
  const uint32_t rank = space.rank;
  const int64_t m = space.shape[rank - 3], n = space.shape[rank - 2], depth = space.shape[rank - 1];
  const DType type = desc.compute_type;
  if (space.points(0, rank - 3) != 1 || std::min({m, n, depth}) < kLeastSide ||
      static_cast<uint64_t>(m) * static_cast<uint64_t>(n) * static_cast<uint64_t>(depth) < kLeastWork)
    return std::nullopt;
  for (uint32_t k = 0; k < 3; ++k)
    if (desc.types[k] != type) return std::nullopt;
  if (desc.epilogue.instruction_count != 0 || !is_available(type)) return std::nullopt;
  ClblastProduct p{};
  if (space.stride(0, rank - 3) != n || space.stride(0, rank - 2) != 1 ||
      !find_layout(space.stride(1, rank - 3), space.stride(1, rank - 1), m, depth, &p.transpose_a,
                   &p.lead_a) ||
      !find_layout(space.stride(2, rank - 1), space.stride(2, rank - 2), depth, n, &p.transpose_b, &p.lead_b))
    return std::nullopt;
  const auto at = [&](uint32_t k) {
    return space.args->operand(k).offset / (type == DType::Float32 ? sizeof(float) : sizeof(double));
  };
  p.type = type;
  p.m = static_cast<size_t>(m);
  p.n = static_cast<size_t>(n);
  p.depth = static_cast<size_t>(depth);
  p.out = static_cast<ClBuffer*>(space.args->operand(0).buffer)->memory();
  p.a = static_cast<ClBuffer*>(space.args->operand(1).buffer)->memory();
  p.b = static_cast<ClBuffer*>(space.args->operand(2).buffer)->memory();
  p.out_at = at(0);
  p.a_at = at(1);
  p.b_at = at(2);
  return p;
}

Status ClblastChoice::run(ClStream* stream, const ClblastProduct& product,
                          const std::function<Status()>& own) {
  const auto size = static_cast<int>(std::bit_width(uint64_t{product.m} * product.n * product.depth));
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = is_faster_.find(size); known == is_faster_.end())
      is_faster_[size] = measure(stream, product, own);
    if (!is_faster_[size]) return own();
  }
  return multiply(stream, product) ? kOk : own();
}

bool ClblastChoice::measure(ClStream* stream, const ClblastProduct& product,
                            const std::function<Status()>& own) {
  const double theirs = time_of(stream, [&] { return multiply(stream, product); });
  return theirs != HUGE_VAL && theirs < time_of(
                                            stream, [&] { return own().ok(); });
}

}  // namespace backplane::opencl
