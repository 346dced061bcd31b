// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include <chrono>

namespace faults {

using backplane::plugin::kOk;
using backplane::plugin::make_status;
using backplane::plugin::Status;

void Plan::arm(Fault fault) {
  const std::lock_guard lock(mutex_);
  fault_ = std::move(fault);
  armed_ = true;
  calls_ = 0;
  failed_.clear();
}

std::string Plan::disarm() {
  const std::lock_guard lock(mutex_);
  armed_ = false;
  return failed_;
}

void Plan::hold(int device) {
  const std::lock_guard lock(mutex_);
  held_ = device;
}

void Plan::release() {
  const std::lock_guard lock(mutex_);
  held_ = -1;
  changed_.notify_all();
}

Status Plan::call(int device, const char* method) noexcept {
  const std::lock_guard lock(mutex_);
  if (!armed_ || device != fault_.device || (!fault_.method.empty() && fault_.method != method)) return kOk;
  ++calls_;
  if (fault_.lasting ? calls_ < fault_.n : calls_ != fault_.n) return kOk;
  if (failed_.empty()) failed_ = method;
  return make_status(fault_.code, 77, "injected failure of %s", method);
}

bool Plan::lost(int device) const noexcept {
  const std::lock_guard lock(mutex_);
  return armed_ && fault_.lasting && device == fault_.device && calls_ >= fault_.n;
}

bool Plan::pass(int device, uint64_t timeout_ns) noexcept {
  std::unique_lock lock(mutex_);
  const auto free = [&] { return held_ != device; };
  if (timeout_ns != UINT64_MAX) return changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), free);
  changed_.wait(lock, free);
  return true;
}

void Plan::count(Object object, int device, int64_t change) noexcept {
  const std::lock_guard lock(mutex_);
  const auto row = static_cast<size_t>(device);
  if (alive_.size() <= row) alive_.resize(row + 1);
  alive_[row][static_cast<size_t>(object)] += change;
}

int64_t Plan::alive(Object object, int device) const {
  const std::lock_guard lock(mutex_);
  int64_t total = 0;
  for (size_t i = 0; i < alive_.size(); ++i)
    if (device < 0 || i == static_cast<size_t>(device)) total += alive_[i][static_cast<size_t>(object)];
  return total;
}

Plan& plan() {
  static auto* instance = new Plan;
  return *instance;
}

}  // namespace faults
