// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_CPU_EVENT_H_
#define BACKPLANE_CPU_EVENT_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/plugin/base.h"

namespace backplane::cpu {

// A status that outlives the call it came from.
struct OwnedStatus {
  plugin::StatusCode code = plugin::StatusCode::Ok;
  int32_t vendor_code = 0;
  std::string message;

  static OwnedStatus from(const plugin::Status& status);
  // With the message in the calling thread's own buffer, as the boundary asks.
  plugin::Status get() const noexcept;
};

// One moment that is waited for; completed once. Shared by the event and the queued work that completes it.
class Completion {
 public:
  using Function = void (*)(void* context, plugin::Status status) noexcept;

  // False, changing nothing, when already complete.
  bool complete(const OwnedStatus& status);
  plugin::Status query(bool* complete);
  plugin::Status wait(uint64_t timeout_ns);
  void on_complete(Function function, void* context);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool complete_ = false;
  OwnedStatus status_;
  std::vector<std::pair<Function, void*>> functions_;
};

// Waits on `changed` until `done()` holds, at most `timeout_ns`; UINT64_MAX waits for ever. Returns done().
template <typename Done>
bool wait_for(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, uint64_t timeout_ns,
              Done done) {
  // Longer than this is for ever, and would overflow the clock.
  constexpr uint64_t kForEver = uint64_t{1} << 60;
  if (timeout_ns >= kForEver) {
    changed.wait(lock, done);
    return true;
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns);
  return changed.wait_until(lock, until, done);
}

class CpuEvent final : public plugin::EventBase {
 public:
  // A host event is incomplete until signalled; any other is complete until it is recorded.
  explicit CpuEvent(bool host) : host_(host), current_(host ? std::make_shared<Completion>() : nullptr) {}

  void destroy() noexcept override { delete this; }
  plugin::Status query(bool* complete) noexcept override;
  plugin::Status wait(uint64_t timeout_ns) noexcept override;
  plugin::Status on_complete(Completion::Function function, void* context) noexcept override;
  plugin::Status signal() noexcept override;

  bool host() const noexcept { return host_; }
  // The moment of the last record(); null when that is past.
  std::shared_ptr<Completion> current();
  void set_current(std::shared_ptr<Completion> completion);

 private:
  ~CpuEvent() = default;

  const bool host_;
  std::mutex mutex_;
  std::shared_ptr<Completion> current_;
};

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_EVENT_H_
