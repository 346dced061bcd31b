// SPDX-License-Identifier: Apache-2.0
#include "driver/stream.h"

#include <chrono>
#include <thread>

namespace cuda_double {
namespace {
thread_local bool is_stream_thread = false;
}

bool on_stream_thread() { return is_stream_thread; }

std::shared_ptr<Stream> Stream::start(Context* context, uint32_t flags, int priority, uint64_t seed,
                                      uint32_t delay_us) {
  std::shared_ptr<Stream> stream(new Stream(context, flags, priority));
  std::thread([stream, seed, delay_us] { stream->run(seed, delay_us); }).detach();
  return stream;
}

void Stream::run(uint64_t seed, uint32_t delay_us) {
  is_stream_thread = true;
  std::mt19937_64 random(seed);
  for (;;) {
    Item item;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !items_.empty() || closing_; });
      if (items_.empty()) return;
      item = std::move(items_.front());
      items_.pop_front();
    }
    for (const auto& [stream, position] : item.after) stream->wait(position);
    if (delay_us != 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % (delay_us + 1)));
    item.work();
    item = {};
    const std::lock_guard lock(mutex_);
    ++completed_;
    changed_.notify_all();
  }
}

uint64_t Stream::enqueue(std::function<void()> work, std::vector<Position> after) {
  const std::lock_guard lock(mutex_);
  items_.push_back({std::move(work), std::move(after)});
  changed_.notify_all();
  return ++submitted_;
}

uint64_t Stream::submitted() const {
  const std::lock_guard lock(mutex_);
  return submitted_;
}

bool Stream::reached(uint64_t position) const {
  const std::lock_guard lock(mutex_);
  return completed_ >= position;
}

void Stream::wait(uint64_t position) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return completed_ >= position; });
}

void Stream::close() {
  const std::lock_guard lock(mutex_);
  closing_ = true;
  changed_.notify_all();
}

}  // namespace cuda_double
