// SPDX-License-Identifier: Apache-2.0
#include "watcher.h"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace backplane::cuda {
namespace {

constexpr std::chrono::microseconds kShortestPause{20};
constexpr std::chrono::microseconds kLongestPause{200};

}  // namespace

EventHandle::~EventHandle() {
  const ContextScope scope(*context);
  if (scope.status().ok()) cuEventDestroy(event);
}

Status EventHandle::query(bool* complete) noexcept {
  *complete = true;
  BACKPLANE_ENTER(*context);
  const CUresult result = cuEventQuery(event);
  if (result == CUDA_ERROR_NOT_READY) {
    *complete = false;
    return kOk;
  }
  return context->check(result, "cuEventQuery");
}

Watcher::~Watcher() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (!thread_.joinable()) return;
  if (forked()) {
    thread_.detach();  // it does not exist in this process
  } else {
    thread_.join();
  }
}

void Watcher::watch(std::shared_ptr<EventHandle> event, Function function, void* argument) {
  {
    const std::lock_guard lock(mutex_);
    added_.push_back({std::move(event), function, argument});
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  changed_.notify_one();
}

std::vector<Watcher::Request> Watcher::sweep(std::vector<Request> requests) {
  const auto still_waiting = [](const Request& request) {
    bool complete = false;
    const Status status = request.event->query(&complete);
    if (complete) request.function(request.argument, status);
    return !complete;
  };
  const auto done = std::stable_partition(requests.begin(), requests.end(), still_waiting);
  requests.erase(done, requests.end());
  return requests;
}

void Watcher::run() {
  std::vector<Request> requests;
  auto pause = kShortestPause;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (requests.empty()) {
        changed_.wait(lock, [this] { return stop_ || !added_.empty(); });
      } else {
        changed_.wait_for(lock, pause, [this] { return stop_ || !added_.empty(); });
      }
      if (stop_) break;
      if (!added_.empty()) pause = kShortestPause;
      std::move(added_.begin(), added_.end(), std::back_inserter(requests));
      added_.clear();
    }
    requests = sweep(std::move(requests));
    pause = std::min(pause * 2, kLongestPause);
  }
  std::move(added_.begin(), added_.end(), std::back_inserter(requests));
  for (const Request& request : requests)
    request.function(request.argument, make_status(StatusCode::Unavailable, 0, "the backend was closed"));
}

}  // namespace backplane::cuda
