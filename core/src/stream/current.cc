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

// States live for ever: uses point at them.
struct Streams {
  std::mutex mutex;
  std::vector<StreamState*> all;
  std::vector<StreamState*> spare;
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

void return_spare(StreamState* state) {
  const std::lock_guard lock(streams().mutex);
  streams().spare.push_back(state);
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
  if (priority == 0) {
    const std::lock_guard lock(streams().mutex);
    auto& spare = streams().spare;
    const auto found =
        std::find_if(spare.begin(), spare.end(), [&](StreamState* s) { return &s->device == &device; });
    if (found != spare.end()) {
      StreamState* state = *found;
      spare.erase(found);
      return {state, return_spare};
    }
  }
  const plugin::StreamOptions options{sizeof(plugin::StreamOptions), plugin::StreamKind::Asynchronous,
                                      priority, 0};
  plugin::Stream* stream = nullptr;
  device.check(device.device->create_stream(&options, &stream), "create a stream");
  StreamState* state = remember(std::make_unique<StreamState>(device, stream, false));
  if (priority != 0) return {state, [](StreamState*) {}};
  return {state, return_spare};
}

std::shared_ptr<StreamState> wrap_stream(DeviceState& device, void* native) {
  device.ensure_ready();
  plugin::Stream* stream = nullptr;
  device.check(device.device->wrap_stream(native, &stream), "wrap a stream");
  return {remember(std::make_unique<StreamState>(device, stream, false)), [](StreamState*) {}};
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
  for (StreamState* state : streams().all)
    if (&state->device == &device && state->stream != nullptr) found.push_back(state);
  return found;
}

}  // namespace backplane::internal
