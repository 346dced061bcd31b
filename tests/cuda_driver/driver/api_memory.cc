// SPDX-License-Identifier: Apache-2.0
// Allocation, pinned host memory, and what a pointer is.
#include <sys/mman.h>

#include <cstdlib>

#include "driver/call.h"

using namespace cuda_double;

namespace {

CUdeviceptr allocate(Context& context, size_t size) {
  if (size == 0) throw ApiError{CUDA_ERROR_INVALID_VALUE};
  Device& device = *context.device;
  const uint64_t need = accounted(size);
  uint64_t used = device.in_use.load();
  do {
    if (need < size || need > device.config.memory || used > device.config.memory - need)
      throw ApiError{CUDA_ERROR_OUT_OF_MEMORY};
  } while (!device.in_use.compare_exchange_weak(used, used + need));
  const auto allocation = AddressSpace::instance().allocate(size, device.ordinal, MemoryKind::kDevice,
                                                            driver().config.check_uninitialized);
  if (allocation == nullptr) {
    device.in_use -= need;
    throw ApiError{CUDA_ERROR_OUT_OF_MEMORY};
  }
  allocation->context = context.handle;
  const std::lock_guard lock(context.mutex);
  context.memory[allocation->base] = need;
  return allocation->base;
}

std::shared_ptr<Context> owner_of(CUdeviceptr address, const char* function) {
  const auto allocation = AddressSpace::instance().find(address);
  const std::string name = function;
  if (allocation == nullptr)
    misuse(CUDA_ERROR_INVALID_VALUE, name + " of an address " + AddressSpace::instance().describe(address));
  if (allocation->kind != MemoryKind::kDevice)
    misuse(CUDA_ERROR_INVALID_VALUE, name + " of memory that was not allocated so");
  if (allocation->base != address)
    misuse(CUDA_ERROR_INVALID_VALUE, name + " of an address inside an allocation");
  return driver().contexts.find(as_handle<void*>(allocation->context));
}

void release(Context& context, CUdeviceptr address) {
  if (!AddressSpace::instance().release(address)) return;
  const std::lock_guard lock(context.mutex);
  context.device->in_use -= context.memory[address];
  context.memory.erase(address);
}

CUresult free_host(void* memory) {
  const auto allocation = AddressSpace::instance().find(reinterpret_cast<uint64_t>(memory));
  if (allocation == nullptr || allocation->kind != MemoryKind::kHost || allocation->host != memory) {
    misuse(CUDA_ERROR_INVALID_VALUE, "cuMemFreeHost of memory that is not pinned, or no longer");
  }
  if (const auto context = current_context()) synchronize(*context);
  const uint64_t size = allocation->size;
  AddressSpace::instance().release(allocation->base);
  munmap(memory, size);
  return CUDA_SUCCESS;
}

}  // namespace

CUDA_DOUBLE_API CUresult cuMemAlloc(CUdeviceptr* address, size_t size) {
  return call_in_context("cuMemAlloc_v2",
                         [&](Context& context) { return *address = allocate(context, size), CUDA_SUCCESS; });
}

