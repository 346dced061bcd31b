// SPDX-License-Identifier: Apache-2.0
//
// What a plugin implements: Backend, Device, Buffer, Stream, Event, Kernel.
//
// Ownership: whoever receives an object through an out-parameter owns it and calls destroy() exactly once.
// Core destroys Kernels, Buffers, Events and Streams before their Device, and Devices before the Backend.
// Threads: every method may be called from any thread, concurrently, except destroy(), which is the last
// call. Blocking: only the methods that say so wait for a device; all others return without waiting for
// queued work. Versions: methods are only ever appended, to the end of the class; "since 0.N" names the minor
// version that added one. Host code never calls a method that the plugin's `abi_minor` is too old to have.
// Derive from the classes of base.h, which answer Unimplemented for everything optional.
#ifndef BACKPLANE_PLUGIN_INTERFACES_H_
#define BACKPLANE_PLUGIN_INTERFACES_H_

#include "backplane/plugin/kernels.h"
#include "backplane/plugin/types.h"

namespace backplane::plugin {

class Backend;
class Device;
class Buffer;
class Stream;
class Event;
class Kernel;

enum class StreamKind : uint32_t {
  Default = 0,       // the device's own order; synchronous where kSynchronousDefaultStream is set
  Asynchronous = 1,  // calls return before their work is done
};

struct StreamOptions {
  uint32_t struct_size;
  StreamKind kind;
  int32_t priority;  // higher runs first, where the device can; 0 is usual
  uint32_t reserved;
};

enum MapFlags : uint32_t { kMapRead = 1, kMapWrite = 2, kMapDiscard = 4 };

// A host program's own objects, for Backend::open_native. Which fields are used is the backend's to document:
// OpenCL takes cl_context and cl_device_id, CUDA a CUcontext.
struct NativeContext {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  void* device;
};

enum class NativeHandle : uint32_t { Context = 0, Device = 1, Queue = 2, Memory = 3, Event = 4 };

// Device memory, or pinned host memory.
class Buffer {
 public:
  // Frees the memory. The caller has made sure that no queued work uses it. Never blocks on other streams'
  // work.
  virtual void destroy() noexcept = 0;
  virtual uint64_t size() const noexcept = 0;

  // The address that kernels see, or 0 where the device has none (OpenCL before 3.0).
  virtual uint64_t address() const noexcept = 0;

  // The memory itself as the host sees it, for the buffer's whole life, or null.
  virtual void* host_pointer() const noexcept = 0;

  // Makes [offset, offset+size) visible to the host and waits for that; the caller has ordered earlier work.
  // With kMapDiscard old contents need not be fetched. Every map is paired with an unmap of the same pointer,
  // which makes the host's writes visible to later work. Blocks. Unimplemented where the device has no cheap
  // mapping.
  virtual Status map(uint32_t flags, uint64_t offset, uint64_t size, void** pointer) noexcept = 0;
  virtual Status unmap(void* pointer) noexcept = 0;

  // The vendor's object (cl_mem, CUdeviceptr as a pointer, void*), owned by this buffer.
  virtual Status native_handle(void** handle) noexcept = 0;

 protected:
  ~Buffer() = default;
};

// A point in a stream's work, or one that the host signals (Device::create_host_event).
class Event {
 public:
  virtual void destroy() noexcept = 0;

  // Whether everything before the last record() (or the signal) is done. An event never recorded is complete.
  // A failure of that work is the status.
  virtual Status query(bool* complete) noexcept = 0;

  // Blocks until complete, at most `timeout_ns`; then Unavailable. UINT64_MAX waits for ever.
  virtual Status wait(uint64_t timeout_ns) noexcept = 0;

  // Calls `function(context, status)` once, from any thread, when the event completes or fails; at once, from
  // this call, when it already has. The function makes no call that blocks and no call on a stream or kernel;
  // it may signal host events. Answers for the last record() before this call: a later one does not put the
  // call off. This is how streams of different plugins are ordered.
  virtual Status on_complete(void (*function)(void* context, Status status) noexcept,
                             void* context) noexcept = 0;

  // Completes a host event; InvalidArgument for any other.
  virtual Status signal() noexcept = 0;

  virtual Status native_handle(void** handle) noexcept = 0;

 protected:
  ~Event() = default;
};

// An in-order queue of work on one device. Host memory given to copies must stay valid until that copy is
// done.
class Stream {
 public:
  // Waits for the stream's work, then frees it.
  virtual void destroy() noexcept = 0;

