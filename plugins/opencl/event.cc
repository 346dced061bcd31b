// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <condition_variable>
#include <memory>

#include "opencl/objects.h"

namespace backplane::opencl {

namespace {

struct Notification {
  void (*function)(void*, Status) noexcept;
  void* context;
};

Status execution_status(cl_int status) noexcept {
  return status >= 0 ? kOk : cl_status(status, "a queued command");
}

void CL_CALLBACK notify(cl_event, cl_int status, void* data) {
  const std::unique_ptr<Notification> notification(static_cast<Notification*>(data));
  notification->function(notification->context, execution_status(status));
}

// Shared by the one who waits, who may give up, and the callback.
struct Waiter {
  std::mutex mutex;
  std::condition_variable changed;
  bool complete = false;
};

void CL_CALLBACK wake(cl_event, cl_int, void* data) {
  const std::unique_ptr<std::shared_ptr<Waiter>> waiter(static_cast<std::shared_ptr<Waiter>*>(data));
  const std::lock_guard lock((*waiter)->mutex);
  (*waiter)->complete = true;
  (*waiter)->changed.notify_all();
}

Status wait_at_most(cl_event event, uint64_t timeout_ns) {
  auto waiter = std::make_shared<Waiter>();
  auto shared = std::make_unique<std::shared_ptr<Waiter>>(waiter);
  BACKPLANE_OPENCL_TRY(
      cl_status(api().clSetEventCallback(event, CL_COMPLETE, wake, shared.get()), "clSetEventCallback"));
  (void)shared.release();
  // About 290 years, as far as the clock's own arithmetic goes.
  const auto limit = std::chrono::nanoseconds(timeout_ns > INT64_MAX / 2 ? INT64_MAX / 2 : timeout_ns);
  std::unique_lock lock(waiter->mutex);
  if (!waiter->changed.wait_for(lock, limit, [&] { return waiter->complete; }))
    return plugin::make_status(StatusCode::Unavailable, 0, "not complete after %llu ns",
                               static_cast<unsigned long long>(timeout_ns));
  return kOk;
}

}  // namespace

Status event_status(cl_event event, bool* complete) noexcept {
  cl_int status = CL_COMPLETE;
  BACKPLANE_OPENCL_TRY(cl_status(
      api().clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
      "clGetEventInfo"));
  *complete = status <= CL_COMPLETE;
  return execution_status(status);
}

Status wait_for(cl_event event, uint64_t timeout_ns) noexcept {
  bool complete = false;
  BACKPLANE_OPENCL_TRY(event_status(event, &complete));
  if (complete) return kOk;
  if (timeout_ns != UINT64_MAX) {
    BACKPLANE_OPENCL_TRY(plugin::guard([&] { return wait_at_most(event, timeout_ns); }));
  } else if (const cl_int code = api().clWaitForEvents(1, &event);
             code != CL_SUCCESS && code != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
    return cl_status(code, "clWaitForEvents");
  }
  return event_status(event, &complete);
}

ClEvent::ClEvent(EventHandle host_event) noexcept
    : is_host_(static_cast<bool>(host_event)), event_(std::move(host_event)) {}

void ClEvent::destroy() noexcept {
  // Whoever still waits for a host event that nobody will signal any more fails instead of hanging.
  if (is_host_ && !is_signalled_.exchange(true)) api().clSetUserEventStatus(event_.get(), CL_INVALID_EVENT);
  delete this;
}

void ClEvent::set(EventHandle event) noexcept {
  const std::lock_guard lock(mutex_);
  event_ = std::move(event);
}

EventHandle ClEvent::get() const noexcept {
  const std::lock_guard lock(mutex_);
  return EventHandle::retained(event_.get());
}

Status ClEvent::query(bool* complete) noexcept {
  *complete = true;
  const EventHandle event = get();
  return event ? event_status(event.get(), complete) : kOk;
}

Status ClEvent::wait(uint64_t timeout_ns) noexcept {
  const EventHandle event = get();
  return event ? wait_for(event.get(), timeout_ns) : kOk;
}

Status ClEvent::on_complete(void (*function)(void*, Status) noexcept, void* context) noexcept {
  const EventHandle event = get();
  bool complete = true;
  const Status status = event ? event_status(event.get(), &complete) : kOk;
  if (complete) {
    function(context, status);
    return kOk;
  }
  return plugin::guard([&] {
    auto notification = std::make_unique<Notification>(Notification{function, context});
    BACKPLANE_OPENCL_TRY(
        cl_status(api().clSetEventCallback(event.get(), CL_COMPLETE, notify, notification.get()),
                  "clSetEventCallback"));
    (void)notification.release();
    return kOk;
  });
}

Status ClEvent::signal() noexcept {
  if (!is_host_) return EventBase::signal();
  const EventHandle event = get();  // whoever waited may destroy this while the call below returns
  if (is_signalled_.exchange(true)) return kOk;
  return cl_status(api().clSetUserEventStatus(event.get(), CL_COMPLETE), "clSetUserEventStatus");
}

Status ClEvent::native_handle(void** handle) noexcept {
  const std::lock_guard lock(mutex_);
  if (!event_)
    return plugin::make_status(StatusCode::Unavailable, 0,
                               "the event was never recorded: it has no cl_event");
  *handle = event_.get();
  return kOk;
}

}  // namespace backplane::opencl
