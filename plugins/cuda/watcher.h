// SPDX-License-Identifier: Apache-2.0
//
// Tells who asked when an event completes. One thread, started by the first request and asleep while there is
// nothing to watch, polls the events: it sees failures too, which the driver's own callbacks are not called
// for, and no callback can hold up another's stream.
#ifndef BACKPLANE_PLUGINS_CUDA_WATCHER_H_
#define BACKPLANE_PLUGINS_CUDA_WATCHER_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "context.h"

namespace backplane::cuda {

// A CUevent that lives until its Event and all that watch it are done with it.
struct EventHandle {
  EventHandle(std::shared_ptr<Context> its_context, CUevent its_event)
      : context(std::move(its_context)), event(its_event) {}
  ~EventHandle();
  EventHandle(const EventHandle&) = delete;
  EventHandle& operator=(const EventHandle&) = delete;

  // The driver's answer: complete, not yet, or why the work before it failed.
  Status query(bool* complete) noexcept;

  const std::shared_ptr<Context> context;
  const CUevent event;
};

class Watcher {
 public:
  using Function = void (*)(void* context, Status status) noexcept;

  Watcher() = default;
  // Ends the thread; what is still watched is told Unavailable.
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Calls `function(argument, status)` once, from the watcher's thread, when `event` completes or fails.
  void watch(std::shared_ptr<EventHandle> event, Function function, void* argument);

 private:
  struct Request {
    std::shared_ptr<EventHandle> event;
    Function function;
    void* argument;
  };
  void run();
  // Calls back for what is done and returns what is not.
  static std::vector<Request> sweep(std::vector<Request> requests);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Request> added_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_WATCHER_H_
