// SPDX-License-Identifier: Apache-2.0
#include "gate.h"

#include <cstring>

namespace backplane::cuda {

Gates::~Gates() {
  const ContextScope scope(context_);
  if (!scope.status().ok()) return;
  for (void* page : pages_) cuMemFreeHost(page);
}

Status Gates::add_page() {
  BACKPLANE_ENTER(context_);
  int supported = 0;
  const CUresult answer =
      cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, context_.device());
  if (answer != CUDA_SUCCESS || supported == 0)
    return plugin::unimplemented("a host event (the device has no stream memory operations)");
  void* page = nullptr;
  BACKPLANE_CU(context_, cuMemHostAlloc, &page, kWordsPerPage * sizeof(uint32_t),
               CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  std::memset(page, 0, kWordsPerPage * sizeof(uint32_t));
  pages_.push_back(page);
  CUdeviceptr address = 0;
  BACKPLANE_CU(context_, cuMemHostGetDevicePointer, &address, page, 0);
  for (uint32_t i = 0; i < kWordsPerPage; ++i)
    free_.push_back({static_cast<volatile uint32_t*>(page) + i, address + i * sizeof(uint32_t), 1});
  return kOk;
}

Status Gates::acquire(Gate* gate) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) BACKPLANE_TRY(add_page());
  *gate = free_.back();
  free_.pop_back();
  return kOk;
}

void Gates::open(const Gate& gate) noexcept {
  std::atomic_thread_fence(std::memory_order_release);
  *gate.word = gate.value;
}

void Gates::release(const Gate& gate) {
  const std::lock_guard lock(mutex_);
  free_.push_back({gate.word, gate.address, gate.value + 1});
}

}  // namespace backplane::cuda
