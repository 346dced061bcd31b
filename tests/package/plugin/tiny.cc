// SPDX-License-Identifier: Apache-2.0
//
// A plugin as a stranger would start one: one device with memory, fills and copies, and no kernels.
#include <cstdlib>
#include <cstring>
#include <new>

#include "backplane/plugin/base.h"

namespace {

using namespace backplane::plugin;

class TinyBuffer final : public BufferBase {
 public:
  TinyBuffer(void* memory, uint64_t size) : memory_(memory), size_(size) {}
  void destroy() noexcept override {
    std::free(memory_);
    delete this;
  }
  uint64_t size() const noexcept override { return size_; }
  void* host_pointer() const noexcept override { return memory_; }

 private:
  void* memory_;
  uint64_t size_;
};

char* at(Buffer* buffer, uint64_t offset) { return static_cast<char*>(buffer->host_pointer()) + offset; }

// All work is done when its call returns, so every event is complete.
class TinyEvent final : public EventBase {
 public:
  void destroy() noexcept override { delete this; }
  Status query(bool* complete) noexcept override {
    *complete = true;
    return kOk;
  }
  Status wait(uint64_t) noexcept override { return kOk; }
  Status on_complete(void (*function)(void*, Status) noexcept, void* context) noexcept override {
    function(context, kOk);
    return kOk;
  }
};

class TinyStream final : public StreamBase {
 public:
  void destroy() noexcept override { delete this; }
  Status copy(Buffer* dst, uint64_t dst_offset, Buffer* src, uint64_t src_offset,
              uint64_t bytes) noexcept override {
    std::memcpy(at(dst, dst_offset), at(src, src_offset), bytes);
    return kOk;
  }
  Status upload(Buffer* dst, uint64_t dst_offset, const void* src, uint64_t bytes) noexcept override {
    if (bytes > 0) std::memcpy(at(dst, dst_offset), src, bytes);
    return kOk;
  }
  Status download(void* dst, Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept override {
    if (bytes > 0) std::memcpy(dst, at(src, src_offset), bytes);
    return kOk;
  }
  Status fill(Buffer* dst, uint64_t offset, uint64_t bytes, const void* pattern,
              uint32_t pattern_size) noexcept override {
    for (uint64_t done = 0; done < bytes; done += pattern_size) {
      std::memcpy(at(dst, offset + done), pattern, pattern_size);
    }
    return kOk;
  }
  Status record(Event*) noexcept override { return kOk; }
  Status wait(Event* event) noexcept override { return event->wait(UINT64_MAX); }
  Status query(bool* idle) noexcept override {
    *idle = true;
    return kOk;
  }
  Status synchronize(uint64_t) noexcept override { return kOk; }
};

template <typename Object, typename Interface>
Status make(Interface** out) noexcept {
  auto* object = new (std::nothrow) Object;
  if (object == nullptr) return make_status(StatusCode::OutOfMemory, 0, "out of host memory");
  *out = object;
  return kOk;
}

constexpr uint32_t kAlignment = 64;

Status describe_tiny(DeviceProperties* out) noexcept {
  DeviceProperties properties{};
  properties.kind = DeviceKind::Accelerator;
  properties.flags = kSynchronousDefaultStream | kHostMemory | kBufferOffsets;
  properties.types = (1u << kDTypeCount) - 1;
  properties.min_alignment = kAlignment;
  copy_text(properties.name, "Tiny test device");
  fill_struct(out, properties);
  return kOk;
}

class TinyDevice final : public DeviceBase {
 public:
  void destroy() noexcept override { delete this; }
  Status properties(DeviceProperties* properties) noexcept override { return describe_tiny(properties); }
  Status supports(const KernelDesc*) noexcept override { return unimplemented("any kernel"); }
  Status create_kernel(const KernelDesc*, Kernel**) noexcept override { return unimplemented("any kernel"); }
  Status allocate(uint64_t bytes, Buffer** buffer) noexcept override {
    void* memory = nullptr;
    if (posix_memalign(&memory, kAlignment, bytes) != 0) {
      return make_status(StatusCode::OutOfMemory, 0, "no room for %llu bytes",
                         static_cast<unsigned long long>(bytes));
    }
    *buffer = new (std::nothrow) TinyBuffer(memory, bytes);
    if (*buffer != nullptr) return kOk;
    std::free(memory);
    return make_status(StatusCode::OutOfMemory, 0, "out of host memory");
  }
  Status create_stream(const StreamOptions*, Stream** stream) noexcept override {
    return make<TinyStream>(stream);
  }
  Status create_event(Event** event) noexcept override { return make<TinyEvent>(event); }
  const char* backend_name() const noexcept override { return "tiny"; }
};

class TinyBackend final : public BackendBase {
 public:
  void destroy() noexcept override { delete this; }
  uint32_t device_count() noexcept override { return 1; }
  Status describe(uint32_t, DeviceProperties* properties) noexcept override {
    return describe_tiny(properties);
  }
  Status open(uint32_t, Device** device) noexcept override { return make<TinyDevice>(device); }
};

Status create(const HostInfo*, Backend** backend) noexcept { return make<TinyBackend>(backend); }

}  // namespace

extern "C" BACKPLANE_PLUGIN_EXPORT const Plugin backplane_plugin = {
    sizeof(Plugin), kAbiMajor, kAbiMinor, "tiny", "1.0.0", BACKPLANE_COMPILER, 0, 0, create};