  // Between two buffers of this device, which may be one buffer if the ranges do not overlap. Zero bytes are
  // fine here and below.
  virtual Status copy(Buffer* dst, uint64_t dst_offset, Buffer* src, uint64_t src_offset,
                      uint64_t bytes) noexcept = 0;
  virtual Status upload(Buffer* dst, uint64_t dst_offset, const void* src, uint64_t bytes) noexcept = 0;
  virtual Status download(void* dst, Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept = 0;

  // Repeats a pattern of 1, 2, 4 or 8 bytes; offset and bytes are multiples of it.
  virtual Status fill(Buffer* dst, uint64_t offset, uint64_t bytes, const void* pattern,
                      uint32_t pattern_size) noexcept = 0;

  // From or to a buffer of another device (perhaps of another plugin: cast only after asking that device's
  // native handle or knowing it as one's own). The caller has ordered the other device's work. Unimplemented
  // sends core to the next route; any other failure is final.
  virtual Status copy_from_peer(Buffer* dst, uint64_t dst_offset, Device* src_device, Buffer* src,
                                uint64_t src_offset, uint64_t bytes) noexcept = 0;
  virtual Status copy_to_peer(Device* dst_device, Buffer* dst, uint64_t dst_offset, Buffer* src,
                              uint64_t src_offset, uint64_t bytes) noexcept = 0;

  // Puts `event` behind all work queued so far. Recording again moves the event.
  virtual Status record(Event* event) noexcept = 0;

  // Later work on this stream starts after `event`, an event of this plugin (any of its devices) or a host
  // event of this device. Does not block the host, except on a synchronous stream.
  virtual Status wait(Event* event) noexcept = 0;

  // Sends queued work to the device. Never needed for correctness.
  virtual Status flush() noexcept = 0;

  virtual Status query(bool* idle) noexcept = 0;

  // Blocks until the stream's work is done, at most `timeout_ns` (then Unavailable, and the work goes on).
  // Reports the first failure of work queued here since the last report.
  virtual Status synchronize(uint64_t timeout_ns) noexcept = 0;

  virtual Status native_handle(void** handle) noexcept = 0;

 protected:
  ~Stream() = default;
};

// Compiled code for one KernelDesc. Launches may run concurrently on several streams.
class Kernel {
 public:
  // Waits for launches that still use it where the driver needs that.
  virtual void destroy() noexcept = 0;

  // Bytes of scratch that a launch with these arguments needs, aligned as the device's allocations; often 0.
  // Never called for the families elementwise, copy and random, which have none.
  virtual Status workspace(const LaunchArgs* args, uint64_t* bytes) noexcept = 0;

  // Queues the work. `args` and all it points to may be reused as soon as this returns. A failed launch has
  // written nothing.
  virtual Status launch(Stream* stream, const LaunchArgs* args) noexcept = 0;

 protected:
  ~Kernel() = default;
};

// One device, opened.
class Device {
 public:
  virtual void destroy() noexcept = 0;

  // Fills at most `struct_size` bytes. A query that the driver refuses costs only its own field.
  virtual Status properties(DeviceProperties* properties) noexcept = 0;
  virtual Status telemetry(Telemetry* telemetry) noexcept = 0;

  // Ok, or Unimplemented with the reason. Builds nothing; what it accepts, create_kernel accepts.
  virtual Status supports(const KernelDesc* desc) noexcept = 0;

  // May compile, and take seconds. `desc` may be freed on return. Core calls it once per descriptor and
  // device.
  virtual Status create_kernel(const KernelDesc* desc, Kernel** kernel) noexcept = 0;

  // `bytes` > 0. OutOfMemory is recoverable.
  virtual Status allocate(uint64_t bytes, Buffer** buffer) noexcept = 0;

  // Pinned host memory that copies of this device use fastest; its host_pointer() is never null.
  virtual Status alloc_host(uint64_t bytes, Buffer** buffer) noexcept = 0;

  // Wraps memory without a copy and without owning it: the vendor's own object, or plain host memory.
  virtual Status wrap_buffer(void* native, uint64_t bytes, Buffer** buffer) noexcept = 0;
  virtual Status wrap_host(void* pointer, uint64_t bytes, Buffer** buffer) noexcept = 0;

  virtual Status create_stream(const StreamOptions* options, Stream** stream) noexcept = 0;
  virtual Status wrap_stream(void* native, Stream** stream) noexcept = 0;
  virtual Status create_event(Event** event) noexcept = 0;
  virtual Status create_host_event(Event** event) noexcept = 0;

  // Whether copy_from_peer from `src` may work; Ok or Unimplemented with the reason. `src` may be of another
  // plugin.
  virtual Status can_copy_from(Device* src) noexcept = 0;

  virtual Status native_handle(NativeHandle which, void** handle) noexcept = 0;

  // The plugin's name for the code above: lets a plugin recognise its own devices among strangers. Never
  // null.
  virtual const char* backend_name() const noexcept = 0;

  // Since 0.1. Writes up to `capacity` entries, `stride` bytes apart, and the number that exist.
  virtual Status processes(ProcessInfo* first, uint32_t stride, uint32_t capacity,
                           uint32_t* count) noexcept = 0;

 protected:
  ~Device() = default;
};

// All devices that one plugin reaches.
class Backend {
 public:
  // Called after all its objects are destroyed. The library itself is never unloaded.
  virtual void destroy() noexcept = 0;

  // Fixed once created.
  virtual uint32_t device_count() noexcept = 0;

  // What Device::properties would say, without the cost of opening the device.
  virtual Status describe(uint32_t index, DeviceProperties* properties) noexcept = 0;
  virtual Status open(uint32_t index, Device** device) noexcept = 0;

  // A device over the host program's own context. Closing it leaves that context as it was.
  virtual Status open_native(const NativeContext* native, Device** device) noexcept = 0;

  // What was found broken while looking for devices; note `index` of `note_count()`.
  virtual uint32_t note_count() noexcept = 0;
  virtual Status note(uint32_t index, Note* note) noexcept = 0;

 protected:
  ~Backend() = default;
};

}  // namespace backplane::plugin

#endif  // BACKPLANE_PLUGIN_INTERFACES_H_
