// SPDX-License-Identifier: Apache-2.0
#include "opencl/device.h"

#include "opencl/families.h"
#include "opencl/generate.h"
#include "opencl/variant.h"

namespace backplane::opencl {

namespace {

unsigned long long number(uint64_t value) noexcept { return value; }

// Out of memory as a person reads it.
Status no_memory(cl_int code, const char* call, uint64_t bytes) noexcept {
  if (code == CL_SUCCESS) return kOk;
  const Status status = cl_status(code, call);
  return plugin::make_status(status.code, code, "%llu bytes: %s: %s (%d)", number(bytes), call,
                             error_name(code), code);
}

}  // namespace

ClDevice::ClDevice(std::shared_ptr<const FoundDevice> found, std::shared_ptr<SharedContext> context,
                   const BinaryCache* cache)
    : found_(std::move(found)), context_(std::move(context)), cache_(cache) {}

ClDevice::~ClDevice() = default;

void ClDevice::destroy() noexcept { delete this; }

Status ClDevice::properties(plugin::DeviceProperties* properties) noexcept {
  plugin::fill_struct(properties, found_->properties);
  return kOk;
}

Status ClDevice::telemetry(plugin::Telemetry* telemetry) noexcept {
  plugin::Telemetry now{};
  now.memory_process = allocated_;
  now.memory_capacity = found_->properties.memory_total;
  now.has = plugin::kHasMemoryProcess;
  if ((found_->properties.has & plugin::kHasMemoryTotal) != 0) now.has |= plugin::kHasMemoryCapacity;
  plugin::fill_struct(telemetry, now);
  return kOk;
}

Status ClDevice::checked(Status status) noexcept {
  if (status.code == StatusCode::DeviceLost) is_lost_ = true;
  if (!is_lost_.load(std::memory_order_relaxed) || status.code == StatusCode::DeviceLost) return status;
  return plugin::make_status(StatusCode::DeviceLost, status.vendor_code,
                             "the device reported a fatal fault before; restart the process to use it again");
}

Status ClDevice::supports(const plugin::KernelDesc* desc) noexcept {
  return plugin::guard([&] { return family_supports(facts(), plugin::read_struct(desc)); });
}

Status ClDevice::create_kernel(const plugin::KernelDesc* desc, plugin::Kernel** kernel) noexcept {
  return plugin::guard([&] {
    const plugin::KernelDesc copy = plugin::read_struct(desc);
    BACKPLANE_OPENCL_TRY(family_supports(facts(), copy));
    return make_family_kernel(this, copy, kernel);
  });
}

Status ClDevice::check_size(uint64_t bytes) noexcept {
  const uint64_t largest = facts().largest_allocation;
  if (largest == 0 || bytes <= largest) return kOk;
  return plugin::make_status(StatusCode::OutOfMemory, CL_INVALID_BUFFER_SIZE,
                             "%llu bytes asked for, but this device's largest single allocation is %llu "
                             "(CL_DEVICE_MAX_MEM_ALLOC_SIZE)",
                             number(bytes), number(largest));
}

Status ClDevice::allocate(uint64_t bytes, plugin::Buffer** buffer) noexcept {
  BACKPLANE_OPENCL_TRY(check_size(bytes));
  cl_int code = CL_SUCCESS;
  MemoryHandle memory(api().clCreateBuffer(context(), CL_MEM_READ_WRITE, bytes, nullptr, &code));
  BACKPLANE_OPENCL_TRY(checked(no_memory(code, "clCreateBuffer", bytes)));
  return plugin::guard([&] {
    *buffer = new ClBuffer(this, std::move(memory), bytes, nullptr, false, bytes);
    return kOk;
  });
}

Status ClDevice::alloc_host(uint64_t bytes, plugin::Buffer** buffer) noexcept {
  BACKPLANE_OPENCL_TRY(check_size(bytes));
  cl_int code = CL_SUCCESS;
  MemoryHandle memory(
      api().clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &code));
  BACKPLANE_OPENCL_TRY(checked(no_memory(code, "clCreateBuffer", bytes)));
  cl_command_queue queue = nullptr;
  BACKPLANE_OPENCL_TRY(map_queue(&queue));
  void* pointer = api().clEnqueueMapBuffer(queue, memory.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes,
                                           0, nullptr, nullptr, &code);
  BACKPLANE_OPENCL_TRY(checked(no_memory(code, "clEnqueueMapBuffer", bytes)));
  return plugin::guard([&] {
    *buffer = new ClBuffer(this, std::move(memory), bytes, pointer, true, 0);
    return kOk;
  });
}

Status ClDevice::wrap_buffer(void* native, uint64_t bytes, plugin::Buffer** buffer) noexcept {
  const cl_mem memory = static_cast<cl_mem>(native);
  size_t size = 0;
  cl_context owner = nullptr;
  BACKPLANE_OPENCL_TRY(cl_status(api().clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof size, &size, nullptr),
                                 "clGetMemObjectInfo"));
  BACKPLANE_OPENCL_TRY(cl_status(
      api().clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof owner, &owner, nullptr), "clGetMemObjectInfo"));
  if (owner != context())
    return plugin::make_status(StatusCode::InvalidArgument, 0,
                               "the cl_mem belongs to another cl_context: open the device with open_native");
  if (bytes > size)
    return plugin::make_status(StatusCode::InvalidArgument, 0, "the cl_mem has %llu bytes, not %llu",
                               number(size), number(bytes));
  return plugin::guard([&] {
    *buffer = new ClBuffer(this, MemoryHandle::retained(memory), bytes, nullptr, false, 0);
    return kOk;
  });
}

