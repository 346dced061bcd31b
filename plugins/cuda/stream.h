// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_PLUGINS_CUDA_STREAM_H_
#define BACKPLANE_PLUGINS_CUDA_STREAM_H_

#include "modules.h"
#include "staging.h"

namespace backplane::cuda {

// A CUstream: ours, which does not synchronise with the legacy default stream, or the host program's.
class Stream final : public plugin::StreamBase {
 public:
  static Status create(std::shared_ptr<Context> context, std::shared_ptr<Modules> modules, int32_t priority,
                       plugin::Stream** stream);
  static Status wrap(std::shared_ptr<Context> context, std::shared_ptr<Modules> modules, CUstream native,
                     plugin::Stream** stream);

  void destroy() noexcept override;
  Status copy(plugin::Buffer* dst, uint64_t dst_offset, plugin::Buffer* src, uint64_t src_offset,
              uint64_t bytes) noexcept override;
  Status upload(plugin::Buffer* dst, uint64_t dst_offset, const void* src, uint64_t bytes) noexcept override;
  Status download(void* dst, plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept override;
  Status fill(plugin::Buffer* dst, uint64_t offset, uint64_t bytes, const void* pattern,
              uint32_t pattern_size) noexcept override;
  Status copy_from_peer(plugin::Buffer* dst, uint64_t dst_offset, plugin::Device* src_device,
                        plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept override;
  Status copy_to_peer(plugin::Device* dst_device, plugin::Buffer* dst, uint64_t dst_offset,
                      plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept override;
  Status record(plugin::Event* event) noexcept override;
  Status wait(plugin::Event* event) noexcept override;
  Status query(bool* idle) noexcept override;
  Status synchronize(uint64_t timeout_ns) noexcept override;
  Status native_handle(void** handle) noexcept override;

  // For kernels, whose context is current.
  CUstream handle() const noexcept { return handle_; }
  Context& context() noexcept { return *context_; }
  // Queues one kernel; `params` is its only parameter.
  Status launch(CUfunction function, uint64_t blocks, uint32_t threads, void* params) noexcept;

 private:
  Stream(std::shared_ptr<Context> context, std::shared_ptr<Modules> modules, CUstream handle, bool owned)
      : context_(std::move(context)),
        modules_(std::move(modules)),
        handle_(handle),
        owned_(owned),
        staging_(*context_, handle) {}
  ~Stream() = default;
  Status fill_words(CUdeviceptr dst, uint64_t bytes, uint64_t pattern);

  const std::shared_ptr<Context> context_;
  const std::shared_ptr<Modules> modules_;
  const CUstream handle_;
  const bool owned_;
  std::mutex staging_mutex_;
  Staging staging_;
};

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_STREAM_H_
