// SPDX-License-Identifier: Apache-2.0
#include "backplane/stream.h"

#include "backplane/error.h"
#include "stream/stream_state.h"

namespace backplane::inline v0 {
namespace {

void run_and_delete(void* context, plugin::Status) noexcept {
  const std::unique_ptr<std::function<void()>> function(static_cast<std::function<void()>*>(context));
  (*function)();
}

// A handle whose state was moved to another one is an error, not a crash.
template <typename State>
State& valid(const std::shared_ptr<State>& state, const char* what) {
  if (state == nullptr)
    throw Error(ErrorCode::InvalidArgument, std::string(what) + ": the handle has been moved from");
  return *state;
}

}  // namespace

Stream::Stream(const Device& device, int priority)
    : state_(internal::acquire_stream(*device.state(), priority)) {}

Stream Stream::current(const Device& device) {
  device.state()->ensure_ready();
  return Stream(internal::current_stream_handle(*device.state()));
}

Stream Stream::default_of(const Device& device) {
  device.state()->ensure_ready();
  return Stream(device.state()->default_stream);
}

Stream Stream::wrap(const Device& device, void* native) {
  return Stream(internal::wrap_stream(*device.state(), native));
}

Device Stream::device() const { return Device(&valid(state_, "Stream::device").device); }

Event Stream::record() const {
  valid(state_, "Stream::record").device.ensure_ready();
  return Event(std::make_shared<internal::EventState>(internal::EventState{state_, state_->last_ticket()}));
}

void Stream::wait(const Event& event) const {
  valid(state_, "Stream::wait").device.ensure_ready();
  const internal::EventState& awaited = valid(event.state(), "Stream::wait");
  state_->wait_for({awaited.stream.get(), awaited.ticket});
}

bool Stream::idle() const {
  valid(state_, "Stream::idle").device.ensure_ready();
  return state_->complete(state_->last_ticket());
}

void Stream::synchronize(std::chrono::nanoseconds timeout) const {
  valid(state_, "Stream::synchronize").synchronize(timeout);
}

void* Stream::native() const {
  valid(state_, "Stream::native").device.ensure_ready();
  void* handle = nullptr;
  state_->device.check(state_->stream->native_handle(&handle), "native stream");
  return handle;
}

bool Event::complete() const { return valid(state_, "Event::complete").stream->complete(state_->ticket); }

void Event::wait(std::chrono::nanoseconds timeout) const {
  valid(state_, "Event::wait").stream->synchronize(state_->ticket, timeout);
}

void Event::on_complete(std::function<void()> function) const {
  if (!function) throw Error(ErrorCode::InvalidArgument, "Event::on_complete: no function");
  valid(state_, "Event::on_complete")
      .stream->on_complete(state_->ticket, run_and_delete, new std::function<void()>(std::move(function)));
}

StreamGuard::StreamGuard(const Stream& stream)
    : previous_(internal::set_current_stream(valid(stream.state(), "StreamGuard").device, stream.state())),
      device_(&stream.state()->device) {}

StreamGuard::~StreamGuard() { internal::set_current_stream(*device_, std::move(previous_)); }

}  // namespace backplane::inline v0
