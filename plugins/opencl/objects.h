// SPDX-License-Identifier: Apache-2.0
//
// Buffers, events and streams over OpenCL's memory objects, events and in-order queues.
#ifndef BACKPLANE_PLUGINS_OPENCL_OBJECTS_H_
#define BACKPLANE_PLUGINS_OPENCL_OBJECTS_H_

#include <atomic>
#include <mutex>

#include "opencl/api.h"
#include "opencl/exit.h"

namespace backplane::opencl {

class ClDevice;

class ClBuffer final : public plugin::BufferBase {
 public:
  // Owns `memory`. `host_pointer` is null or where the host sees the memory; with
  // `unmap_at_end` it is mapped there for the buffer's whole life.
  // `counted` bytes are the device's allocation count's to lose when this goes.
  ClBuffer(ClDevice* device, MemoryHandle memory, uint64_t size, void* host_pointer, bool unmap_at_end,
           uint64_t counted) noexcept;

  void destroy() noexcept override;
  uint64_t size() const noexcept override { return size_; }
  void* host_pointer() const noexcept override { return host_pointer_; }
  Status map(uint32_t flags, uint64_t offset, uint64_t size, void** pointer) noexcept override;
  Status unmap(void* pointer) noexcept override;
  Status native_handle(void** handle) noexcept override;

  cl_mem memory() const noexcept { return memory_.get(); }

 protected:
  ~ClBuffer() = default;

 private:
  Status unmap_now(void* pointer) noexcept;

  ClDevice* device_;
  MemoryHandle memory_;
  uint64_t size_;
  void* host_pointer_;
  bool unmap_at_end_;
  uint64_t counted_;
};

class ClEvent final : public plugin::EventBase {
 public:
  // A device's event, or with a user event, the host's.
  explicit ClEvent(EventHandle host_event) noexcept;

  void destroy() noexcept override;
  Status query(bool* complete) noexcept override;
  Status wait(uint64_t timeout_ns) noexcept override;
  Status on_complete(void (*function)(void*, Status) noexcept, void* context) noexcept override;
  Status signal() noexcept override;
  Status native_handle(void** handle) noexcept override;

  bool is_host() const noexcept { return is_host_; }
  void set(EventHandle event) noexcept;
  EventHandle get() const noexcept;  // empty if never recorded

 protected:
  ~ClEvent() = default;

 private:
  const bool is_host_;
  std::atomic<bool> is_signalled_{false};
  mutable std::mutex mutex_;
  EventHandle event_;
};

class ClStream final : public plugin::StreamBase {
 public:
  ClStream(ClDevice* device, QueueHandle queue);

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
  Status flush() noexcept override;
  Status query(bool* idle) noexcept override;
  Status synchronize(uint64_t timeout_ns) noexcept override;
  Status native_handle(void** handle) noexcept override;

  cl_command_queue queue() const noexcept { return queue_.get(); }
  ClDevice* device() const noexcept { return device_; }

  // Every command queued makes the stream busy until it is seen to be idle.
  void note_command() noexcept {
    watch_this_thread();
    queued_.fetch_add(1, std::memory_order_relaxed);
  }
  // Remembers the first failure of a command that its call could no longer report.
  Status checked(cl_int code, const char* call) noexcept;

 protected:
  ~ClStream() = default;

 private:
  Status marker(EventHandle* event) noexcept;
  // The shared-memory way: a kernel copies between `buffer` and host memory, on all the device's units.
  Status copy_shared(ClBuffer* buffer, uint64_t offset, void* host, uint64_t bytes, bool upload) noexcept;

  ClDevice* device_;
  QueueHandle queue_;
  std::atomic<uint64_t> queued_{0};
  std::atomic<uint64_t> seen_idle_{0};
  std::mutex probe_mutex_;
  EventHandle probe_;  // a marker behind command number probe_at_
  uint64_t probe_at_ = 0;
};

// Complete, running or failed.
Status event_status(cl_event event, bool* complete) noexcept;
// Blocks; Unavailable after `timeout_ns`, unless that is UINT64_MAX.
Status wait_for(cl_event event, uint64_t timeout_ns) noexcept;

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_OBJECTS_H_