CUDA_DOUBLE_API CUresult cuMemFree(CUdeviceptr address) {
  return call_and_wait("cuMemFree_v2", [&](Context&) {
    if (address == 0) return CUDA_SUCCESS;
    const auto owner = owner_of(address, "cuMemFree");
    synchronize(*owner);  // as the real one does
    release(*owner, address);
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuMemAllocAsync(CUdeviceptr* address, size_t size, CUstream stream) {
  return call_in_context(__func__, [&](Context& context) {
    stream_of(stream, context, "cuMemAllocAsync");
    return *address = allocate(context, size), CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  return call_in_context(__func__, [&](Context& context) {
    if (address == 0) return CUDA_SUCCESS;
    const auto owner = owner_of(address, "cuMemFreeAsync");
    submit(
        *stream_of(handle, context, "cuMemFreeAsync"), [owner, address] { release(*owner, address); }, false);
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuMemGetInfo(size_t* free_bytes, size_t* total) {
  return call_in_context("cuMemGetInfo_v2", [&](Context& context) {
    *total = context.device->config.memory;
    *free_bytes = *total - context.device->in_use;
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* size, CUdeviceptr address) {
  return call_in_context("cuMemGetAddressRange_v2", [&](Context&) {
    const auto allocation = AddressSpace::instance().find(address);
    if (allocation == nullptr) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = allocation->base;
    if (size != nullptr) *size = allocation->size;
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuMemHostAlloc(void** memory, size_t size, unsigned int) {
  return call_in_context(__func__, [&](Context& context) {
    if (size == 0) return *memory = nullptr, CUDA_SUCCESS;
    void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
    if (AddressSpace::instance().register_host(mapped, size, MemoryKind::kHost, context.device->ordinal) ==
        nullptr) {
      munmap(mapped, size);
      return CUDA_ERROR_UNKNOWN;
    }
    return *memory = mapped, CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuMemAllocHost(void** memory, size_t size) {
  return cuMemHostAlloc(memory, size, 0);
}

CUDA_DOUBLE_API CUresult cuMemFreeHost(void* memory) {
  return call_in_context(__func__,
                         [&](Context&) { return memory == nullptr ? CUDA_SUCCESS : free_host(memory); });
}

CUDA_DOUBLE_API CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* memory, unsigned int) {
  return call_in_context("cuMemHostGetDevicePointer_v2", [&](Context&) {
    const auto allocation = AddressSpace::instance().find(reinterpret_cast<uint64_t>(memory));
    if (allocation == nullptr || AddressSpace::instance().is_device_range(allocation->base))
      return CUDA_ERROR_INVALID_VALUE;
    return *address = reinterpret_cast<CUdeviceptr>(memory), CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuMemHostGetFlags(unsigned int* flags, void*) {
  return call_in_context(__func__, [&](Context&) { return *flags = 0, CUDA_SUCCESS; });
}

CUDA_DOUBLE_API CUresult cuMemHostRegister(void* memory, size_t size, unsigned int) {
  return call_in_context("cuMemHostRegister_v2", [&](Context& context) {
    if (memory == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
    const auto known = AddressSpace::instance().register_host(memory, size, MemoryKind::kRegistered,
                                                              context.device->ordinal);
    return known == nullptr ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED : CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuMemHostUnregister(void* memory) {
  return call_in_context(__func__, [&](Context& context) {
    const auto allocation = AddressSpace::instance().find(reinterpret_cast<uint64_t>(memory));
    if (allocation == nullptr || allocation->kind != MemoryKind::kRegistered || allocation->host != memory) {
      return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    synchronize(context);
    AddressSpace::instance().release(allocation->base);
    return CUDA_SUCCESS;
  });
}

namespace {

CUresult pointer_attribute(void* result, CUpointer_attribute attribute, const Allocation& allocation,
                           CUdeviceptr address) {
  const bool on_device = AddressSpace::instance().is_device_range(allocation.base);
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<CUcontext*>(result) = as_handle<CUcontext>(allocation.context);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(result) = on_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(result) = address;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (on_device) return CUDA_ERROR_INVALID_VALUE;
      *static_cast<void**>(result) = as_handle<void*>(address);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      *static_cast<unsigned long long*>(result) = allocation.base;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<int*>(result) = 0;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(result) = allocation.device;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(result) = allocation.base;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t*>(result) = allocation.size;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
      *static_cast<int*>(result) = 1;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace

CUDA_DOUBLE_API CUresult cuPointerGetAttribute(void* result, CUpointer_attribute attribute,
                                               CUdeviceptr address) {
  return call(__func__, [&] {
    const auto allocation = AddressSpace::instance().find(address);
    return allocation == nullptr ? CUDA_ERROR_INVALID_VALUE
                                 : pointer_attribute(result, attribute, *allocation, address);
  });
}

CUDA_DOUBLE_API CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes,
                                                void** results, CUdeviceptr address) {
  return call(__func__, [&] {
    const auto allocation = AddressSpace::instance().find(address);
    for (unsigned int i = 0; i < count; ++i) {
      if (allocation != nullptr)
        pointer_attribute(results[i], attributes[i], *allocation, address);
      else if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
        *static_cast<unsigned*>(results[i]) = 0;
    }
    return CUDA_SUCCESS;
  });
}
