// SPDX-License-Identifier: Apache-2.0
#include "cpu/device.h"

#include "cpu/event.h"
#include "cpu/families.h"
#include "cpu/stream.h"

namespace backplane::cpu {

using plugin::make_status;
using plugin::Status;
using plugin::StatusCode;

namespace {

// The descriptor as version 0.1 of the boundary has it; later versions only append.
constexpr uint32_t kOldestKernelDesc =
    static_cast<uint32_t>(offsetof(plugin::KernelDesc, source) + sizeof(plugin::KernelDesc::source));

// Finds the row of a descriptor's family.
Status find_row(const plugin::KernelDesc* desc, const FamilyRow** row) noexcept {
  if (desc->struct_size < kOldestKernelDesc) {
    return make_status(StatusCode::InvalidArgument, 0, "a kernel descriptor of %u bytes; %u are needed",
                       desc->struct_size, kOldestKernelDesc);
  }
  *row = find_family(desc->family);
  if (*row != nullptr) return plugin::kOk;
  return make_status(StatusCode::Unimplemented, 0,
                     "kernel family %u is unknown to this version of the cpu plugin",
                     static_cast<unsigned>(desc->family));
}

}  // namespace

Status CpuDevice::properties(plugin::DeviceProperties* properties) noexcept {
  plugin::fill_struct(properties, describe_device(machine_, threads_.count()));
  return plugin::kOk;
}

Status CpuDevice::telemetry(plugin::Telemetry* telemetry) noexcept {
  return plugin::guard([&] {
    plugin::fill_struct(telemetry, telemetry_.read());
    return plugin::kOk;
  });
}

Status CpuDevice::supports(const plugin::KernelDesc* desc) noexcept {
  return plugin::guard([&] {
    const FamilyRow* row = nullptr;
    if (Status status = find_row(desc, &row); !status.ok()) return status;
    return row->supports(*this, plugin::read_struct(desc));
  });
}

Status CpuDevice::create_kernel(const plugin::KernelDesc* desc, plugin::Kernel** kernel) noexcept {
  return plugin::guard([&] {
    const FamilyRow* row = nullptr;
    if (Status status = find_row(desc, &row); !status.ok()) return status;
    const plugin::KernelDesc complete = plugin::read_struct(desc);
    if (Status status = row->supports(*this, complete); !status.ok()) return status;
    return row->create(*this, complete, kernel);
  });
}

Status CpuDevice::allocate(uint64_t bytes, plugin::Buffer** buffer) noexcept {
  return plugin::guard([&] { return CpuBuffer::allocate(machine_.memory, bytes, buffer); });
}

// Nothing is copied faster from pinned memory than from any other here.
Status CpuDevice::alloc_host(uint64_t bytes, plugin::Buffer** buffer) noexcept {
  return allocate(bytes, buffer);
}

Status CpuDevice::wrap_buffer(void* native, uint64_t bytes, plugin::Buffer** buffer) noexcept {
  return plugin::guard([&] { return CpuBuffer::wrap(native, bytes, buffer); });
}

Status CpuDevice::wrap_host(void* pointer, uint64_t bytes, plugin::Buffer** buffer) noexcept {
  return wrap_buffer(pointer, bytes, buffer);
}

Status CpuDevice::create_stream(const plugin::StreamOptions* options, plugin::Stream** stream) noexcept {
  return plugin::guard([&] {
    const auto kind = options == nullptr ? plugin::StreamKind::Default : plugin::read_struct(options).kind;
    if (kind != plugin::StreamKind::Default && kind != plugin::StreamKind::Asynchronous) {
      return make_status(StatusCode::InvalidArgument, 0, "stream kind %u is unknown",
                         static_cast<unsigned>(kind));
    }
    *stream = new CpuStream(*this, kind);
    return plugin::kOk;
  });
}

Status CpuDevice::create_event(plugin::Event** event) noexcept {
  return plugin::guard([&] {
    *event = new CpuEvent(false);
    return plugin::kOk;
  });
}

Status CpuDevice::create_host_event(plugin::Event** event) noexcept {
  return plugin::guard([&] {
    *event = new CpuEvent(true);
    return plugin::kOk;
  });
}

Status CpuDevice::can_copy_from(plugin::Device* src) noexcept {
  if (src->backend_name() == kBackendName) return plugin::kOk;
  plugin::DeviceProperties properties{};
  properties.struct_size = sizeof properties;
  if (src->properties(&properties).ok() && (properties.flags & plugin::kHostMemory) != 0) return plugin::kOk;
  return make_status(StatusCode::Unimplemented, 0, "memory of %s devices is not the host's",
                     src->backend_name());
}

}  // namespace backplane::cpu
