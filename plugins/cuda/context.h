// SPDX-License-Identifier: Apache-2.0
//
// A CUcontext and what is known about its health. Everything that belongs to a device keeps its Context
// alive, so that objects that outlive their Device are harmless. Thread-safe.
#ifndef BACKPLANE_PLUGINS_CUDA_CONTEXT_H_
#define BACKPLANE_PLUGINS_CUDA_CONTEXT_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "error.h"

namespace backplane::cuda {

class Context {
 public:
  // Retains the primary context of `device`, which cudart, cuBLAS and PyTorch use too.
  static Status open_primary(CUdevice device, std::shared_ptr<Context>* context);
  // Over the host program's own context, which is left as it was.
  static Status adopt(CUcontext handle, std::shared_ptr<Context>* context);

  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  CUcontext handle() const noexcept { return handle_; }
  CUdevice device() const noexcept { return device_; }

  // The driver's answer as a Status. A sticky failure makes this context lost.
  Status check(CUresult result, const char* call) noexcept;

  // Ok; or why no call may be made: DeviceLost, with the first failure's words, or Unavailable after a fork.
  Status usable() const noexcept;

  // A host event that a stream waits for is open until it is signalled. cuMemFree may wait for the whole
  // device, so while one is open frees are put off, and done by the next allocation or free after it.
  void gate_opened() noexcept { ++open_gates_; }
  void gate_closed() noexcept { --open_gates_; }
  void free_device_memory(CUdeviceptr address) noexcept;
  void free_put_off() noexcept;

 private:
  Context(CUcontext handle, CUdevice device, bool primary)
      : handle_(handle), device_(device), primary_(primary) {}

  const CUcontext handle_;
  const CUdevice device_;
  const bool primary_;
  std::atomic<bool> lost_{false};
  std::atomic<int> open_gates_{0};
  mutable std::mutex mutex_;
  std::string failure_;               // the first sticky failure
  std::vector<CUdeviceptr> put_off_;  // memory to free when no gate is open
};

// Makes a context current for the length of a scope and leaves the host program's as it was.
class ContextScope {
 public:
  explicit ContextScope(const Context& context) noexcept;
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  const Status& status() const noexcept { return status_; }

 private:
  Status status_;
  bool pushed_ = false;
};

// Notes that a child of fork cannot use the driver. Called once, when the backend is made.
void watch_for_fork() noexcept;
bool forked() noexcept;

}  // namespace backplane::cuda

// Enters `context` for the rest of the enclosing function, or returns from it with the reason why not.
#define BACKPLANE_ENTER(context)                        \
  const ::backplane::cuda::ContextScope scope(context); \
  BACKPLANE_TRY(scope.status())

#endif  // BACKPLANE_PLUGINS_CUDA_CONTEXT_H_
