// SPDX-License-Identifier: Apache-2.0
#include "cpu/event.h"

#include <chrono>
#include <utility>

namespace backplane::cpu {

using plugin::make_status;
using plugin::Status;
using plugin::StatusCode;

OwnedStatus OwnedStatus::from(const Status& status) {
  return {status.code, status.vendor_code, status.message == nullptr ? "" : status.message};
}

Status OwnedStatus::get() const noexcept {
  if (code == StatusCode::Ok) return plugin::kOk;
  return make_status(code, vendor_code, "%s", message.c_str());
}

bool Completion::complete(const OwnedStatus& status) {
  std::vector<std::pair<Function, void*>> functions;
  {
    const std::lock_guard lock(mutex_);
    if (complete_) return false;
    complete_ = true;
    status_ = status;
    functions.swap(functions_);
  }
  changed_.notify_all();
  for (const auto& [function, context] : functions) function(context, status.get());
  return true;
}

Status Completion::query(bool* complete) {
  const std::lock_guard lock(mutex_);
  *complete = complete_;
  return complete_ ? status_.get() : plugin::kOk;
}

Status Completion::wait(uint64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  if (!wait_for(changed_, lock, timeout_ns, [&] { return complete_; })) {
    return make_status(StatusCode::Unavailable, 0, "the event is not complete after %llu ns",
                       static_cast<unsigned long long>(timeout_ns));
  }
  return status_.get();
}

void Completion::on_complete(Function function, void* context) {
  {
    const std::lock_guard lock(mutex_);
    if (!complete_) {
      functions_.emplace_back(function, context);
      return;
    }
  }
  function(context, status_.get());
}

std::shared_ptr<Completion> CpuEvent::current() {
  const std::lock_guard lock(mutex_);
  return current_;
}

void CpuEvent::set_current(std::shared_ptr<Completion> completion) {
  const std::lock_guard lock(mutex_);
  current_.swap(completion);
}

Status CpuEvent::query(bool* complete) noexcept {
  return plugin::guard([&] {
    if (const auto completion = current()) return completion->query(complete);
    *complete = true;
    return plugin::kOk;
  });
}

Status CpuEvent::wait(uint64_t timeout_ns) noexcept {
  return plugin::guard([&] {
    const auto completion = current();
    return completion ? completion->wait(timeout_ns) : plugin::kOk;
  });
}

Status CpuEvent::on_complete(Completion::Function function, void* context) noexcept {
  return plugin::guard([&] {
    if (const auto completion = current()) {
      completion->on_complete(function, context);
    } else {
      function(context, plugin::kOk);
    }
    return plugin::kOk;
  });
}

Status CpuEvent::signal() noexcept {
  if (!host_) return EventBase::signal();
  return plugin::guard([&] {
    current()->complete({});
    return plugin::kOk;
  });
}

}  // namespace backplane::cpu
