// SPDX-License-Identifier: Apache-2.0
#include "stream/stream_state.h"

#include <fmt/format.h>

#include <algorithm>
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

// A plugin that answers too late costs nothing but this wait.
void check_in_time(DeviceState& device, const plugin::Status& status, std::chrono::nanoseconds timeout) {
  if (status.code != plugin::StatusCode::Unavailable || to_nanoseconds(timeout) == kForever)
    return device.check(status, "synchronize");
  throw Error(ErrorCode::Unavailable,
              fmt::format("synchronize on {}: its work is not done after {} ms, and goes on ({})",
                          device.name, static_cast<double>(timeout.count()) / 1e6,
                          status.message == nullptr ? to_string(status.code) : status.message),
              status.vendor_code);
}

// Completes the host event that the other plugin's stream waits for. A failure completes it too: it is
// reported by the stream that failed, and a stream that waits for ever would hide it.
// A second try costs nothing beside a stream that waits for ever.
void signal_host_event(void* context, plugin::Status) noexcept {
  auto* event = static_cast<plugin::Event*>(context);
  if (!event->signal().ok()) event->signal();
}

}  // namespace

// Markers are asked in order; a failed one counts as done.
void StreamState::poll_locked() {
  while (!markers_.empty()) {
    bool done = false;
    plugin::Status status = markers_.front().event->query(&done);
    if (status.ok() && !done) break;
    // Work that failed is done; but a question that failed says nothing of the work, and is put once more.
    if (!status.ok()) status = markers_.front().event->wait(0);
    if (status.code == plugin::StatusCode::Unavailable) break;
    finish_locked(markers_.front().ticket, status);
    if (markers_.front().event.use_count() == 1) spare_events_.push_back(std::move(markers_.front().event));
    markers_.pop_front();
  }
  while (!retired_.empty() && retired_.front().ticket <= completed_.load(std::memory_order_relaxed)) {
    retired_.front().event->destroy();
    retired_.pop_front();
  }
}

// All work up to `last` is done, or failed.
void StreamState::finish_locked(uint64_t last, const plugin::Status& status) {
  if (last <= completed_.load(std::memory_order_relaxed)) return;
  if (!status.ok()) note_failure_locked(last, status);
  completed_.store(last, std::memory_order_release);
}

void StreamState::note_failure_locked(uint64_t last, const plugin::Status& status) {
  const std::string message = status.message == nullptr ? to_string(status.code) : status.message;
  const uint64_t first = completed_.load(std::memory_order_relaxed) + 1;
  if (!failures_.empty() && failures_.back().last + 1 == first && failures_.back().message == message) {
    failures_.back().last = last;
    return;
  }
  constexpr size_t kMostFailures = 64;
  if (failures_.size() == kMostFailures) failures_.erase(failures_.begin());
  failures_.push_back({first, last, status.code, status.vendor_code, message});
  has_failures_.store(true, std::memory_order_release);
}

const StreamState::Failure* StreamState::find_failure_locked(uint64_t ticket) const {
  const auto found = std::find_if(failures_.begin(), failures_.end(), [&](const Failure& failure) {
    return failure.first <= ticket && ticket <= failure.last;
  });
  return found == failures_.end() ? nullptr : &*found;
}

