// SPDX-License-Identifier: Apache-2.0
#include "device/device_state.h"

#include <fmt/format.h>

#include "backplane/error.h"
#include "memory/pinned.h"
#include "memory/pool.h"
#include "stream/kernel_cache.h"
#include "stream/stream_state.h"

namespace backplane::internal {
namespace {

// Host memory is shared with everybody: take at most this part of what is available.
constexpr double kHostMemoryShare = 0.8;

void limit_host_memory(DeviceState& device) {
  plugin::Telemetry telemetry{};
  telemetry.struct_size = sizeof telemetry;
  if (!device.device->telemetry(&telemetry).ok() || (telemetry.has & plugin::kHasMemoryFree) == 0) return;
  const auto share = static_cast<uint64_t>(static_cast<double>(telemetry.memory_free) * kHostMemoryShare);
  device.pool->set_limit(share);
}

}  // namespace

DeviceState::DeviceState() = default;
DeviceState::~DeviceState() = default;

void DeviceState::open_or_throw() {
  const std::lock_guard lock(open_mutex);
  switch (health.load(std::memory_order_acquire)) {
    case DeviceHealth::Ready:
      return;
    case DeviceHealth::Lost:
      throw Error(ErrorCode::DeviceLost, fmt::format("{} is lost: {}", name, lost_reason));
    case DeviceHealth::Forked:
      throw Error(ErrorCode::Unavailable, fmt::format("{}: initialised before fork", name));
    case DeviceHealth::ShutDown:
      throw Error(ErrorCode::Unavailable, fmt::format("{}: the runtime was shut down", name));
    case DeviceHealth::Unopened:
      break;
  }
  if (device == nullptr) {
    plugin::Device* opened = nullptr;
    check(plugin->backend->open(static_cast<uint32_t>(index), &opened), "open");
    device = opened;
  }
  pool = std::make_unique<Pool>(*this);
  pinned = std::make_unique<PinnedCache>(*this);
  kernels = std::make_unique<KernelCache>(*this);
  default_stream = make_default_stream(*this);
  if (host_memory && memory_limit.load() == 0) limit_host_memory(*this);
  health.store(DeviceHealth::Ready, std::memory_order_release);
}

void DeviceState::fail(const plugin::Status& status, const char* what) {
  const std::string reason = status.message == nullptr ? to_string(status.code) : status.message;
  if (status.code == plugin::StatusCode::DeviceLost) {
    auto ready = DeviceHealth::Ready;
    static std::mutex reason_mutex;
    const std::lock_guard lock(reason_mutex);
    if (health.load() == DeviceHealth::Ready) {
      lost_reason = reason;
      health.compare_exchange_strong(ready, DeviceHealth::Lost);
    }
  }
  throw Error(status.code, fmt::format("{} on {}: {}", what, name, reason), status.vendor_code);
}

void drain_device(DeviceState& device) noexcept {
  const std::lock_guard lock(device.open_mutex);
  if (device.health.load() != DeviceHealth::Ready) return;
  // A failure may be of the work, which is then done, or of the call, which may go better next time.
  for (StreamState* stream : all_streams(device))
    for (int attempt = 0; attempt < 3 && !stream->stream->synchronize(UINT64_MAX).ok(); ++attempt) continue;
}

// In the order in which objects depend on each other. A lost device's driver is not called for more than it
// needs.
void shut_down_device(DeviceState& device) {
  const std::lock_guard lock(device.open_mutex);
  const DeviceHealth health = device.health.exchange(DeviceHealth::ShutDown);
  if (health == DeviceHealth::Forked || device.device == nullptr) return;
  const std::vector<StreamState*> streams = all_streams(device);
  for (StreamState* stream : streams) stream->stream->synchronize(UINT64_MAX);
  for (StreamState* stream : streams) stream->shut_down();
  for (StreamState* stream : dropped_streams(device)) stream->shut_down();
  device.kernels.reset();
  device.pinned.reset();
  device.pool.reset();
  device.device->destroy();
  device.device = nullptr;
}

}  // namespace backplane::internal
