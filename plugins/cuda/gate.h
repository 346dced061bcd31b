// SPDX-License-Identifier: Apache-2.0
//
// Words of pinned memory that streams wait for and the host writes. A word is never freed while its context
// lives: it is used again with the next higher value, so that a wait for an older value is satisfied for
// good.
#ifndef BACKPLANE_PLUGINS_CUDA_GATE_H_
#define BACKPLANE_PLUGINS_CUDA_GATE_H_

#include <vector>

#include "context.h"

namespace backplane::cuda {

struct Gate {
  volatile uint32_t* word;  // as the host sees it
  CUdeviceptr address;      // as the device sees it
  uint32_t value;           // open once *word has reached it
};

// The words of one context. Thread-safe.
class Gates {
 public:
  explicit Gates(Context& context) : context_(context) {}
  ~Gates();
  Gates(const Gates&) = delete;
  Gates& operator=(const Gates&) = delete;

  // Unimplemented where the device has no stream memory operations.
  Status acquire(Gate* gate);
  static void open(const Gate& gate) noexcept;
  // The gate has been opened and no new wait for it will be queued.
  void release(const Gate& gate);

 private:
  static constexpr uint32_t kWordsPerPage = 1024;
  Status add_page();

  Context& context_;
  std::mutex mutex_;
  std::vector<void*> pages_;
  std::vector<Gate> free_;
};

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_GATE_H_