void StreamState::throw_failure(uint64_t ticket) {
  if (!has_failures_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  if (const Failure* failure = find_failure_locked(ticket))
    device.fail({failure->code, failure->vendor_code, failure->message.c_str()}, "earlier work");
}

bool StreamState::failed(uint64_t ticket) {
  if (!has_failures_.load(std::memory_order_acquire)) return false;
  const std::lock_guard lock(mutex_);
  return find_failure_locked(ticket) != nullptr;
}

StreamState::SharedEvent StreamState::marker_locked(uint64_t ticket) {
  const auto found = std::lower_bound(markers_.begin(), markers_.end(), ticket,
                                      [](const Marker& marker, uint64_t t) { return marker.ticket < t; });
  if (found != markers_.end()) return found->event;
  SharedEvent event;
  if (!spare_events_.empty()) {
    event = std::move(spare_events_.back());
    spare_events_.pop_back();
  } else {
    plugin::Event* created = nullptr;
    device.check(device.device->create_event(&created), "create an event");
    event = SharedEvent(created, [](plugin::Event* e) { e->destroy(); });
  }
  device.check(stream->record(event.get()), "record an event");
  markers_.push_back({submitted_, event});
  return event;
}

bool StreamState::complete(uint64_t ticket) {
  if (synchronous || completed_.load(std::memory_order_acquire) >= ticket) return true;
  if (device.health.load(std::memory_order_acquire) != DeviceHealth::Ready) return true;
  const std::lock_guard lock(mutex_);
  poll_locked();
  if (completed_.load(std::memory_order_relaxed) >= ticket) return true;
  marker_locked(ticket);  // so that a later question can be answered
  return false;
}

void StreamState::mark(uint64_t ticket) {
  if (synchronous) return;
  const std::lock_guard lock(mutex_);
  if (completed_.load(std::memory_order_relaxed) < ticket) marker_locked(ticket);
}

void StreamState::synchronize(uint64_t ticket, std::chrono::nanoseconds timeout) {
  if (synchronous) return;
  if (completed_.load(std::memory_order_acquire) >= ticket) return throw_failure(ticket);
  device.ensure_ready();
  SharedEvent event;
  bool done = false;
  {
    const std::lock_guard lock(mutex_);
    poll_locked();
    done = completed_.load(std::memory_order_relaxed) >= ticket;
    if (!done) {
      event = marker_locked(ticket);
      stream->flush();
    }
  }
  if (done) return throw_failure(ticket);
  const plugin::Status status = event->wait(to_nanoseconds(timeout));
  {
    const std::lock_guard lock(mutex_);
    poll_locked();
  }
  throw_failure(ticket);
  check_in_time(device, status, timeout);
}

void StreamState::synchronize(std::chrono::nanoseconds timeout) {
  device.ensure_ready();
  if (synchronous) return check_in_time(device, stream->synchronize(to_nanoseconds(timeout)), timeout);
  const uint64_t last = last_ticket();
  plugin::Status status = stream->synchronize(to_nanoseconds(timeout));
  const std::string message = status.message == nullptr ? "" : status.message;
  if (status.message != nullptr) status.message = message.c_str();
  {
    const std::lock_guard lock(mutex_);
    poll_locked();
    // The plugin says it once: work that no marker asks about would pass for good.
    if (!status.ok() && status.code != plugin::StatusCode::Unavailable) finish_locked(last, status);
  }
  check_in_time(device, status, timeout);
}

void StreamState::wait_for(const Use& use) {
  StreamState& other = *use.stream;
  if (&other == this || other.complete(use.ticket)) return;
  if (synchronous) return other.synchronize(use.ticket);
  if (other.device.plugin != device.plugin) return wait_across_plugins(use);
  SharedEvent event;
  {
    const std::lock_guard lock(other.mutex_);
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
    const std::lock_guard lock(mutex_);
    const plugin::Status waited = stream->wait(gate);
    if (!waited.ok()) {
      gate->destroy();
      device.fail(waited, "wait for another device");
    }
    retired_.push_back({++submitted_, gate});
  }
  try {
    use.stream->on_complete(use.ticket, signal_host_event, gate);
  } catch (...) {
    gate->signal();  // nobody else would, and this stream would stand still for ever
    throw;
  }
}

void StreamState::on_complete(uint64_t ticket, void (*function)(void*, plugin::Status) noexcept,
                              void* context) {
  if (complete(ticket)) return function(context, plugin::kOk);
  SharedEvent event;
  {
    const std::lock_guard lock(mutex_);
    event = marker_locked(ticket);
    stream->flush();
  }
  // Outside the lock: the function may run now, and may ask about this stream.
  const plugin::Status status = event->on_complete(function, context);
  if (!status.ok()) {
    // Without callbacks the host has to wait; the other side must be let go in any case.
    event->wait(kForever);
    function(context, status);
  }
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
  const std::lock_guard lock(mutex_);
  for (const Retired& gate : retired_) gate.event->destroy();
  markers_.clear();
  retired_.clear();
  spare_events_.clear();
  completed_.store(kForever, std::memory_order_release);
  if (stream != nullptr) stream->destroy();
  stream = nullptr;
}

}  // namespace backplane::internal
