// SPDX-License-Identifier: Apache-2.0
//
// Devices without pool, streams and routes: weak, so that the definitions of those layers replace it.
#include <fmt/format.h>

#include "backplane/error.h"
#include "device/registry.h"

namespace backplane::internal {

class Pool {};
class KernelCache {};

__attribute__((weak)) DeviceState::DeviceState() = default;
__attribute__((weak)) DeviceState::~DeviceState() = default;

__attribute__((weak)) void DeviceState::open_or_throw() {
  const std::lock_guard lock(open_mutex);
  if (health == DeviceHealth::Ready) return;
  if (health != DeviceHealth::Unopened)
    throw Error(ErrorCode::Unavailable, name + ": forked, lost or shut down");
  check(plugin->backend->open(static_cast<uint32_t>(index), &device), "open");
  health = DeviceHealth::Ready;
}

__attribute__((weak)) void DeviceState::fail(const plugin::Status& status, const char* what) {
  throw Error(status.code,
              fmt::format("{} on {}: {}", what, name, status.message == nullptr ? "" : status.message),
              status.vendor_code);
}

__attribute__((weak)) void shut_down_device(DeviceState& state) {
  const DeviceHealth health = state.health.exchange(DeviceHealth::ShutDown);
  if (health != DeviceHealth::Forked && state.device != nullptr) state.device->destroy();
  state.device = nullptr;
}

}  // namespace backplane::internal

namespace backplane::inline v0 {

__attribute__((weak)) void Device::synchronize(std::chrono::nanoseconds) const { state_->ensure_ready(); }
__attribute__((weak)) MemoryStats Device::memory_stats() const { return {}; }
__attribute__((weak)) void Device::empty_cache() const {}
__attribute__((weak)) void Device::set_memory_limit(uint64_t bytes) const { state_->memory_limit = bytes; }
__attribute__((weak)) Route Runtime::route(const Device&, const Device&) const { return {}; }

}  // namespace backplane::inline v0
