// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_PLUGINS_CUDA_EVENT_H_
#define BACKPLANE_PLUGINS_CUDA_EVENT_H_

#include <vector>

#include "gate.h"
#include "watcher.h"

namespace backplane::cuda {

// What a Stream needs of either kind of event.
class EventObject : public plugin::EventBase {
 public:
  virtual Status record_on(CUstream stream) noexcept = 0;
  virtual Status make_wait(CUstream stream) noexcept = 0;

 protected:
  ~EventObject() = default;
};

// A point in a stream's work: a CUevent. What watches one record() keeps that CUevent; the next record()
// takes another, or the watcher would wait for later work, which may itself wait for what the watcher is to
// signal.
class StreamEvent final : public EventObject {
 public:
  static Status create(std::shared_ptr<Context> context, std::shared_ptr<Watcher> watcher,
                       plugin::Event** event);
  void destroy() noexcept override { delete this; }
  Status query(bool* complete) noexcept override { return handle()->query(complete); }
  Status wait(uint64_t timeout_ns) noexcept override;
  Status on_complete(Watcher::Function function, void* argument) noexcept override;
  Status native_handle(void** handle) noexcept override;
  Status record_on(CUstream stream) noexcept override;
  Status make_wait(CUstream stream) noexcept override;

 private:
  StreamEvent(std::shared_ptr<EventHandle> handle, std::shared_ptr<Watcher> watcher)
      : handle_(std::move(handle)), watcher_(std::move(watcher)) {}
  ~StreamEvent() = default;
  std::shared_ptr<EventHandle> handle() const noexcept;

  mutable std::mutex mutex_;
  std::shared_ptr<EventHandle> handle_;
  const std::shared_ptr<Watcher> watcher_;
};

// An event that the host signals: a word in pinned memory that streams wait for (gate.h).
class HostEvent final : public EventObject {
 public:
  static Status create(std::shared_ptr<Context> context, std::shared_ptr<Gates> gates, plugin::Event** event);
  void destroy() noexcept override;
  Status query(bool* complete) noexcept override;
  Status wait(uint64_t timeout_ns) noexcept override;
  Status on_complete(Watcher::Function function, void* argument) noexcept override;
  Status signal() noexcept override;
  Status record_on(CUstream stream) noexcept override;
  Status make_wait(CUstream stream) noexcept override;

 private:
  struct Callback {
    Watcher::Function function;
    void* argument;
  };
  HostEvent(std::shared_ptr<Context> context, std::shared_ptr<Gates> gates, Gate gate)
      : context_(std::move(context)), gates_(std::move(gates)), gate_(gate) {}
  ~HostEvent() = default;
  const std::shared_ptr<Context> context_;
  const std::shared_ptr<Gates> gates_;
  const Gate gate_;
  std::mutex mutex_;
  std::condition_variable signalled_changed_;
  std::vector<Callback> callbacks_;
  bool signalled_ = false;
  bool awaited_ = false;  // a stream waits for it
};

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_EVENT_H_