Status ClDevice::wrap_host(void* pointer, uint64_t bytes, plugin::Buffer** buffer) noexcept {
  if (!facts().shares_host_memory)
    return plugin::make_status(StatusCode::Unimplemented, 0,
                               "this device does not share the host's memory: it would have to copy it");
  BACKPLANE_OPENCL_TRY(check_size(bytes));
  cl_int code = CL_SUCCESS;
  MemoryHandle memory(
      api().clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, pointer, &code));
  BACKPLANE_OPENCL_TRY(checked(cl_status(code, "clCreateBuffer")));
  return plugin::guard([&] {
    *buffer = new ClBuffer(this, std::move(memory), bytes, pointer, false, 0);
    return kOk;
  });
}

Status ClDevice::make_queue(int32_t priority, QueueHandle* queue) noexcept {
  cl_int code = CL_SUCCESS;
  if (priority != 0 && facts().has_priorities && api().clCreateCommandQueueWithProperties != nullptr) {
    const cl_queue_properties properties[] = {
        CL_QUEUE_PRIORITY_KHR,
        static_cast<cl_queue_properties>(priority > 0 ? CL_QUEUE_PRIORITY_HIGH_KHR
                                                      : CL_QUEUE_PRIORITY_LOW_KHR),
        0};
    *queue = QueueHandle(api().clCreateCommandQueueWithProperties(context(), id(), properties, &code));
    if (code == CL_SUCCESS) return kOk;
  }
  *queue = QueueHandle(api().clCreateCommandQueue(context(), id(), 0, &code));
  return checked(cl_status(code, "clCreateCommandQueue"));
}

Status ClDevice::map_queue(cl_command_queue* queue) noexcept {
  const std::lock_guard lock(mutex_);
  if (!map_queue_) BACKPLANE_OPENCL_TRY(make_queue(0, &map_queue_));
  *queue = map_queue_.get();
  return kOk;
}

Status ClDevice::create_stream(const plugin::StreamOptions* options, plugin::Stream** stream) noexcept {
  const plugin::StreamOptions wanted = plugin::read_struct(options);
  QueueHandle queue;
  BACKPLANE_OPENCL_TRY(make_queue(wanted.priority, &queue));
  return plugin::guard([&] {
    *stream = new ClStream(this, std::move(queue));
    return kOk;
  });
}

Status ClDevice::wrap_stream(void* native, plugin::Stream** stream) noexcept {
  const cl_command_queue queue = static_cast<cl_command_queue>(native);
  cl_context owner = nullptr;
  cl_device_id device = nullptr;
  cl_command_queue_properties how = 0;
  BACKPLANE_OPENCL_TRY(
      cl_status(api().clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof owner, &owner, nullptr),
                "clGetCommandQueueInfo"));
  BACKPLANE_OPENCL_TRY(
      cl_status(api().clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr),
                "clGetCommandQueueInfo"));
  BACKPLANE_OPENCL_TRY(
      cl_status(api().clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof how, &how, nullptr),
                "clGetCommandQueueInfo"));
  if (owner != context() || device != id())
    return plugin::make_status(
        StatusCode::InvalidArgument, 0,
        "the command queue belongs to another context or device: open it with open_native");
  if ((how & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0)
    return plugin::make_status(StatusCode::InvalidArgument, 0,
                               "the command queue runs out of order; a stream must be in order");
  return plugin::guard([&] {
    *stream = new ClStream(this, QueueHandle::retained(queue));
    return kOk;
  });
}

Status ClDevice::create_event(plugin::Event** event) noexcept {
  return plugin::guard([&] {
    *event = new ClEvent(EventHandle());
    return kOk;
  });
}

Status ClDevice::create_host_event(plugin::Event** event) noexcept {
  cl_int code = CL_SUCCESS;
  EventHandle user(api().clCreateUserEvent(context(), &code));
  BACKPLANE_OPENCL_TRY(checked(cl_status(code, "clCreateUserEvent")));
  return plugin::guard([&] {
    *event = new ClEvent(std::move(user));
    return kOk;
  });
}

Status ClDevice::can_copy_from(plugin::Device* src) noexcept {
  void* theirs = nullptr;
  if (std::strcmp(src->backend_name(), backend_name()) == 0 &&
      src->native_handle(plugin::NativeHandle::Context, &theirs).ok() && theirs == context())
    return kOk;
  return plugin::make_status(StatusCode::Unimplemented, 0,
                             "OpenCL copies directly only between devices of one context");
}

Status ClDevice::native_handle(plugin::NativeHandle which, void** handle) noexcept {
  switch (which) {
    case plugin::NativeHandle::Context:
      *handle = context();
      return kOk;
    case plugin::NativeHandle::Device:
      *handle = id();
      return kOk;
    default:
      return DeviceBase::native_handle(which, handle);
  }
}

Status ClDevice::copy_bytes(ClStream* stream, cl_mem dst, uint64_t dst_offset, cl_mem src,
                            uint64_t src_offset, uint64_t bytes) noexcept {
  return plugin::guard([&] {
    {
      const std::lock_guard lock(mutex_);
      if (copy_failed_) return plugin::unimplemented("a copy by kernel");
      if (copy_ == nullptr) {
        copy_failed_ = true;
        BACKPLANE_OPENCL_TRY(build_variant(*this, copy_bytes_source(), "copy_bytes", &copy_));
        copy_failed_ = false;
      }
    }
    Invocation invocation(*copy_);
    invocation.buffer(dst).value(dst_offset).buffer(src).value(src_offset).value(bytes);
    return invocation.run(stream, {groups_for(bytes, kCopyChunk), 1, 1}, {1, 1, 1}, "copy");
  });
}

}  // namespace backplane::opencl
