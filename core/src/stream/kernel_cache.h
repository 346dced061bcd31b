// SPDX-License-Identifier: Apache-2.0
//
// A device's kernels, made at their first use and kept, keyed by the descriptor's bytes. Thread-safe; two
// threads that want one new kernel build it once.
#ifndef BACKPLANE_SRC_STREAM_KERNEL_CACHE_H_
#define BACKPLANE_SRC_STREAM_KERNEL_CACHE_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "device/device_state.h"

namespace backplane::internal {

class KernelCache {
 public:
  explicit KernelCache(DeviceState& device);
  ~KernelCache();

  // Never null. Unimplemented, naming `what` and the device, where the device lacks the kernel.
  plugin::Kernel* get(const plugin::KernelDesc& desc, const char* what);

  // How a one-instruction program finds its arguments.
  enum Form { kTensors = 0, kScalarLast = 1, kScalarFirst = 2, kForms = 4 };

  // The place for the kernel of a one-instruction program whose arguments all have one type, found by table.
  // Null when not yet made.
  std::atomic<plugin::Kernel*>& slot(plugin::ScalarOp op, plugin::DType type, plugin::Layout layout,
                                     Form form) noexcept {
    const size_t row = static_cast<size_t>(op) * plugin::kDTypeCount + static_cast<size_t>(type);
    return table_[(row * 2 + static_cast<size_t>(layout)) * kForms + form];
  }

 private:
  struct Entry {
    std::mutex mutex;
    plugin::Kernel* kernel = nullptr;
  };

  DeviceState& device_;
  std::unique_ptr<std::atomic<plugin::Kernel*>[]> table_;
  std::shared_mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<Entry>> entries_;
};

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_STREAM_KERNEL_CACHE_H_
