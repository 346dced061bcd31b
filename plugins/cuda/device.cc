// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <set>

#include "buffer.h"
#include "event.h"
#include "families/families.h"
#include "properties.h"
#include "stream.h"

namespace backplane::cuda {
namespace {

// Compared by address, so that a stranger who calls itself cuda is not taken for one of us.
constexpr char kBackendName[] = "cuda";

}  // namespace

Status Device::open(const Shared& shared, std::shared_ptr<Context> context, plugin::Device** device) {
  auto state = std::make_shared<DeviceState>();
  const CUdevice handle = context->device();
  state->context = context;
  state->modules = std::make_shared<Modules>(context, shared.code);
  state->nvrtc = shared.nvrtc;
  state->architecture = 10 * attribute_of(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 7) +
                        attribute_of(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 5);
  state->units = attribute_of(handle, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1);
  if (shared.cublas) state->cublas = std::make_shared<Cublas>(context, shared.host);
  *device = new Device(shared, std::move(state), std::make_shared<Gates>(*context));
  return kOk;
}

Status Device::properties(plugin::DeviceProperties* properties) noexcept {
  const bool source = state_->nvrtc != nullptr && state_->nvrtc->available();
  plugin::fill_struct(properties, properties_of(context().device(), shared_.nvml.get(), source));
  return kOk;
}

Status Device::telemetry(plugin::Telemetry* telemetry) noexcept {
  return plugin::guard([&]() -> Status {
    BACKPLANE_ENTER(context());
    plugin::Telemetry known{};
    known.struct_size = sizeof known;
    char address[16] = "";
    if (shared_.nvml != nullptr && pci_address_of(context().device(), address))
      shared_.nvml->telemetry(address, &known);
    size_t free = 0;
    size_t total = 0;
    if ((known.has & plugin::kHasMemoryUsed) == 0 && cuMemGetInfo(&free, &total) == CUDA_SUCCESS &&
        free <= total) {
      known.memory_capacity = total;
      known.memory_free = free;
      known.memory_used = total - free;
      known.has |= plugin::kHasMemoryCapacity | plugin::kHasMemoryFree | plugin::kHasMemoryUsed;
    }
    plugin::fill_struct(telemetry, known);
    return kOk;
  });
}

Status Device::supports(const plugin::KernelDesc* desc) noexcept {
  return plugin::guard([&] { return families::supports(*state_, plugin::read_struct(desc)); });
}

Status Device::create_kernel(const plugin::KernelDesc* desc, plugin::Kernel** kernel) noexcept {
  return plugin::guard([&]() -> Status {
    const auto wanted = plugin::read_struct(desc);
    BACKPLANE_TRY(families::supports(*state_, wanted));
    BACKPLANE_ENTER(context());
    return families::create(state_, wanted, kernel);
  });
}

Status Device::allocate(uint64_t bytes, plugin::Buffer** buffer) noexcept {
  return plugin::guard([&] { return Buffer::allocate(state_->context, bytes, buffer); });
}

Status Device::alloc_host(uint64_t bytes, plugin::Buffer** buffer) noexcept {
  return plugin::guard([&] { return Buffer::allocate_host(state_->context, bytes, buffer); });
}

Status Device::wrap_buffer(void* native, uint64_t bytes, plugin::Buffer** buffer) noexcept {
  return plugin::guard([&] { return Buffer::wrap_device(state_->context, native, bytes, buffer); });
}

Status Device::wrap_host(void* pointer, uint64_t bytes, plugin::Buffer** buffer) noexcept {
  return plugin::guard([&] { return Buffer::wrap_host(state_->context, pointer, bytes, buffer); });
}

Status Device::create_stream(const plugin::StreamOptions* options, plugin::Stream** stream) noexcept {
  return plugin::guard([&] {
    const auto wanted = plugin::read_struct(options);
    return Stream::create(state_->context, state_->modules, wanted.priority, stream);
  });
}

Status Device::wrap_stream(void* native, plugin::Stream** stream) noexcept {
  return plugin::guard(
      [&] { return Stream::wrap(state_->context, state_->modules, static_cast<CUstream>(native), stream); });
}

Status Device::create_event(plugin::Event** event) noexcept {
  return plugin::guard([&] { return StreamEvent::create(state_->context, shared_.watcher, event); });
}

Status Device::create_host_event(plugin::Event** event) noexcept {
  return plugin::guard([&] { return HostEvent::create(state_->context, gates_, event); });
}

Device* Device::own(plugin::Device* device) noexcept {
  return device != nullptr && device->backend_name() == kBackendName ? static_cast<Device*>(device) : nullptr;
}

Status Device::can_copy_from(plugin::Device* src) noexcept {
  Device* peer = own(src);
  if (peer == nullptr) return plugin::unimplemented("a peer copy from another plugin's device");
  BACKPLANE_TRY(context().usable());
  if (peer->context().device() == context().device()) return kOk;
  int possible = 0;
  BACKPLANE_CU(context(), cuDeviceCanAccessPeer, &possible, context().device(), peer->context().device());
  if (possible != 0) return kOk;
  return make_status(StatusCode::Unimplemented, 0, "these two cards cannot reach each other's memory");
}

Status Device::enable_peer(Context& context, Context& peer) noexcept {
  if (context.device() == peer.device()) return kOk;
  return plugin::guard([&]() -> Status {
    static std::mutex mutex;
    static auto* enabled = new std::set<std::pair<CUcontext, CUcontext>>;
    const std::lock_guard lock(mutex);
    if (enabled->count({context.handle(), peer.handle()}) != 0) return kOk;
    BACKPLANE_ENTER(context);
    const CUresult result = cuCtxEnablePeerAccess(peer.handle(), 0);
    if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
      BACKPLANE_TRY(context.check(result, "cuCtxEnablePeerAccess"));
    enabled->insert({context.handle(), peer.handle()});
    return kOk;
  });
}

Status Device::native_handle(plugin::NativeHandle which, void** handle) noexcept {
  switch (which) {
    case plugin::NativeHandle::Context:
      *handle = context().handle();
      return kOk;
    case plugin::NativeHandle::Device:
      *handle = reinterpret_cast<void*>(static_cast<intptr_t>(context().device()));
      return kOk;
    default:
      return plugin::unimplemented("this native handle");
  }
}

const char* Device::backend_name() const noexcept { return kBackendName; }

Status Device::processes(plugin::ProcessInfo* first, uint32_t stride, uint32_t capacity,
                         uint32_t* count) noexcept {
  char address[16] = "";
  if (shared_.nvml == nullptr || !pci_address_of(context().device(), address))
    return DeviceBase::processes(first, stride, capacity, count);
  return shared_.nvml->processes(address, first, stride, capacity, count);
}

}  // namespace backplane::cuda
