// SPDX-License-Identifier: Apache-2.0
//
// The default stream runs every call to its end in the calling thread. An asynchronous stream has a thread of
// its own, started by its first call, that does the calls in order.
#ifndef BACKPLANE_CPU_STREAM_H_
#define BACKPLANE_CPU_STREAM_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "backplane/plugin/base.h"
#include "cpu/event.h"
#include "cpu/kernel.h"

namespace backplane::cpu {

class CpuStream final : public plugin::StreamBase {
 public:
  CpuStream(CpuDevice& device, plugin::StreamKind kind) : device_(device), kind_(kind) {}

  void destroy() noexcept override;
  plugin::Status copy(plugin::Buffer* dst, uint64_t dst_offset, plugin::Buffer* src, uint64_t src_offset,
                      uint64_t bytes) noexcept override;
  plugin::Status upload(plugin::Buffer* dst, uint64_t dst_offset, const void* src,
                        uint64_t bytes) noexcept override;
  plugin::Status download(void* dst, plugin::Buffer* src, uint64_t src_offset,
                          uint64_t bytes) noexcept override;
  plugin::Status fill(plugin::Buffer* dst, uint64_t offset, uint64_t bytes, const void* pattern,
                      uint32_t pattern_size) noexcept override;
  plugin::Status copy_from_peer(plugin::Buffer* dst, uint64_t dst_offset, plugin::Device* src_device,
                                plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept override;
  plugin::Status copy_to_peer(plugin::Device* dst_device, plugin::Buffer* dst, uint64_t dst_offset,
                              plugin::Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept override;
  plugin::Status record(plugin::Event* event) noexcept override;
  plugin::Status wait(plugin::Event* event) noexcept override;
  plugin::Status query(bool* idle) noexcept override;
  plugin::Status synchronize(uint64_t timeout_ns) noexcept override;

  // Runs or queues kernel->run(args); what `args` points to is copied when it is queued.
  plugin::Status launch(CpuKernel* kernel, const plugin::LaunchArgs& args) noexcept;

 private:
  using Work = std::function<plugin::Status()>;

  ~CpuStream();
  bool synchronous() const noexcept { return kind_ == plugin::StreamKind::Default || forked(); }
  void enqueue(Work work);
  void work_through_queue();
  plugin::Status move_bytes(void* dst, const void* src, uint64_t bytes) noexcept;

  CpuDevice& device_;
  const plugin::StreamKind kind_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> queue_;  // the front one is running
  bool stopping_ = false;
  OwnedStatus failure_;  // the first since the last synchronize
  std::thread worker_;
};

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_STREAM_H_
