// SPDX-License-Identifier: Apache-2.0
//
// What every family's kernel derives from: it computes in the calling thread and on its device's other
// threads; this class brings it onto a stream.
#ifndef BACKPLANE_CPU_KERNEL_H_
#define BACKPLANE_CPU_KERNEL_H_

#include <atomic>

#include "backplane/plugin/base.h"
#include "cpu/parallel.h"

namespace backplane::cpu {

class CpuDevice;

class CpuKernel : public plugin::KernelBase {
 public:
  explicit CpuKernel(CpuDevice& device) noexcept;
  virtual ~CpuKernel() = default;  // for release(); others call that

  // Does the work and returns when it is done. Called with the floating-point state set, from any thread,
  // several at once. May throw what plugin::guard turns into a Status.
  virtual plugin::Status run(const plugin::LaunchArgs& args) const = 0;

  void destroy() noexcept final { release(); }
  plugin::Status launch(plugin::Stream* stream, const plugin::LaunchArgs* args) noexcept final;

  // Queued launches keep the kernel past destroy().
  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // run() with the floating-point state set and exceptions turned into a Status.
  plugin::Status run_guarded(const plugin::LaunchArgs& args) const noexcept;

 protected:
  Threads& threads() const noexcept { return threads_; }

 private:
  Threads& threads_;
  std::atomic<int> references_{1};
};

// The address of operand `index`'s element at the origin of the iteration space.
template <typename T = char>
T* operand_pointer(const plugin::LaunchArgs& args, uint32_t index) noexcept {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(args.operand(index).address));
}

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_KERNEL_H_
