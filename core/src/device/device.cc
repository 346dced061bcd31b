// SPDX-License-Identifier: Apache-2.0
//
// Everything of backplane/device.h but what concerns a device's memory and queued work.
#include "backplane/device.h"

#include <fmt/format.h>

#include <algorithm>

#include "backplane/error.h"
#include "device/identity.h"
#include "device/plugin_calls.h"
#include "device/registry.h"
#include "device/registry_access.h"
#include "device/selector.h"

namespace backplane::inline v0 {

using internal::DeviceState;
using internal::Registry;

namespace {

// Opens the device; false where it cannot be opened, which a person who only looks at it does not mind.
// Throws after shutdown.
bool try_to_open(DeviceState* state) {
  internal::registry();
  try {
    state->ensure_ready();
    return true;
  } catch (const Error&) {
    return false;
  }
}

DeviceState* find_cpu(const Registry& registry) {
  return internal::lookup(registry, {std::string(internal::kCpu), 0});
}

DeviceState* find_gpu(const Registry& registry, int i) {
  if (i < 0 || static_cast<size_t>(i) >= registry.gpus.size()) return nullptr;
  return registry.gpus[static_cast<size_t>(i)];
}

std::vector<Device> handles(const std::vector<DeviceState*>& states) {
  std::vector<Device> result;
  result.reserve(states.size());
  for (DeviceState* state : states) result.emplace_back(state);
  return result;
}

}  // namespace

Device::Device() : Device(default_device()) {}
Device::Device(std::string_view selector) : state_(internal::find_device(selector)) {}

const std::string& Device::name() const noexcept { return state_->name; }
const std::string& Device::backend() const noexcept { return state_->plugin->name; }
int Device::index() const noexcept { return state_->index; }
DeviceKind Device::kind() const noexcept { return state_->properties.kind; }
const std::string& Device::plugin_version() const noexcept { return state_->plugin->version; }
const DeviceProperties& Device::properties() const noexcept { return state_->properties; }

Telemetry Device::telemetry() const {
  if (try_to_open(state_)) return internal::read_telemetry(*state_);
  Telemetry nothing{};
  nothing.struct_size = sizeof nothing;
  return nothing;
}

std::vector<DeviceProcess> Device::processes() const {
  return try_to_open(state_) ? internal::read_processes(*state_) : std::vector<DeviceProcess>();
}

bool Device::supports(DType type) const noexcept {
  return static_cast<uint32_t>(type) < plugin::kDTypeCount &&
         (state_->properties.types >> static_cast<uint32_t>(type) & 1) != 0;
}

void* Device::native_context() const {
  state_->ensure_ready();
  void* handle = nullptr;
  state_->check(state_->device->native_handle(plugin::NativeHandle::Context, &handle), "native_context");
  return handle;
}

int device_count(std::string_view kind) {
  const Registry& registry = internal::registry();
  if (kind == internal::kAnyGpu) return static_cast<int>(registry.gpus.size());
  for (const internal::PluginState* plugin : registry.plugins)
    if (plugin->name == kind) return static_cast<int>(plugin->devices.size());
  return 0;
}

std::vector<Device> devices() { return handles(internal::registry().devices); }

Device cpu() { return Device(internal::kCpu); }

Device gpu(int i) {
  const Registry& registry = internal::registry();
  if (DeviceState* state = find_gpu(registry, i)) return Device(state);
  throw Error(ErrorCode::NotFound, internal::no_device(registry, fmt::format("{}:{}", internal::kAnyGpu, i),
                                                       std::string(internal::kAnyGpu)));
}

Device try_gpu(int i) {
  DeviceState* state = find_gpu(internal::registry(), i);
  return state == nullptr ? cpu() : Device(state);
}

std::vector<Device> all_gpus() {
  const Registry& registry = internal::registry();
  if (registry.gpus.empty()) return {cpu()};
  return handles(registry.gpus);
}

std::vector<Device> routes_to(const Device& device) {
  std::vector<DeviceState*> routes;
  for (DeviceState* state : internal::registry().devices)
    if (internal::same_hardware(*state, *device.state())) routes.push_back(state);
  std::sort(routes.begin(), routes.end(), internal::better_route);
  return handles(routes);
}

namespace {

std::atomic<DeviceState*> process_default{nullptr};
thread_local DeviceState* thread_default = nullptr;

}  // namespace

Device default_device() {
  const Registry& registry = internal::registry();
  if (thread_default != nullptr) return Device(thread_default);
  if (DeviceState* state = process_default.load(std::memory_order_acquire)) return Device(state);
  if (DeviceState* state = find_cpu(registry)) return Device(state);
  if (!registry.devices.empty()) return Device(registry.devices.front());
  throw Error(ErrorCode::NotFound, internal::no_devices_at_all(registry));
}

void set_default_device(const Device& device) {
  process_default.store(device.state(), std::memory_order_release);
}

void set_thread_default_device(std::optional<Device> device) {
  thread_default = device ? device->state() : nullptr;
}

DeviceGuard::DeviceGuard(const Device& device) {
  if (thread_default != nullptr) previous_ = Device(thread_default);
  thread_default = device.state();
}

DeviceGuard::~DeviceGuard() { thread_default = previous_ ? previous_->state() : nullptr; }

}  // namespace backplane::inline v0
