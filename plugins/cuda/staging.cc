// SPDX-License-Identifier: Apache-2.0
#include "staging.h"

#include <algorithm>
#include <cstring>

namespace backplane::cuda {

bool is_pinned(const void* pointer) noexcept {
  CUmemorytype type{};
  const auto address = reinterpret_cast<CUdeviceptr>(pointer);
  return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) == CUDA_SUCCESS &&
         type == CU_MEMORYTYPE_HOST;
}

Staging::~Staging() {
  const ContextScope scope(context_);
  if (!scope.status().ok()) return;
  for (const Slot& slot : slots_) {
    if (slot.memory != nullptr) cuMemFreeHost(slot.memory);
    if (slot.filled != nullptr) cuEventDestroy(slot.filled);
    if (slot.emptied != nullptr) cuEventDestroy(slot.emptied);
  }
  if (begun_ != nullptr) cuEventDestroy(begun_);
  if (host_stream_ != nullptr) cuStreamDestroy(host_stream_);
}

// The first copy allocates slots of its own size, rounded up; a longer one later replaces them, once their
// work is done.
Status Staging::prepare(uint64_t bytes) {
  constexpr uint64_t kSmallest = 64 << 10;
  const uint64_t wanted = bytes <= kSmallest ? kSmallest : kChunkBytes;
  if (host_stream_ == nullptr) {
    BACKPLANE_CU(context_, cuStreamCreate, &host_stream_, CU_STREAM_NON_BLOCKING);
    BACKPLANE_CU(context_, cuEventCreate, &begun_, CU_EVENT_DISABLE_TIMING);
    for (Slot& slot : slots_) {
      BACKPLANE_CU(context_, cuEventCreate, &slot.filled, CU_EVENT_DISABLE_TIMING);
      BACKPLANE_CU(context_, cuEventCreate, &slot.emptied, CU_EVENT_DISABLE_TIMING);
    }
  }
  if (slot_bytes_ >= wanted) return kOk;
  if (slot_bytes_ > 0) BACKPLANE_CU(context_, cuStreamSynchronize, stream_);
  for (Slot& slot : slots_) {
    void* memory = nullptr;
    BACKPLANE_CU(context_, cuMemHostAlloc, &memory, wanted, CU_MEMHOSTALLOC_PORTABLE);
    if (slot.memory != nullptr) cuMemFreeHost(slot.memory);
    slot.memory = memory;
  }
  slot_bytes_ = wanted;
  return kOk;
}

void Staging::run_host_copy(void* argument) {
  const std::unique_ptr<HostCopy> copy(static_cast<HostCopy*>(argument));
  std::memcpy(copy->dst, copy->src, copy->bytes);
}

Status Staging::copy_on_host(void* dst, const void* src, uint64_t bytes) {
  auto copy = std::make_unique<HostCopy>(HostCopy{dst, src, bytes});
  BACKPLANE_CU(context_, cuLaunchHostFunc, host_stream_, &Staging::run_host_copy, copy.get());
  copy.release();  // run_host_copy frees it
  return kOk;
}

Status Staging::order(CUstream before, CUevent event, CUstream after) {
  BACKPLANE_CU(context_, cuEventRecord, event, before);
  BACKPLANE_CU(context_, cuStreamWaitEvent, after, event, CU_EVENT_WAIT_DEFAULT);
  return kOk;
}

Status Staging::upload(CUdeviceptr dst, const void* src, uint64_t bytes) {
  BACKPLANE_TRY(prepare(bytes));
  BACKPLANE_TRY(order(stream_, begun_, host_stream_));
  for (uint64_t done = 0, index = 0; done < bytes; ++index) {
    const Slot& slot = slots_[index % kSlots];
    const uint64_t part = std::min(slot_bytes_, bytes - done);
    if (index >= kSlots)
      BACKPLANE_CU(context_, cuStreamWaitEvent, host_stream_, slot.emptied, CU_EVENT_WAIT_DEFAULT);
    BACKPLANE_TRY(copy_on_host(slot.memory, static_cast<const char*>(src) + done, part));
    BACKPLANE_TRY(order(host_stream_, slot.filled, stream_));
    BACKPLANE_CU(context_, cuMemcpyHtoDAsync, dst + done, slot.memory, part, stream_);
    BACKPLANE_CU(context_, cuEventRecord, slot.emptied, stream_);
    done += part;
  }
  return kOk;
}

Status Staging::download(void* dst, CUdeviceptr src, uint64_t bytes) {
  BACKPLANE_TRY(prepare(bytes));
  for (uint64_t done = 0, index = 0; done < bytes; ++index) {
    const Slot& slot = slots_[index % kSlots];
    const uint64_t part = std::min(slot_bytes_, bytes - done);
    if (index >= kSlots)
      BACKPLANE_CU(context_, cuStreamWaitEvent, stream_, slot.emptied, CU_EVENT_WAIT_DEFAULT);
    BACKPLANE_CU(context_, cuMemcpyDtoHAsync, slot.memory, src + done, part, stream_);
    BACKPLANE_TRY(order(stream_, slot.filled, host_stream_));
    BACKPLANE_TRY(copy_on_host(static_cast<char*>(dst) + done, slot.memory, part));
    BACKPLANE_CU(context_, cuEventRecord, slot.emptied, host_stream_);
    done += part;
  }
  return order(host_stream_, begun_, stream_);
}

}  // namespace backplane::cuda
