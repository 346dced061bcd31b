// SPDX-License-Identifier: Apache-2.0
//
// Which stream a thread's work goes to, and the streams that a device has had.
#include <algorithm>

#include "backplane/error.h"
#include "stream/stream_state.h"

namespace backplane::internal {
namespace {

// The streams that StreamGuards of this thread have selected; nearly always empty.
struct Selected {
  DeviceState* device;
  std::shared_ptr<StreamState> stream;
};
thread_local std::vector<Selected> selected;

struct Spare {
  StreamState* state;
  int priority;
};

// On a host program's own queue.
struct Wrapped {
  void* native;
  StreamState* state;
  int handles;  // without one, nobody may assume that the queue still exists
};

// States live for ever: uses point at them.
struct Streams {
  std::mutex mutex;
  std::vector<StreamState*> all;  // but the wrapped
  std::vector<Spare> spare;
  std::vector<Wrapped> wrapped;
};

// Never destroyed: a handle may be dropped by a static destructor.
Streams& streams() {
  static auto* instance = new Streams;
  return *instance;
}

StreamState* remember(std::unique_ptr<StreamState> state) {
  const std::lock_guard lock(streams().mutex);
  streams().all.push_back(state.get());
  return state.release();
}

// A handle whose stream is used again once it is dropped.
std::shared_ptr<StreamState> lend(StreamState* state, int priority) {
  return {state, [priority](StreamState* s) {
            const std::lock_guard lock(streams().mutex);
            streams().spare.push_back({s, priority});
          }};
}

// The one last used.
StreamState* take_spare(const DeviceState& device, int priority) {
  const std::lock_guard lock(streams().mutex);
  auto& spare = streams().spare;
  const auto found = std::find_if(spare.rbegin(), spare.rend(), [&](const Spare& s) {
    return &s.state->device == &device && s.priority == priority;
  });
  if (found == spare.rend()) return nullptr;
  StreamState* state = found->state;
  spare.erase(std::next(found).base());
  return state;
}

Wrapped& find_wrapped_locked(const StreamState* state) {
  auto& wrapped = streams().wrapped;
  return *std::find_if(wrapped.begin(), wrapped.end(), [&](const Wrapped& w) { return w.state == state; });
}

// The queue may be destroyed after this, so nothing may be left to ask it about.
void drop_wrapped(StreamState* state) noexcept {
  try {
    if (state->device.health.load() == DeviceHealth::Ready) state->synchronize();
  } catch (const Error&) {
    // It is kept for the results of that work.
  }
  const std::lock_guard lock(streams().mutex);
  --find_wrapped_locked(state).handles;
}

std::vector<Selected>::iterator find_selected(const DeviceState& device) {
  return std::find_if(selected.begin(), selected.end(),
                      [&](const Selected& s) { return s.device == &device; });
}

}  // namespace

constinit thread_local bool any_stream_selected = false;

StreamState& selected_stream(DeviceState& device) {
  const auto found = find_selected(device);
  return found == selected.end() ? *device.default_stream : *found->stream;
}

std::shared_ptr<StreamState> current_stream_handle(DeviceState& device) {
  const auto found = find_selected(device);
  return found == selected.end() ? device.default_stream : found->stream;
}

std::shared_ptr<StreamState> set_current_stream(DeviceState& device, std::shared_ptr<StreamState> stream) {
  std::shared_ptr<StreamState> previous;
  const auto found = find_selected(device);
  if (found != selected.end()) {
    previous = std::move(found->stream);
    selected.erase(found);
  }
  if (stream != nullptr) selected.push_back({&device, std::move(stream)});
  any_stream_selected = !selected.empty();
  return previous;
}

std::shared_ptr<StreamState> acquire_stream(DeviceState& device, int priority) {
  device.ensure_ready();
  if (StreamState* spare = take_spare(device, priority)) return lend(spare, priority);
  const plugin::StreamOptions options{sizeof(plugin::StreamOptions), plugin::StreamKind::Asynchronous,
                                      priority, 0};
  plugin::Stream* stream = nullptr;
  device.check(device.device->create_stream(&options, &stream), "create a stream");
  return lend(remember(std::make_unique<StreamState>(device, stream, false)), priority);
}

std::shared_ptr<StreamState> wrap_stream(DeviceState& device, void* native) {
  device.ensure_ready();
  std::unique_lock lock(streams().mutex);
  auto& wrapped = streams().wrapped;
  auto found = std::find_if(wrapped.begin(), wrapped.end(), [&](const Wrapped& w) {
    return w.native == native && &w.state->device == &device;
  });
  if (found == wrapped.end()) {
    plugin::Stream* stream = nullptr;
    device.check(device.device->wrap_stream(native, &stream), "wrap a stream");
    auto state = std::make_unique<StreamState>(device, stream, false);
    found = wrapped.insert(wrapped.end(), {native, state.get(), 0});
    state.release();
  }
  ++found->handles;
  StreamState* state = found->state;
  lock.unlock();  // which a handle that cannot be made takes again
  return {state, drop_wrapped};
}

std::shared_ptr<StreamState> make_default_stream(DeviceState& device) {
  const plugin::StreamOptions options{sizeof(plugin::StreamOptions), plugin::StreamKind::Default, 0, 0};
  plugin::Stream* stream = nullptr;
  device.check(device.device->create_stream(&options, &stream), "create the default stream");
  return {remember(std::make_unique<StreamState>(device, stream, device.synchronous)), [](StreamState*) {}};
}

std::vector<StreamState*> all_streams(DeviceState& device) {
  const std::lock_guard lock(streams().mutex);
  std::vector<StreamState*> found;
  const auto add = [&](StreamState* state) {
    if (&state->device == &device && state->stream != nullptr) found.push_back(state);
  };
  for (StreamState* state : streams().all) add(state);
  for (const Wrapped& wrapped : streams().wrapped)
    if (wrapped.handles > 0) add(wrapped.state);
  return found;
}

std::vector<StreamState*> dropped_streams(DeviceState& device) {
  const std::lock_guard lock(streams().mutex);
  std::vector<StreamState*> found;
  for (const Wrapped& wrapped : streams().wrapped)
    if (wrapped.handles == 0 && &wrapped.state->device == &device) found.push_back(wrapped.state);
  return found;
}

}  // namespace backplane::internal
