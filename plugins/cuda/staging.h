// SPDX-License-Identifier: Apache-2.0
//
// Copies between the device and pageable host memory that do not block the caller, which the driver's own do:
// in stream order, through pinned chunks, the host's half of the work done by cuLaunchHostFunc on a second
// stream so that it overlaps the transfer of the chunk before. Belongs to one stream; calls are serialised by
// it.
#ifndef BACKPLANE_PLUGINS_CUDA_STAGING_H_
#define BACKPLANE_PLUGINS_CUDA_STAGING_H_

#include "context.h"

namespace backplane::cuda {

// Whether the driver can transfer to or from `pointer` directly.
bool is_pinned(const void* pointer) noexcept;

class Staging {
 public:
  Staging(Context& context, CUstream stream) : context_(context), stream_(stream) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  Status upload(CUdeviceptr dst, const void* src, uint64_t bytes);
  Status download(void* dst, CUdeviceptr src, uint64_t bytes);

 private:
  static constexpr uint64_t kChunkBytes = uint64_t{2} << 20;
  static constexpr int kSlots = 2;

  struct Slot {
    void* memory = nullptr;
    CUevent filled = nullptr;
    CUevent emptied = nullptr;
  };
  struct HostCopy {
    void* dst;
    const void* src;
    uint64_t bytes;
  };

  Status prepare(uint64_t bytes);
  Status copy_on_host(void* dst, const void* src, uint64_t bytes);
  Status order(CUstream before, CUevent event, CUstream after);
  static void CUDA_CB run_host_copy(void* argument);

  Context& context_;
  const CUstream stream_;
  CUstream host_stream_ = nullptr;
  CUevent begun_ = nullptr;
  uint64_t slot_bytes_ = 0;
  Slot slots_[kSlots];
};

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_STAGING_H_
