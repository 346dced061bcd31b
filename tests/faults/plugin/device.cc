// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "objects.h"

namespace faults {
namespace {

// Puts what `create` gives into a wrapper.
template <typename Outer, typename Interface, typename Create, typename... Args>
Status wrap(Interface** out, Create&& create, Args... args) noexcept {
  Interface* inside = nullptr;
  const Status status = create(&inside);
  if (status.ok()) *out = new Outer(inside, args...);
  return status;
}

}  // namespace

void disguise(plugin::DeviceProperties* properties, bool discrete) noexcept {
  plugin::copy_text(
      properties->name,
      ("wrapper that fails when told to (test double), around " + std::string(properties->name)).c_str());
  properties->has &= ~uint64_t{plugin::kHasPciAddress | plugin::kHasUuid};
  if (!discrete) return;
  properties->kind = plugin::DeviceKind::Accelerator;
  properties->flags &=
      ~uint64_t{plugin::kSynchronousDefaultStream | plugin::kHostMemory | plugin::kMapsWithoutCopy};
}

Status FaultyDevice::properties(plugin::DeviceProperties* properties) noexcept {
  return forward("Device.properties", [&] {
    const Status status = inner()->properties(properties);
    if (status.ok()) disguise(properties, discrete_);
    return status;
  });
}

Status FaultyDevice::telemetry(plugin::Telemetry* telemetry) noexcept {
  return forward("Device.telemetry", [&] { return inner()->telemetry(telemetry); });
}

Status FaultyDevice::supports(const plugin::KernelDesc* desc) noexcept {
  return forward("Device.supports", [&] { return inner()->supports(desc); });
}

Status FaultyDevice::create_kernel(const plugin::KernelDesc* desc, plugin::Kernel** kernel) noexcept {
  return forward("Device.create_kernel", [&] {
    return wrap<FaultyKernel>(
        kernel, [&](plugin::Kernel** k) { return inner()->create_kernel(desc, k); }, device());
  });
}

Status FaultyDevice::allocate(uint64_t bytes, plugin::Buffer** buffer) noexcept {
  return forward("Device.allocate", [&] {
    return wrap<FaultyBuffer>(
        buffer, [&](plugin::Buffer** b) { return inner()->allocate(bytes, b); }, device(), discrete_);
  });
}

Status FaultyDevice::alloc_host(uint64_t bytes, plugin::Buffer** buffer) noexcept {
  return forward("Device.alloc_host", [&] {
    return wrap<FaultyBuffer>(
        buffer, [&](plugin::Buffer** b) { return inner()->alloc_host(bytes, b); }, device(), false);
  });
}

Status FaultyDevice::wrap_buffer(void* native, uint64_t bytes, plugin::Buffer** buffer) noexcept {
  return forward("Device.wrap_buffer", [&] {
    return wrap<FaultyBuffer>(
        buffer, [&](plugin::Buffer** b) { return inner()->wrap_buffer(native, bytes, b); }, device(),
        discrete_);
  });
}

Status FaultyDevice::wrap_host(void* pointer, uint64_t bytes, plugin::Buffer** buffer) noexcept {
  return forward("Device.wrap_host", [&] {
    return wrap<FaultyBuffer>(
        buffer, [&](plugin::Buffer** b) { return inner()->wrap_host(pointer, bytes, b); }, device(),
        discrete_);
  });
}

Status FaultyDevice::create_stream(const plugin::StreamOptions* options, plugin::Stream** stream) noexcept {
  return forward("Device.create_stream", [&] {
    plugin::StreamOptions inside = plugin::read_struct(options);
    if (discrete_) inside.kind = plugin::StreamKind::Asynchronous;
    const auto create = [&](plugin::Stream** s) { return inner()->create_stream(&inside, s); };
    const Status status = wrap<FaultyStream>(stream, create, device());
    if (status.code != plugin::StatusCode::Unimplemented || options->kind != plugin::StreamKind::Default)
      return status;
    inside.kind = plugin::StreamKind::Default;
    return wrap<FaultyStream>(stream, create, device());
  });
}

Status FaultyDevice::wrap_stream(void* native, plugin::Stream** stream) noexcept {
  return forward("Device.wrap_stream", [&] {
    return wrap<FaultyStream>(
        stream, [&](plugin::Stream** s) { return inner()->wrap_stream(native, s); }, device());
  });
}

Status FaultyDevice::create_event(plugin::Event** event) noexcept {
  return forward("Device.create_event", [&] {
    return wrap<FaultyEvent>(
        event, [&](plugin::Event** e) { return inner()->create_event(e); }, device());
  });
}

Status FaultyDevice::create_host_event(plugin::Event** event) noexcept {
  return forward("Device.create_host_event", [&] {
    return wrap<FaultyEvent>(
        event, [&](plugin::Event** e) { return inner()->create_host_event(e); }, device());
  });
}

Status FaultyDevice::can_copy_from(plugin::Device* src) noexcept {
  return forward("Device.can_copy_from", [&] {
    return discrete_ ? plugin::unimplemented("a peer copy") : inner()->can_copy_from(unwrap(src));
  });
}

Status FaultyDevice::native_handle(plugin::NativeHandle which, void** handle) noexcept {
  return forward("Device.native_handle", [&] { return inner()->native_handle(which, handle); });
}

Status FaultyDevice::processes(plugin::ProcessInfo* first, uint32_t stride, uint32_t capacity,
                               uint32_t* count) noexcept {
  return forward("Device.processes", [&] { return inner()->processes(first, stride, capacity, count); });
}

}  // namespace faults
