// SPDX-License-Identifier: Apache-2.0
//
// Streams and events. Programs need them only for concurrency: order between streams, devices, copies and
// frees is kept by the runtime, which tracks the last write and reads of every storage and makes a stream
// wait where it must.
//
// Every device has a default stream: a queue of its own, except the CPU's, which is the calling thread
// itself. Each thread works on the default stream of a device until a StreamGuard selects another. All
// classes are cheap handles; all functions are thread-safe.
#ifndef BACKPLANE_STREAM_H_
#define BACKPLANE_STREAM_H_

#include <chrono>
#include <functional>
#include <memory>

#include "backplane/device.h"
#include "backplane/export.h"

namespace backplane::internal {
struct StreamState;
struct EventState;
}  // namespace backplane::internal

namespace backplane::inline v0 {

class Event;

class BACKPLANE_API Stream {
 public:
  // A new asynchronous stream. Unimplemented where the device has none.
  explicit Stream(const Device& device, int priority = 0);
  explicit Stream(std::shared_ptr<internal::StreamState> state) noexcept : state_(std::move(state)) {}

  // The stream that this thread uses on `device` now, and the device's default one.
  static Stream current(const Device& device);
  static Stream default_of(const Device& device);

  // Wraps the vendor's own queue (CUstream, cl_command_queue), which must outlive all handles on it; handles
  // on one queue are equal. Dropping the last one blocks until the queue's work from here is done.
  static Stream wrap(const Device& device, void* native);

  Device device() const;

  // An event behind all work queued so far.
  Event record() const;

  // Later work on this stream starts after `event`, of whatever device. Blocks the host only on a synchronous
  // stream or where a plugin has no host events.
  void wait(const Event& event) const;

  bool idle() const;

  // Blocks until the stream's work is done and throws its first failure; Unavailable when `timeout` passes
  // first.
  void synchronize(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max()) const;

  void* native() const;  // owned by the stream

  friend bool operator==(const Stream& a, const Stream& b) noexcept { return a.state_ == b.state_; }
  const std::shared_ptr<internal::StreamState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<internal::StreamState> state_;
};

class BACKPLANE_API Event {
 public:
  explicit Event(std::shared_ptr<internal::EventState> state) noexcept : state_(std::move(state)) {}

  bool complete() const;
  void wait(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max()) const;

  // Calls `function` once, from any thread, when the event completes or fails; it must not block or throw.
  void on_complete(std::function<void()> function) const;

  const std::shared_ptr<internal::EventState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<internal::EventState> state_;
};

// This thread's work on the stream's device goes to that stream for a scope.
class BACKPLANE_API StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  std::shared_ptr<internal::StreamState> previous_;
  internal::DeviceState* device_;
};

}  // namespace backplane::inline v0

#endif  // BACKPLANE_STREAM_H_
