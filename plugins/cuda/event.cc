// SPDX-License-Identifier: Apache-2.0
#include "event.h"

#include "poll.h"

namespace backplane::cuda {

namespace {

Status create_handle(std::shared_ptr<Context> context, std::shared_ptr<EventHandle>* handle) {
  CUevent event = nullptr;
  BACKPLANE_CU(*context, cuEventCreate, &event, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);
  *handle = std::make_shared<EventHandle>(std::move(context), event);
  return kOk;
}

}  // namespace

Status StreamEvent::create(std::shared_ptr<Context> context, std::shared_ptr<Watcher> watcher,
                           plugin::Event** event) {
  BACKPLANE_ENTER(*context);
  std::shared_ptr<EventHandle> handle;
  BACKPLANE_TRY(create_handle(std::move(context), &handle));
  *event = new StreamEvent(std::move(handle), std::move(watcher));
  return kOk;
}

std::shared_ptr<EventHandle> StreamEvent::handle() const noexcept {
  const std::lock_guard lock(mutex_);
  return handle_;
}

Status StreamEvent::wait(uint64_t timeout_ns) noexcept {
  const std::shared_ptr<EventHandle> recorded = handle();
  if (timeout_ns == UINT64_MAX) {
    BACKPLANE_ENTER(*recorded->context);
    return recorded->context->check(cuEventSynchronize(recorded->event), "cuEventSynchronize");
  }
  return poll(timeout_ns, "the event", [&](bool* complete) { return recorded->query(complete); });
}

Status StreamEvent::on_complete(Watcher::Function function, void* argument) noexcept {
  return plugin::guard([&]() -> Status {
    std::shared_ptr<EventHandle> recorded = handle();
    bool complete = false;
    const Status status = recorded->query(&complete);
    if (complete) {
      function(argument, status);
    } else {
      watcher_->watch(std::move(recorded), function, argument);
    }
    return kOk;
  });
}

Status StreamEvent::native_handle(void** native) noexcept {
  *native = handle()->event;
  return kOk;
}

Status StreamEvent::record_on(CUstream stream) noexcept {
  return plugin::guard([&]() -> Status {
    const std::lock_guard lock(mutex_);
    if (handle_.use_count() > 1) BACKPLANE_TRY(create_handle(handle_->context, &handle_));
    return handle_->context->check(cuEventRecord(handle_->event, stream), "cuEventRecord");
  });
}

Status StreamEvent::make_wait(CUstream stream) noexcept {
  const std::shared_ptr<EventHandle> recorded = handle();
  return recorded->context->check(cuStreamWaitEvent(stream, recorded->event, CU_EVENT_WAIT_DEFAULT),
                                  "cuStreamWaitEvent");
}

Status HostEvent::create(std::shared_ptr<Context> context, std::shared_ptr<Gates> gates,
                         plugin::Event** event) {
  Gate gate{};
  BACKPLANE_TRY(gates->acquire(&gate));
  *event = new HostEvent(std::move(context), std::move(gates), gate);
  return kOk;
}

void HostEvent::destroy() noexcept {
  signal();
  plugin::guard([&]() -> Status {
    gates_->release(gate_);
    return kOk;
  });
  delete this;
}

Status HostEvent::query(bool* complete) noexcept {
  const std::lock_guard lock(mutex_);
  *complete = signalled_;
  return kOk;
}

Status HostEvent::wait(uint64_t timeout_ns) noexcept {
  std::unique_lock lock(mutex_);
  const auto signalled = [this] { return signalled_; };
  if (timeout_ns > kLongestTimeout) {
    signalled_changed_.wait(lock, signalled);
  } else if (!signalled_changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), signalled)) {
    return timed_out("the host event", timeout_ns);
  }
  return kOk;
}

Status HostEvent::on_complete(Watcher::Function function, void* argument) noexcept {
  return plugin::guard([&]() -> Status {
    {
      const std::lock_guard lock(mutex_);
      if (!signalled_) {
        callbacks_.push_back({function, argument});
        return kOk;
      }
    }
    function(argument, kOk);
    return kOk;
  });
}

Status HostEvent::signal() noexcept {
  std::vector<Callback> callbacks;
  {
    const std::lock_guard lock(mutex_);
    if (signalled_) return kOk;
    signalled_ = true;
    Gates::open(gate_);
    if (awaited_) context_->gate_closed();
    callbacks.swap(callbacks_);
    signalled_changed_.notify_all();
  }
  for (const Callback& callback : callbacks) callback.function(callback.argument, kOk);
  return kOk;
}

Status HostEvent::record_on(CUstream) noexcept {
  return make_status(StatusCode::InvalidArgument, 0, "a host event cannot be recorded");
}

Status HostEvent::make_wait(CUstream stream) noexcept {
  const std::lock_guard lock(mutex_);
  if (signalled_) return kOk;
  BACKPLANE_CU(*context_, cuStreamWaitValue32, stream, gate_.address, gate_.value, CU_STREAM_WAIT_VALUE_GEQ);
  if (!awaited_) context_->gate_opened();
  awaited_ = true;
  return kOk;
}

}  // namespace backplane::cuda
