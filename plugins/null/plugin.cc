// SPDX-License-Identifier: Apache-2.0
//
// The smallest plugin that works: one device, "null:0", that computes in the calling thread, one element
// after the other. It has all that a plugin must have and next to nothing that it may leave out: start yours
// from it. Read it from the end, where the plugin is exported, upwards.
#include "backplane/plugin/plugin.h"

#include <cstring>
#include <new>

#include "backplane/plugin/base.h"
#include "null/kernels.h"

namespace {

namespace plugin = backplane::plugin;
using plugin::Buffer;
using plugin::kOk;
using plugin::Status;

constexpr const char* kName = "null";
constexpr uint32_t kAlignment = 64;

// Makes one of the objects below; the plugin's own exceptions stay here.
template <typename Object, typename Interface, typename... Args>
Status make(Interface** out, const Args&... args) noexcept {
  return plugin::guard([&] {
    *out = new Object(args...);
    return kOk;
  });
}

constexpr uint64_t bit(plugin::DType type) noexcept { return uint64_t{1} << static_cast<uint32_t>(type); }

plugin::DeviceProperties device_properties() noexcept {
  plugin::DeviceProperties properties{};
  properties.struct_size = sizeof properties;
  properties.kind = plugin::DeviceKind::Accelerator;
  properties.flags = plugin::kSynchronousDefaultStream | plugin::kHostMemory | plugin::kBufferOffsets |
                     plugin::kForkSafe | plugin::kDenormals | plugin::kCorrectlyRoundedDivide;
  properties.types = bit(plugin::DType::Bool) | bit(plugin::DType::Int32) | bit(plugin::DType::Float32);
  properties.min_alignment = kAlignment;
  plugin::copy_text(properties.name, "Example device in the calling thread");
  return properties;
}

// Host memory.
class NullBuffer final : public plugin::BufferBase {
 public:
  explicit NullBuffer(uint64_t size)
      : memory_(static_cast<char*>(::operator new(size, std::align_val_t(kAlignment)))), size_(size) {}

  void destroy() noexcept override {
    ::operator delete(memory_, std::align_val_t(kAlignment));
    delete this;
  }
  uint64_t size() const noexcept override { return size_; }
  void* host_pointer() const noexcept override { return memory_; }

 private:
  char* const memory_;
  const uint64_t size_;
};

// All work is done when the call that asked for it returns, so that every event is complete.
class NullEvent final : public plugin::EventBase {
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

class NullStream final : public plugin::StreamBase {
 public:
  void destroy() noexcept override { delete this; }
  Status copy(Buffer* dst, uint64_t dst_offset, Buffer* src, uint64_t src_offset,
              uint64_t bytes) noexcept override {
    return move(at(dst, dst_offset), at(src, src_offset), bytes);
  }
  Status upload(Buffer* dst, uint64_t dst_offset, const void* src, uint64_t bytes) noexcept override {
    return move(at(dst, dst_offset), src, bytes);
  }
  Status download(void* dst, Buffer* src, uint64_t src_offset, uint64_t bytes) noexcept override {
    return move(dst, at(src, src_offset), bytes);
  }
  Status fill(Buffer* dst, uint64_t offset, uint64_t bytes, const void* pattern,
              uint32_t size) noexcept override {
    for (uint64_t done = 0; done < bytes; done += size) std::memcpy(at(dst, offset + done), pattern, size);
    return kOk;
  }
  Status record(plugin::Event*) noexcept override { return kOk; }
  Status wait(plugin::Event*) noexcept override { return kOk; }
  Status query(bool* idle) noexcept override {
    *idle = true;
    return kOk;
  }
  Status synchronize(uint64_t) noexcept override { return kOk; }

 private:
  static char* at(Buffer* buffer, uint64_t offset) noexcept {
    return static_cast<char*>(buffer->host_pointer()) + offset;
  }

  // memmove must not see null pointers, not even for zero bytes.
  static Status move(void* dst, const void* src, uint64_t bytes) noexcept {
    if (bytes > 0) std::memmove(dst, src, bytes);
    return kOk;
  }
};

class NullDevice final : public plugin::DeviceBase {
 public:
  void destroy() noexcept override { delete this; }
  const char* backend_name() const noexcept override { return kName; }

  Status properties(plugin::DeviceProperties* properties) noexcept override {
    plugin::fill_struct(properties, device_properties());
    return kOk;
  }

  Status supports(const plugin::KernelDesc* desc) noexcept override {
    return backplane::null::supports(*desc);
  }

  Status create_kernel(const plugin::KernelDesc* desc, plugin::Kernel** kernel) noexcept override {
    const Status status = supports(desc);
    if (!status.ok()) return status;
    return plugin::guard([=] {
      *kernel = backplane::null::make_kernel(*desc);
      return kOk;
    });
  }

  Status allocate(uint64_t bytes, Buffer** buffer) noexcept override {
    return make<NullBuffer>(buffer, bytes);
  }

  Status create_stream(const plugin::StreamOptions* options, plugin::Stream** stream) noexcept override {
    if (options->kind != plugin::StreamKind::Default) return plugin::unimplemented("an asynchronous stream");
    return make<NullStream>(stream);
  }

  Status create_event(plugin::Event** event) noexcept override { return make<NullEvent>(event); }
};

constexpr Status kNoSuchDevice{plugin::StatusCode::NotFound, 0, "there is only null:0"};

class NullBackend final : public plugin::BackendBase {
 public:
  void destroy() noexcept override { delete this; }

  uint32_t device_count() noexcept override { return 1; }

  Status describe(uint32_t index, plugin::DeviceProperties* properties) noexcept override {
    if (index != 0) return kNoSuchDevice;
    plugin::fill_struct(properties, device_properties());
    return kOk;
  }

  Status open(uint32_t index, plugin::Device** device) noexcept override {
    if (index != 0) return kNoSuchDevice;
    return make<NullDevice>(device);
  }
};

Status create(const plugin::HostInfo*, plugin::Backend** backend) noexcept {
  return make<NullBackend>(backend);
}

}  // namespace

extern "C" BACKPLANE_PLUGIN_EXPORT const plugin::Plugin backplane_plugin = {
    sizeof(plugin::Plugin),
    plugin::kAbiMajor,
    plugin::kAbiMinor,
    kName,
    BACKPLANE_VERSION,
    BACKPLANE_COMPILER,
    1,  // priority
    0,
    create,
};
