// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <chrono>
#include <cstdlib>

#include "far.h"

namespace far {
namespace {

constexpr uint64_t kForEver = uint64_t{1} << 60;

template <typename Done>
bool wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, uint64_t timeout_ns,
                Done done) {
  if (timeout_ns >= kForEver) return changed.wait(lock, done), true;
  return changed.wait_until(lock, std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns),
                            done);
}

Status too_late(uint64_t timeout_ns) noexcept {
  return plugin::make_status(StatusCode::Unavailable, 0, "not done after %llu ns",
                             static_cast<unsigned long long>(timeout_ns));
}

Status result(bool failed) noexcept {
  if (!failed) return kOk;
  return {StatusCode::Internal, 17, "the kernel failed on purpose"};
}

// Large memory in large pages, as a device's own is.
char* take_memory(uint64_t size) noexcept {
  constexpr uint64_t kHugePage = uint64_t{2} << 20;
  if (size < kHugePage) return static_cast<char*>(std::malloc(size));
  const uint64_t whole = (size + kHugePage - 1) / kHugePage * kHugePage;
  void* memory = std::aligned_alloc(kHugePage, whole);
  if (memory != nullptr) madvise(memory, whole, MADV_HUGEPAGE);
  return static_cast<char*>(memory);
}

const FarBuffer& cast(plugin::Buffer* buffer) noexcept { return *static_cast<FarBuffer*>(buffer); }

}  // namespace

void Moment::complete(bool failed) {
  std::vector<std::pair<Function, void*>> functions;
  {
    const std::lock_guard lock(mutex_);
    if (complete_) return;
    complete_ = true;
    failed_ = failed;
    functions.swap(functions_);
    changed_.notify_all();
  }
  for (const auto& [function, context] : functions) function(context, result(failed));
}

Status Moment::query(bool* complete) {
  const std::lock_guard lock(mutex_);
  *complete = complete_;
  return result(failed_);
}

Status Moment::wait(uint64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  if (!wait_until(changed_, lock, timeout_ns, [&] { return complete_; })) return too_late(timeout_ns);
  return result(failed_);
}

void Moment::on_complete(Function function, void* context) {
  {
    const std::lock_guard lock(mutex_);
    if (!complete_) return void(functions_.emplace_back(function, context));
  }
  function(context, result(failed_));
}

std::shared_ptr<Moment> FarEvent::moment() {
  const std::lock_guard lock(mutex_);
  return moment_;
}

void FarEvent::set(std::shared_ptr<Moment> moment) {
  const std::lock_guard lock(mutex_);
  moment_.swap(moment);
}

Status FarEvent::query(bool* complete) noexcept {
  *complete = true;
  const auto now = moment();
  return now == nullptr ? kOk : now->query(complete);
}

Status FarEvent::wait(uint64_t timeout_ns) noexcept {
  const auto now = moment();
  return now == nullptr ? kOk : now->wait(timeout_ns);
}

Status FarEvent::on_complete(Moment::Function function, void* context) noexcept {
  return plugin::guard([&] {
    if (const auto now = moment())
      now->on_complete(function, context);
    else
      function(context, kOk);
    return kOk;
  });
}

Status FarEvent::signal() noexcept {
  if (!host_) return EventBase::signal();
  return plugin::guard([&] { return moment()->complete(false), kOk; });
}

FarBuffer::FarBuffer(uint64_t size, bool pinned, std::atomic<uint64_t>* used)
    : size_(size), pinned_(pinned), used_(used), memory_(take_memory(size)) {
  if (memory_ == nullptr) throw std::bad_alloc();
}

FarBuffer::FarBuffer(void* memory, uint64_t size) noexcept
    : size_(size), pinned_(false), used_(nullptr), memory_(static_cast<char*>(memory)) {}

void FarBuffer::destroy() noexcept {
  if (used_ != nullptr) {
    std::free(memory_);
    used_->fetch_sub(size_);
  }
  delete this;
}

FarStream::FarStream(const Options& options)
    : options_(options), random_(options.seed), thread_([this] { run(); }) {}

void FarStream::destroy() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
  delete this;
}

void FarStream::pause() {
  if (options_.delay_us == 0) return;
  std::this_thread::sleep_for(std::chrono::microseconds(random_() % options_.delay_us));
}

void FarStream::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    auto& work = queue_.front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
    queue_.pop_front();
    changed_.notify_all();
  }
}

Status FarStream::add(std::function<void()> work) noexcept {
  return plugin::guard([&] {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    changed_.notify_all();
    return kOk;
  });
}

Status FarStream::copy(plugin::Buffer* dst, uint64_t to, plugin::Buffer* src, uint64_t from,
                       uint64_t bytes) noexcept {
  return add([=, this, d = cast(dst).at(to), s = cast(src).at(from)] {
    pause();
    std::memmove(d, s, bytes);
  });
}

Status FarStream::upload(plugin::Buffer* dst, uint64_t to, const void* src, uint64_t bytes) noexcept {
  return add([=, this, d = cast(dst).at(to)] {
    pause();
    if (bytes > 0) std::memcpy(d, src, bytes);
  });
}

Status FarStream::download(void* dst, plugin::Buffer* src, uint64_t from, uint64_t bytes) noexcept {
  return add([=, this, s = cast(src).at(from)] {
    pause();
    if (bytes > 0) std::memcpy(dst, s, bytes);
  });
}

Status FarStream::fill(plugin::Buffer* dst, uint64_t to, uint64_t bytes, const void* pattern,
                       uint32_t size) noexcept {
  uint64_t bits = 0;
  std::memcpy(&bits, pattern, size);
  return add([=, this, d = cast(dst).at(to)] {
    pause();
    for (uint64_t done = 0; done < bytes; done += size) std::memcpy(d + done, &bits, size);
  });
}

Status FarStream::record(plugin::Event* event) noexcept {
  return plugin::guard([&] {
    auto moment = std::make_shared<Moment>();
    const Status status = add([this, moment] { moment->complete(failed_); });
    if (status.ok()) static_cast<FarEvent*>(event)->set(std::move(moment));
    return status;
  });
}

Status FarStream::wait(plugin::Event* event) noexcept {
  const auto moment = static_cast<FarEvent*>(event)->moment();
  if (moment == nullptr) return kOk;
  return add([moment] { moment->wait(UINT64_MAX); });
}

Status FarStream::query(bool* idle) noexcept {
  const std::lock_guard lock(mutex_);
  *idle = queue_.empty();
  return kOk;
}

Status FarStream::synchronize(uint64_t timeout_ns) noexcept {
  std::unique_lock lock(mutex_);
  if (!wait_until(changed_, lock, timeout_ns, [&] { return queue_.empty(); })) return too_late(timeout_ns);
  return result(failed_.exchange(false));
}

}  // namespace far
