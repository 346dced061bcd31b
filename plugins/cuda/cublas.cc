// SPDX-License-Identifier: Apache-2.0
#include "cublas.h"

#include <cublas_v2.h>

#include "library.h"

namespace backplane::cuda {
namespace {

using plugin::DType;

struct Row {
  DType type, result;
  cudaDataType_t in, out;
  cublasComputeType_t compute;
};

// float16 and bfloat16 run on tensor cores with float32 sums; float32 without TF32 unless asked.
constexpr Row kRows[] = {
    {DType::Float32, DType::Float32, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {DType::Float64, DType::Float64, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
    {DType::Float16, DType::Float16, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},
    {DType::Float16, DType::Float32, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {DType::BFloat16, DType::BFloat16, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    {DType::BFloat16, DType::Float32, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
};

const Row* find(DType type, DType result) noexcept {
  for (const Row& row : kRows)
    if (row.type == type && row.result == result) return &row;
  return nullptr;
}

// cuBLAS stores columns one after the other, so the operands are exchanged: C^T = B^T A^T. A row-major matrix
// is then read as it is, a column-major one transposed. A dimension of one element may have any stride.
struct Layout {
  cublasOperation_t operation;
  int64_t leading;
};

bool layout_of(int64_t rows, int64_t columns, int64_t row, int64_t column, Layout* layout) noexcept {
  if ((column == 1 || columns == 1) && (row >= columns || rows == 1)) {
    *layout = {CUBLAS_OP_N, rows == 1 ? std::max<int64_t>(columns, 1) : row};
    return true;
  }
  if ((row == 1 || rows == 1) && (column >= rows || columns == 1)) {
    *layout = {CUBLAS_OP_T, columns == 1 ? std::max<int64_t>(rows, 1) : column};
    return true;
  }
  return false;
}

}  // namespace

Cublas::~Cublas() {
  const ContextScope scope(*context_);
  if (handle_ != nullptr && scope.status().ok()) destroy_(handle_);
}

bool Cublas::load() {
  const Library library{"libcublas.so." BACKPLANE_CUDA_MAJOR};
  if (!library.loaded()) return false;
  const bool complete = library.find("cublasCreate_v2", &create_) &&
                        library.find("cublasDestroy_v2", &destroy_) &&
                        library.find("cublasSetStream_v2", &set_stream_) &&
                        library.find("cublasGemmStridedBatchedEx_64", &gemm_) &&
                        library.find("cublasGetStatusString", &error_text_);
  const int result = complete ? create_(&handle_) : CUBLAS_STATUS_NOT_SUPPORTED;
  if (result == CUBLAS_STATUS_SUCCESS) return true;
  handle_ = nullptr;
  const Status status =
      make_status(StatusCode::Unavailable, result,
                  "cuBLAS does not start (%s); matrix products use the plugin's own kernels",
                  complete ? error_text_(result) : "a function is missing");
  host_.log(plugin::LogLevel::Info, status.message);
  return false;
}

bool Cublas::available() {
  const std::lock_guard lock(mutex_);
  if (!tried_) {
    tried_ = true;
    load();
  }
  return handle_ != nullptr;
}

bool Cublas::takes(DType type, DType result, DType compute) noexcept {
  const bool sums = compute == (type == DType::Float64 ? DType::Float64 : DType::Float32);
  return sums && find(type, result) != nullptr;
}

bool Cublas::takes(const Product& product) noexcept {
  Layout a{}, b{}, c{};
  return product.k > 0 && layout_of(product.m, product.k, product.a.row, product.a.column, &a) &&
         layout_of(product.k, product.n, product.b.row, product.b.column, &b) &&
         layout_of(product.m, product.n, product.c.row, product.c.column, &c) && c.operation == CUBLAS_OP_N;
}

Status Cublas::multiply(CUstream stream, const Product& product) {
  const Row* row = find(product.type, product.result);
  Layout a{}, b{}, c{};
  layout_of(product.m, product.k, product.a.row, product.a.column, &a);
  layout_of(product.k, product.n, product.b.row, product.b.column, &b);
  layout_of(product.m, product.n, product.c.row, product.c.column, &c);
  const bool tf32 = product.tf32 && product.type == DType::Float32;
  const int compute = tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : row->compute;
  const float one = 1, zero = 0;
  const double one_64 = 1, zero_64 = 0;
  const bool wide = row->compute == CUBLAS_COMPUTE_64F;
  const void* alpha = wide ? static_cast<const void*>(&one_64) : &one;
  const void* beta = wide ? static_cast<const void*>(&zero_64) : &zero;
  const std::lock_guard lock(mutex_);
  int result = set_stream_(handle_, stream);
  if (result == CUBLAS_STATUS_SUCCESS)
    result = gemm_(handle_, b.operation, a.operation, product.n, product.m, product.k, alpha,
                   reinterpret_cast<const void*>(product.b.address), row->in, b.leading, product.b.batch,
                   reinterpret_cast<const void*>(product.a.address), row->in, a.leading, product.a.batch,
                   beta, reinterpret_cast<void*>(product.c.address), row->out, c.leading, product.c.batch,
                   product.batch, compute, CUBLAS_GEMM_DEFAULT);
  if (result == CUBLAS_STATUS_SUCCESS) return kOk;
  return make_status(result == CUBLAS_STATUS_ALLOC_FAILED ? StatusCode::OutOfMemory : StatusCode::Internal,
                     result, "cublasGemmStridedBatchedEx: %s", error_text_(result));
}

}  // namespace backplane::cuda
