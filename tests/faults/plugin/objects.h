// SPDX-License-Identifier: Apache-2.0
//
// One class for each interface, around an object of the wrapped plugin: every method asks the plan first, and
// forwards.
#ifndef BACKPLANE_TESTS_FAULTS_OBJECTS_H_
#define BACKPLANE_TESTS_FAULTS_OBJECTS_H_

#include "plan.h"

namespace faults {

namespace plugin = backplane::plugin;
using plugin::Status;

inline constexpr const char* kName = "faulty";

// Waits for all work of a device's streams: one that says it is lost touches no memory any more.
void drain(int device) noexcept;

// What every wrapper has: the object inside, and the number of its device.
template <typename Interface, Object kObject>
class Wrapper : public Interface {
 public:
  Wrapper(Interface* inner, int device) noexcept : inner_(inner), device_(device) {
    plan().count(kObject, device, 1);
  }
  virtual ~Wrapper() { plan().count(kObject, device_, -1); }
  Wrapper(const Wrapper&) = delete;
  Wrapper& operator=(const Wrapper&) = delete;
  void destroy() noexcept override {
    inner_->destroy();
    delete this;
  }
  Interface* inner() const noexcept { return inner_; }
  int device() const noexcept { return device_; }

 protected:
  // Forwards unless the plan says that this call fails.
  template <typename Forward>
  Status forward(const char* method, Forward&& call) const noexcept {
    const Status status = plan().call(device_, method);
    if (status.ok()) return call();
    if (status.code == plugin::StatusCode::DeviceLost) drain(device_);
    return status;
  }

 private:
  Interface* const inner_;
  const int device_;
};

// Of a device that hides that its memory is the host's, or not.
class FaultyBuffer final : public Wrapper<plugin::Buffer, Object::Buffer> {
 public:
  FaultyBuffer(plugin::Buffer* inner, int device, bool hidden) noexcept
      : Wrapper(inner, device), hidden_(hidden) {}
  uint64_t size() const noexcept override { return inner()->size(); }
  uint64_t address() const noexcept override { return inner()->address(); }
  void* host_pointer() const noexcept override { return hidden_ ? nullptr : inner()->host_pointer(); }
  Status map(uint32_t flags, uint64_t offset, uint64_t size, void** pointer) noexcept override;
  Status unmap(void* pointer) noexcept override;
  Status native_handle(void** handle) noexcept override;

 private:
  const bool hidden_;
};

class FaultyEvent final : public Wrapper<plugin::Event, Object::Event> {
 public:
  using Wrapper::Wrapper;
  Status query(bool* complete) noexcept override;
  Status wait(uint64_t timeout_ns) noexcept override;
  Status on_complete(void (*function)(void*, Status) noexcept, void* context) noexcept override;
  Status signal() noexcept override;
  Status native_handle(void** handle) noexcept override;
};

class FaultyStream final : public Wrapper<plugin::Stream, Object::Stream> {
 public:
  FaultyStream(plugin::Stream* inner, int device);
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
};

class FaultyKernel final : public Wrapper<plugin::Kernel, Object::Kernel> {
 public:
  using Wrapper::Wrapper;
  Status workspace(const plugin::LaunchArgs* args, uint64_t* bytes) noexcept override;
  Status launch(plugin::Stream* stream, const plugin::LaunchArgs* args) noexcept override;
};

// With `discrete`, the wrapped device's memory looks like no host memory, and its default stream is one of
// the wrapped plugin's asynchronous ones where it has any.
class FaultyDevice final : public Wrapper<plugin::Device, Object::Device> {
 public:
  FaultyDevice(plugin::Device* inner, int device, bool discrete) noexcept
      : Wrapper(inner, device), discrete_(discrete) {}
  Status properties(plugin::DeviceProperties* properties) noexcept override;
  Status telemetry(plugin::Telemetry* telemetry) noexcept override;
  Status supports(const plugin::KernelDesc* desc) noexcept override;
  Status create_kernel(const plugin::KernelDesc* desc, plugin::Kernel** kernel) noexcept override;
  Status allocate(uint64_t bytes, plugin::Buffer** buffer) noexcept override;
  Status alloc_host(uint64_t bytes, plugin::Buffer** buffer) noexcept override;
  Status wrap_buffer(void* native, uint64_t bytes, plugin::Buffer** buffer) noexcept override;
  Status wrap_host(void* pointer, uint64_t bytes, plugin::Buffer** buffer) noexcept override;
  Status create_stream(const plugin::StreamOptions* options, plugin::Stream** stream) noexcept override;
  Status wrap_stream(void* native, plugin::Stream** stream) noexcept override;
  Status create_event(plugin::Event** event) noexcept override;
  Status create_host_event(plugin::Event** event) noexcept override;
  Status can_copy_from(plugin::Device* src) noexcept override;
  Status native_handle(plugin::NativeHandle which, void** handle) noexcept override;
  const char* backend_name() const noexcept override { return kName; }
  Status processes(plugin::ProcessInfo* first, uint32_t stride, uint32_t capacity,
                   uint32_t* count) noexcept override;

 private:
  const bool discrete_;
};

// What the wrapped plugin says of its device, as this plugin's.
void disguise(plugin::DeviceProperties* properties, bool discrete) noexcept;

// The object inside, where it is one of ours.
plugin::Device* unwrap(plugin::Device* device) noexcept;
inline plugin::Buffer* unwrap(plugin::Buffer* buffer) noexcept {
  return buffer == nullptr ? nullptr : static_cast<FaultyBuffer*>(buffer)->inner();
}
// A buffer of `device`, which may be a stranger's.
plugin::Buffer* unwrap(plugin::Device* device, plugin::Buffer* buffer) noexcept;

}  // namespace faults

#endif  // BACKPLANE_TESTS_FAULTS_OBJECTS_H_
