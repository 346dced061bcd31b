// SPDX-License-Identifier: Apache-2.0
//
// A library that stands where CLBlast would: it says that it was called, and multiplies on the host, or fails
// where BACKPLANE_TEST_CLBLAST is "fails".
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

std::vector<float> read(cl_command_queue queue, cl_mem memory, size_t offset, size_t count) {
  std::vector<float> values(count);
  clEnqueueReadBuffer(queue, memory, CL_TRUE, offset * sizeof(float), count * sizeof(float), values.data(), 0,
                      nullptr, nullptr);
  return values;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the library's own name
extern "C" __attribute__((visibility("default"))) int CLBlastSgemm(
    int layout, int transpose_a, int transpose_b, size_t m, size_t n, size_t k, float alpha, cl_mem a,
    size_t a_offset, size_t a_ld, cl_mem b, size_t b_offset, size_t b_ld, float beta, cl_mem c,
    size_t c_offset, size_t c_ld, cl_command_queue* queue, cl_event*) {
  std::printf("clblast: called\n");
  const char* how = std::getenv("BACKPLANE_TEST_CLBLAST");
  if (how != nullptr && std::strcmp(how, "fails") == 0) return -1;
  if (layout != 101 || c_ld != n) return -2;
  const bool turned_a = transpose_a == 112, turned_b = transpose_b == 112;
  const std::vector<float> left = read(*queue, a, a_offset, (turned_a ? k : m) * a_ld);
  const std::vector<float> right = read(*queue, b, b_offset, (turned_b ? n : k) * b_ld);
  std::vector<float> out = read(*queue, c, c_offset, m * n);
  for (float& value : out) value *= beta;
  for (size_t i = 0; i < m; ++i)
    for (size_t q = 0; q < k; ++q) {
      const float factor = alpha * left[turned_a ? q * a_ld + i : i * a_ld + q];
      for (size_t j = 0; j < n; ++j) out[i * n + j] += factor * right[turned_b ? j * b_ld + q : q * b_ld + j];
    }
  return clEnqueueWriteBuffer(*queue, c, CL_TRUE, c_offset * sizeof(float), out.size() * sizeof(float),
                              out.data(), 0, nullptr, nullptr);
}
