// SPDX-License-Identifier: Apache-2.0
#include "opencl/exit.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace backplane::opencl {

namespace {

struct Queues {
  std::mutex mutex;
  std::vector<QueueHandle> handles;
  const pid_t process = ::getpid();
};

Queues& queues() {
  static auto* instance = new Queues;  // outlives every static object
  return *instance;
}

void finish_all() noexcept {
  // In a child of fork the driver's threads are not there to finish anything.
  if (queues().process != ::getpid()) return;
  const std::lock_guard lock(queues().mutex);
  for (const QueueHandle& queue : queues().handles) api().clFinish(queue.get());
}

struct Watcher {
  ~Watcher() {
    if (::gettid() == ::getpid()) finish_all();
  }
  void begin() noexcept {}
};

thread_local Watcher watcher;
[[gnu::tls_model("initial-exec")]] thread_local constinit bool watched = false;

}  // namespace

void finish_at_exit(cl_command_queue queue) {
  const std::lock_guard lock(queues().mutex);
  queues().handles.push_back(QueueHandle::retained(queue));
}

void forget_at_exit(cl_command_queue queue) noexcept {
  const std::lock_guard lock(queues().mutex);
  std::erase_if(queues().handles, [queue](const QueueHandle& known) { return known.get() == queue; });
}

void renew_exit_handler() noexcept {
  std::atexit([] { finish_all(); });
}

void watch_this_thread() noexcept {
  if (watched) return;
  watched = true;
  watcher.begin();
}

}  // namespace backplane::opencl
