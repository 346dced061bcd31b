// SPDX-License-Identifier: Apache-2.0
//
// cuBLAS, found at run time, for the matrix products that it does. Loaded when the first product is made; one
// handle a context, used under a lock, since a handle is bound to one stream at a time.
#ifndef BACKPLANE_PLUGINS_CUDA_CUBLAS_H_
#define BACKPLANE_PLUGINS_CUDA_CUBLAS_H_

#include "context.h"
#include "host.h"

namespace backplane::cuda {

// C (m x n) = A (m x k) times B (k x n), `batch` times. Each matrix is contiguous along one of its
// dimensions; strides are in elements, along rows and columns.
struct Product {
  int64_t m, n, k, batch;
  struct Matrix {
    uint64_t address;
    int64_t row, column, batch;
  } a, b, c;
  plugin::DType type;    // of a and b
  plugin::DType result;  // of c
  bool tf32;
};

class Cublas {
 public:
  Cublas(std::shared_ptr<Context> context, const Host& host) : context_(std::move(context)), host_(host) {}
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // Whether the library is there and starts on this device. Logs once when it is there and does not.
  bool available();

  // Whether it does products of these types, and whether of these shapes and strides.
  static bool takes(plugin::DType type, plugin::DType result, plugin::DType compute) noexcept;
  static bool takes(const Product& product) noexcept;

  Status multiply(CUstream stream, const Product& product);

 private:
  using Handle = struct cublasContext*;
  bool load();

  const std::shared_ptr<Context> context_;
  const Host host_;
  std::mutex mutex_;
  bool tried_ = false;
  Handle handle_ = nullptr;
  int (*create_)(Handle*) = nullptr;
  int (*destroy_)(Handle) = nullptr;
  int (*set_stream_)(Handle, CUstream) = nullptr;
  int (*gemm_)(Handle, int, int, int64_t, int64_t, int64_t, const void*, const void*, int, int64_t, long long,
               const void*, int, int64_t, long long, const void*, void*, int, int64_t, long long, int64_t,
               int, int) = nullptr;
  const char* (*error_text_)(int) = nullptr;
};

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_CUBLAS_H_
