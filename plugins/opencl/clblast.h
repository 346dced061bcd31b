// SPDX-License-Identifier: Apache-2.0
//
// CLBlast, where it is installed, for large products of plain matrices on GPUs. On a CPU the plugin's own
// kernels are far ahead of it, and it compiles for half a minute there: it is not asked.
#ifndef BACKPLANE_PLUGINS_OPENCL_CLBLAST_H_
#define BACKPLANE_PLUGINS_OPENCL_CLBLAST_H_

#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "opencl/objects.h"
#include "opencl/space_text.h"

namespace backplane::opencl {

// Row-major matrices, all numbers in elements. The result has no gaps between its rows.
struct ClblastProduct {
  plugin::DType type;
  size_t m, n, depth;
  int transpose_a, transpose_b;  // as CBLAS counts: 111 for no, 112 for yes
  cl_mem out, a, b;
  size_t out_at, a_at, b_at;
  size_t lead_a, lead_b;  // from row to row as stored
};

// The launch as such a product; nothing where it is none, or too small to be worth the choice.
std::optional<ClblastProduct> clblast_product(const plugin::KernelDesc& desc, const Space& space);

// Chooses by measuring, once for products of about the same size. Thread-safe.
class ClblastChoice {
 public:
  // Queues the product, by CLBlast or by `own`, whichever is faster. The first time, both are tried and
  // awaited. What CLBlast fails to do, `own` does.
  Status run(ClStream* stream, const ClblastProduct& product, const std::function<Status()>& own);

 private:
  static bool measure(ClStream* stream, const ClblastProduct& product, const std::function<Status()>& own);

  std::mutex mutex_;
  std::map<int, bool> is_faster_;  // by the logarithm of the number of multiplications
};

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_CLBLAST_H_
