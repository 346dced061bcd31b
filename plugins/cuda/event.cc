// SPDX-License-Identifier: Apache-2.0
#include "event.h"

#include "poll.h"

namespace backplane::cuda {

Status StreamEvent::create(std::shared_ptr<Context> context, std::shared_ptr<Watcher> watcher,
                           plugin::Event** event) {
  BACKPLANE_ENTER(*context);
  CUevent handle = nullptr;
  BACKPLANE_CU(*context, cuEventCreate, &handle, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);
  *event = new StreamEvent(std::make_shared<EventHandle>(std::move(context), handle), std::move(watcher));
  return kOk;
}

Status StreamEvent::wait(uint64_t timeout_ns) noexcept {
  if (timeout_ns == UINT64_MAX) {
    BACKPLANE_ENTER(*handle_->context);
    return handle_->context->check(cuEventSynchronize(handle_->event), "cuEventSynchronize");
  }
  return poll(timeout_ns, "the event", [this](bool* complete) { return handle_->query(complete); });
}

Status StreamEvent::on_complete(Watcher::Function function, void* argument) noexcept {
  return plugin::guard([&]() -> Status {
    bool complete = false;
    const Status status = handle_->query(&complete);
    if (complete) {
      function(argument, status);
    } else {
      watcher_->watch(handle_, function, argument);
    }
    return kOk;
  });
}

Status StreamEvent::native_handle(void** handle) noexcept {
  *handle = handle_->event;
  return kOk;
}

Status StreamEvent::record_on(CUstream stream) noexcept {
  return handle_->context->check(cuEventRecord(handle_->event, stream), "cuEventRecord");
}

Status StreamEvent::make_wait(CUstream stream) noexcept {
  return handle_->context->check(cuStreamWaitEvent(stream, handle_->event, CU_EVENT_WAIT_DEFAULT),
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
