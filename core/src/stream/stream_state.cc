// SPDX-License-Identifier: Apache-2.0
#include "stream/stream_state.h"

#include <limits>
#include <utility>

#include "backplane/error.h"

namespace backplane::internal {
namespace {

constexpr uint64_t kForever = std::numeric_limits<uint64_t>::max();

uint64_t to_nanoseconds(std::chrono::nanoseconds timeout) {
  if (timeout == std::chrono::nanoseconds::max()) return kForever;
  return timeout.count() < 0 ? 0 : static_cast<uint64_t>(timeout.count());
}

// Completes the host event that the other plugin's stream waits for. A failure completes it too: it is
// reported by the stream that failed, and a stream that waits for ever would hide it.
void signal_host_event(void* event, plugin::Status) noexcept { static_cast<plugin::Event*>(event)->signal(); }

}  // namespace

// Markers are asked in order; a failed one counts as done, its failure being reported by synchronize().
void StreamState::poll_locked() {
  while (!markers.empty()) {
    bool done = false;
    const plugin::Status status = markers.front().event->query(&done);
    if (status.ok() && !done) break;
    completed.store(markers.front().ticket, std::memory_order_release);
    if (markers.front().event.use_count() == 1) spare_events.push_back(std::move(markers.front().event));
    markers.pop_front();
  }
  while (!retired.empty() && retired.front().ticket <= completed.load(std::memory_order_relaxed)) {
    retired.front().event->destroy();
    retired.pop_front();
  }
}

StreamState::SharedEvent StreamState::marker_locked(uint64_t ticket) {
  for (const Marker& marker : markers)
    if (marker.ticket >= ticket) return marker.event;
  SharedEvent event;
  if (!spare_events.empty()) {
    event = std::move(spare_events.back());
    spare_events.pop_back();
  } else {
    plugin::Event* created = nullptr;
    device.check(device.device->create_event(&created), "create an event");
    event = SharedEvent(created, [](plugin::Event* e) { e->destroy(); });
  }
  device.check(stream->record(event.get()), "record an event");
  markers.push_back({submitted, event});
  return event;
}

bool StreamState::complete(uint64_t ticket) {
  if (synchronous || completed.load(std::memory_order_acquire) >= ticket) return true;
  if (device.health.load(std::memory_order_acquire) != DeviceHealth::Ready) return true;
  const std::lock_guard lock(mutex);
  poll_locked();
  if (completed.load(std::memory_order_relaxed) >= ticket) return true;
  marker_locked(ticket);  // so that a later question can be answered
  return false;
}

void StreamState::synchronize(uint64_t ticket, std::chrono::nanoseconds timeout) {
  if (synchronous || completed.load(std::memory_order_acquire) >= ticket) return;
  device.ensure_ready();
  SharedEvent event;
  {
    const std::lock_guard lock(mutex);
    poll_locked();
    if (completed.load(std::memory_order_relaxed) >= ticket) return;
    event = marker_locked(ticket);
    stream->flush();
  }
  device.check(event->wait(to_nanoseconds(timeout)), "synchronize");
  const std::lock_guard lock(mutex);
  poll_locked();
}

void StreamState::synchronize(std::chrono::nanoseconds timeout) {
  device.ensure_ready();
  device.check(stream->synchronize(to_nanoseconds(timeout)), "synchronize");
  if (synchronous) return;
  const std::lock_guard lock(mutex);
  poll_locked();
}

void StreamState::wait_for(const Use& use) {
  StreamState& other = *use.stream;
  if (&other == this || other.complete(use.ticket)) return;
  if (synchronous) return other.synchronize(use.ticket);
  if (other.device.plugin != device.plugin) return wait_across_plugins(use);
  SharedEvent event;
  {
    const std::lock_guard lock(other.mutex);
    event = other.marker_locked(use.ticket);
    other.stream->flush();
  }
  device.check(stream->wait(event.get()), "wait for another stream");
}

void StreamState::wait_across_plugins(const Use& use) {
  plugin::Event* gate = nullptr;
  const plugin::Status status = device.device->create_host_event(&gate);
  if (status.code == plugin::StatusCode::Unimplemented) return use.stream->synchronize(use.ticket);
  device.check(status, "create a host event");
  {
    const std::lock_guard lock(mutex);
    const plugin::Status waited = stream->wait(gate);
    if (!waited.ok()) {
      gate->destroy();
      device.fail(waited, "wait for another device");
    }
    retired.push_back({++submitted, gate});
  }
  use.stream->on_complete(use.ticket, signal_host_event, gate);
}

void StreamState::on_complete(uint64_t ticket, void (*function)(void*, plugin::Status) noexcept,
                              void* context) {
  if (complete(ticket)) return function(context, plugin::kOk);
  const std::lock_guard lock(mutex);
  const SharedEvent event = marker_locked(ticket);
  const plugin::Status status = event->on_complete(function, context);
  if (!status.ok()) {
    // Without callbacks the host has to wait; the other side must be let go in any case.
    event->wait(kForever);
    function(context, status);
  }
  stream->flush();
}

void StreamState::trace_work(const char* what, TraceTime begin, uint64_t ticket) noexcept {
  void* queued = nullptr;
  try {
    const std::string args = TraceNote::args();
    if (synchronous)
      return trace_slice(thread_lane(device.trace_process), TraceNote::category(), what, begin, args);
    const TraceLane lane = stream_lane(device.trace_process, this);
    queued = trace_queued(lane, TraceNote::category(), what, begin, args);
    on_complete(
        ticket, [](void* work, plugin::Status status) noexcept { trace_done(work, status); }, queued);
  } catch (const std::exception&) {
    // What cannot be followed ends here, as far as anybody can see.
    if (queued != nullptr) trace_done(queued, plugin::kOk);
  }
}

void StreamState::shut_down() noexcept {
  const std::lock_guard lock(mutex);
  for (const Retired& gate : retired) gate.event->destroy();
  markers.clear();
  retired.clear();
  spare_events.clear();
  completed.store(kForever, std::memory_order_release);
  if (stream != nullptr) stream->destroy();
  stream = nullptr;
}

}  // namespace backplane::internal
