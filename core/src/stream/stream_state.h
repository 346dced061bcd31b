// SPDX-License-Identifier: Apache-2.0
//
// What core keeps for each stream: a count of the work queued on it, and markers (plugin events) at some
// counts, from which it knows how far the device has got and with which other streams are made to wait.
//
// A state is made once and never freed; when the last handle of an asynchronous stream goes, its state is
// kept for the next.
#ifndef BACKPLANE_SRC_STREAM_STREAM_STATE_H_
#define BACKPLANE_SRC_STREAM_STREAM_STATE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/plugin/interfaces.h"
#include "device/device_state.h"
#include "stream/use.h"
#include "trace/trace.h"

namespace backplane::internal {

struct StreamState {
  StreamState(DeviceState& d, plugin::Stream* s, bool sync)
      : device(d), stream(s), synchronous(sync), direct(sync && !trace_on()) {}

  DeviceState& device;
  plugin::Stream* stream;  // null after shutdown
  const bool synchronous;  // work is done when the call that queued it returns; there are no tickets
  const bool direct;       // synchronous, and nobody wants to know: work needs no submit()

  // Queues work: calls `enqueue()` (returning a Status) and counts it. Returns the ticket, 0 on a synchronous
  // stream.
  template <typename Enqueue>
  uint64_t submit(const char* what, Enqueue&& enqueue) {
    const TraceTime begin = trace_on() ? trace_now() : 0;
    uint64_t ticket = 0;
    if (synchronous) {
      device.check(enqueue(), what);
    } else {
      const std::lock_guard lock(mutex_);
      device.check(enqueue(), what);
      ticket = ++submitted_;
    }
    if (trace_on()) [[unlikely]]
      trace_work(what, begin, ticket);
    return ticket;
  }

  // Whether the work up to `ticket` is done, without blocking.
  bool complete(uint64_t ticket);

  // Whether that has been seen, whether the work failed or not. Asks nobody.
  bool is_known_done(uint64_t ticket) const noexcept {
    return completed_.load(std::memory_order_acquire) >= ticket;
  }

  // Lets others wait for the work up to here and for no more: whoever asks later waits for what has been
  // queued by then. `ticket` is that of the last work.
  void mark(uint64_t ticket);

  // Later work on this stream starts after `use`. Blocks only where this stream is synchronous or a plugin
  // has no host events.
  void wait_for(const Use& use);

  // Blocks until the work up to `ticket` is done; Unavailable after `timeout`.
  void synchronize(uint64_t ticket, std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max());

  // Blocks until all work is done and throws the first failure, which stays with the results of all work
  // that was not known to be done before.
  void synchronize(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max());

  // Calls function(context) once the work up to `ticket` is done or has failed. It may run at once, or on a
  // driver's thread.
  void on_complete(uint64_t ticket, void (*function)(void*, plugin::Status) noexcept, void* context);

  // Throws what made the work that ended at `ticket` fail, if that is known. A failure is kept for the
  // results of that work, whoever else has been told.
  void throw_failure(uint64_t ticket);

  // Whether that would throw.
  bool failed(uint64_t ticket);

  uint64_t last_ticket() {
    const std::lock_guard lock(mutex_);
    return submitted_;
  }

  // Destroys the plugin's objects; called at shutdown.
  void shut_down() noexcept;

 private:
  // Shared with whoever waits on it outside the lock, so that it is not recorded anew meanwhile.
  using SharedEvent = std::shared_ptr<plugin::Event>;
  struct Marker {
    uint64_t ticket;
    SharedEvent event;
  };
  struct Failure {  // of some work from `first` to `last`, as far apart as somebody asked
    uint64_t first, last;
    plugin::StatusCode code;
    int32_t vendor_code;
    std::string message;
  };
  struct Retired {  // a host event that this stream waits for, kept until it has passed it
    uint64_t ticket;
    plugin::Event* event;
  };

  void trace_work(const char* what, TraceTime begin, uint64_t ticket) noexcept;
  SharedEvent marker_locked(uint64_t ticket);  // an event at or after `ticket`
  void poll_locked();
  const Failure* find_failure_locked(uint64_t ticket) const;
  void finish_locked(uint64_t last, const plugin::Status& status);
  void note_failure_locked(uint64_t last, const plugin::Status& status);
  void wait_across_plugins(const Use& use);

  std::mutex mutex_;
  uint64_t submitted_ = 0;
  std::atomic<uint64_t> completed_{0};
  std::deque<Marker> markers_;  // in order of tickets
  std::deque<Retired> retired_;
  std::vector<SharedEvent> spare_events_;
  std::vector<Failure> failures_;
  std::atomic<bool> has_failures_{false};
};

// A point in one stream's work: what a host program's Event is.
struct EventState {
  std::shared_ptr<StreamState> stream;
  uint64_t ticket;
};

// Whether a StreamGuard of this thread has selected a stream of any device: nearly never. A plain value, so
// that reaching it takes no call.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local bool any_stream_selected;
StreamState& selected_stream(DeviceState& device);

// The stream that this thread's work on `device` goes to.
inline StreamState& current_stream(DeviceState& device) {
  if (any_stream_selected) [[unlikely]]
    return selected_stream(device);
  return *device.default_stream;
}
std::shared_ptr<StreamState> current_stream_handle(DeviceState& device);
std::shared_ptr<StreamState> set_current_stream(DeviceState& device, std::shared_ptr<StreamState> stream);

// A handle on a new or spare asynchronous stream, and on a host program's own.
std::shared_ptr<StreamState> acquire_stream(DeviceState& device, int priority);
std::shared_ptr<StreamState> wrap_stream(DeviceState& device, void* native);
std::shared_ptr<StreamState> make_default_stream(DeviceState& device);

// Every stream of the device that may have work, for synchronising all of them; and those on a host
// program's queues that it holds no handle on any more.
std::vector<StreamState*> all_streams(DeviceState& device);
std::vector<StreamState*> dropped_streams(DeviceState& device);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_STREAM_STREAM_STATE_H_
