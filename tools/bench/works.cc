// SPDX-License-Identifier: Apache-2.0
#include "works.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace backplane::bench {
namespace {

bool any(DType) { return true; }
bool numbers(DType type) { return type != boolean; }
bool floats(DType type) { return is_floating(type); }
bool float32_only(DType type) { return type == float32; }

// Elements that any type can hold.
Tensor operand(const Device& device, DType type, const Shape& shape, uint64_t seed) {
  const Tensor x = uniform(shape, seed, 0, is_floating(type) ? 1 : 100, float32, device);
  return type == boolean ? x > 50.0 : x.astype(type);
}

double bytes_of(std::initializer_list<Tensor> tensors) {
  double bytes = 0;
  for (const Tensor& tensor : tensors) bytes += static_cast<double>(tensor.nbytes());
  return bytes;
}

// Rows as long as is usual, as many as fit.
Shape rows_of(int64_t size) {
  const int64_t columns = std::min<int64_t>(size, 4096);
  return {size / columns, columns};
}

Prepared prepare_add(const Device& device, DType type, int64_t size) {
  const Tensor a = operand(device, type, {size}, 1), b = operand(device, type, {size}, 2), c = a.clone();
  return {[=] { add_out(c, a, b); }, bytes_of({a, b, c}), static_cast<double>(size)};
}

Prepared prepare_new_add(const Device& device, DType type, int64_t size) {
  const Tensor a = operand(device, type, {size}, 1), b = operand(device, type, {size}, 2);
  return {[=] { const Tensor c = add(a, b); }, bytes_of({a, b, a}), static_cast<double>(size)};
}

template <const Tensor& (*function)(const Tensor&, const Tensor&)>
Prepared prepare_map(const Device& device, DType type, int64_t size) {
  const Tensor x = operand(device, type, {size}, 1), y = x.clone();
  return {[=] { function(y, x); }, bytes_of({x, y}), static_cast<double>(size)};
}

Prepared prepare_fused(const Device& device, DType type, int64_t size) {
  const Tensor a = operand(device, type, {size}, 1), b = operand(device, type, {size}, 2), c = a.clone();
  return {[=] {
            fuse_out(
                c, [](Expr x, Expr y) { return relu(x * y + 1.0) * 0.5 - y; }, a, b);
          },
          bytes_of({a, b, c}), 5.0 * static_cast<double>(size)};
}

Prepared prepare_cast(const Device& device, DType type, int64_t size) {
  const Tensor x = operand(device, type, {size}, 1);
  const Tensor y = empty({size}, type == float32 ? float16 : float32, device);
  return {[=] { y.assign(x); }, bytes_of({x, y}), static_cast<double>(size)};
}

Prepared prepare_sum(const Device& device, DType type, int64_t size) {
  const Tensor x = operand(device, type, {size}, 1);
  return {[=] { const Tensor y = sum(x); }, bytes_of({x}), static_cast<double>(size)};
}
Prepared prepare_max(const Device& device, DType type, int64_t size) {
  const Tensor x = operand(device, type, {size}, 1);
  return {[=] { const Tensor y = max(x); }, bytes_of({x}), static_cast<double>(size)};
}
Prepared prepare_columns_sum(const Device& device, DType type, int64_t size) {
  const Tensor x = operand(device, type, rows_of(size), 1);
  return {[=] { const Tensor y = sum(x, {0}); }, bytes_of({x}), static_cast<double>(x.size())};
}
Prepared prepare_argmax(const Device& device, DType type, int64_t size) {
  const Tensor x = operand(device, type, {size}, 1);
  return {[=] { const Tensor y = argmax(x); }, bytes_of({x}), static_cast<double>(size)};
}

Prepared prepare_scan(const Device& device, DType type, int64_t size) {
  const Tensor x = operand(device, type, {size}, 1);
  return {[=] { const Tensor y = cumulative_sum(x); }, bytes_of({x, x}), static_cast<double>(size)};
}

// Square; as many elements an operand as `size` says, but no side beyond 4096.
Prepared prepare_matmul(const Device& device, DType type, int64_t size) {
  const auto n = std::min<int64_t>(4096, static_cast<int64_t>(std::sqrt(static_cast<double>(size))));
  const Tensor a = operand(device, type, {n, n}, 1), b = operand(device, type, {n, n}, 2), c = matmul(a, b);
  return {[=] { matmul_out(c, a, b); }, bytes_of({a, b, c}), 2.0 * static_cast<double>(n * n * n)};
}

Prepared prepare_clone(const Device& device, DType type, int64_t size) {
  const Tensor x = operand(device, type, {size}, 1), y = x.clone();
  return {[=] { y.assign(x); }, bytes_of({x, y}), 0};
}
Prepared prepare_transpose(const Device& device, DType type, int64_t size) {
  const auto n = static_cast<int64_t>(std::sqrt(static_cast<double>(size)));
  const Tensor x = operand(device, type, {n, size / n}, 1).transpose(), y = x.clone();
  return {[=] { y.assign(x); }, bytes_of({x, y}), 0};
}
Prepared prepare_upload(const Device& device, DType type, int64_t size) {
  const Tensor x = operand(device, type, {size}, 1);
  const auto host = std::make_shared<std::vector<char>>(x.nbytes());
  return {[=] { x.copy_from_host(host->data(), host->size()); }, bytes_of({x, x}), 0};
}
Prepared prepare_download(const Device& device, DType type, int64_t size) {
  const Tensor x = operand(device, type, {size}, 1);
  const auto host = std::make_shared<std::vector<char>>(x.nbytes());
  return {[=] { x.copy_to_host(host->data(), host->size()); }, bytes_of({x, x}), 0};
}

// Rows of 64 elements, in random order.
Prepared prepare_take(const Device& device, DType type, int64_t size) {
  const int64_t columns = std::min<int64_t>(size, 64), rows = size / columns;
  const Tensor x = operand(device, type, {rows, columns}, 1), y = x.clone();
  const Tensor indices = permutation(rows, 3, device);
  return {[=] { take_out(y, x, indices); }, bytes_of({x, y, indices}), 0};
}
Prepared prepare_scatter(const Device& device, DType type, int64_t size) {
  const Tensor x = operand(device, type, {size}, 1), values = operand(device, type, {size}, 2);
  const Tensor indices = permutation(size, 3, device);
  return {[=] { scatter_(x, indices, values); }, bytes_of({x, values, indices}), 0};
}

Prepared prepare_sort(const Device& device, DType type, int64_t size) {
  const Tensor x = operand(device, type, {size}, 1), y = x.clone();
  return {[=] { sort_out(y, x); }, bytes_of({x, y}), static_cast<double>(size)};
}
Prepared prepare_argsort(const Device& device, DType type, int64_t size) {
  const Tensor x = operand(device, type, {size}, 1), y = argsort(x);
  return {[=] { argsort_out(y, x); }, bytes_of({x, y}), static_cast<double>(size)};
}

Prepared prepare_uniform(const Device& device, DType type, int64_t size) {
  const Tensor x = empty({size}, type, device);
  return {[=] { uniform_out(x, 1); }, bytes_of({x}), static_cast<double>(size)};
}
Prepared prepare_normal(const Device& device, DType type, int64_t size) {
  const Tensor x = empty({size}, type, device);
  return {[=] { normal_out(x, 1); }, bytes_of({x}), static_cast<double>(size)};
}

Prepared prepare_softmax(const Device& device, DType type, int64_t size) {
  const Tensor x = operand(device, type, rows_of(size), 1), y = x.clone();
  return {[=] { softmax_out(y, x); }, bytes_of({x, y}), 4.0 * static_cast<double>(x.size())};
}
Prepared prepare_layer_norm(const Device& device, DType type, int64_t size) {
  const Tensor x = operand(device, type, rows_of(size), 1), y = x.clone();
  return {[=] { layer_norm_out(y, x); }, bytes_of({x, y}), 5.0 * static_cast<double>(x.size())};
}

void double_natively(const plugin::LaunchArgs* args, int64_t begin, int64_t end) noexcept {
  auto* y = reinterpret_cast<float*>(args->operand(0).address);
  const auto* x = reinterpret_cast<const float*>(args->operand(1).address);
  for (int64_t i = begin; i < end; ++i) y[i] = 2 * x[i];
}

// The user's own kernel in whichever language the device takes.
Prepared prepare_source(const Device& device, DType type, int64_t size) {
  KernelSource source;
  source.entry = "twice";
  source.operands = 2;
  source.scalars = {int64};
  if (device.kind() == DeviceKind::Cpu && device.backend() == "cpu") {
    source.language = SourceLanguage::Native;
    source.native = double_natively;
  } else if (device.backend() == "cuda") {
    source.language = SourceLanguage::CudaCpp;
    source.text =
        "extern \"C\" __global__ void twice(float* y, const float* x, long long n) {\n"
        "  const unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;\n"
        "  if (i < n) y[i] = 2 * x[i];\n}\n";
  } else {
    source.text =
        "__kernel void twice(__global float* y, __global const float* x, long n) {\n"
        "  const long i = get_global_id(0);\n  if (i < n) y[i] = 2 * x[i];\n}\n";
  }
  const Tensor x = operand(device, type, {size}, 1), y = x.clone();
  const Kernel kernel(device, source);
  return {[=] { kernel({y, x}, {size}, {size}); }, bytes_of({x, y}), static_cast<double>(size)};
}

constexpr Work kWorks[] = {
    {"elementwise", "add", any, prepare_add},
    {"elementwise", "add, new result", any, prepare_new_add},
    {"elementwise", "exp", floats, prepare_map<exp_out>},
    {"elementwise", "tanh", floats, prepare_map<tanh_out>},
    {"elementwise", "five fused", floats, prepare_fused},
    {"elementwise", "cast", numbers, prepare_cast},
    {"reduce", "sum", any, prepare_sum},
    {"reduce", "max", numbers, prepare_max},
    {"reduce", "sum of columns", any, prepare_columns_sum},
    {"reduce", "argmax", numbers, prepare_argmax},
    {"scan", "cumulative_sum", numbers, prepare_scan},
    {"matmul", "matmul", numbers, prepare_matmul},
    {"copy", "copy", any, prepare_clone},
    {"copy", "transpose copied", any, prepare_transpose},
    {"transfer", "from host", any, prepare_upload},
    {"transfer", "to host", any, prepare_download},
    {"index", "take rows", any, prepare_take},
    {"index", "scatter", any, prepare_scatter},
    {"sort", "sort", numbers, prepare_sort},
    {"sort", "argsort", numbers, prepare_argsort},
    {"random", "uniform", floats, prepare_uniform},
    {"random", "normal", floats, prepare_normal},
    {"rowwise", "softmax", floats, prepare_softmax},
    {"rowwise", "layer_norm", floats, prepare_layer_norm},
    {"source", "own kernel", float32_only, prepare_source},
};

}  // namespace

std::span<const Work> works() { return kWorks; }

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const Work& work : kWorks)
    if (names.empty() || names.back() != work.family) names.emplace_back(work.family);
  return names;
}

}  // namespace backplane::bench
