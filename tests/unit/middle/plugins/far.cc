// SPDX-License-Identifier: Apache-2.0
#include "far.h"

#include <cstdlib>

#include "backplane/plugin/plugin.h"

#ifndef FAR_NAME
#define FAR_NAME "far"
#endif

namespace far {
namespace {

uint64_t number(const plugin::HostInfo* host, const char* key, uint64_t otherwise) {
  const char* text = host->option(host->context, key);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Strided copies of elements of one size: all that the copy family is.
class CopyKernel final : public plugin::KernelBase {
 public:
  explicit CopyKernel(uint32_t size) : size_(size) {}
  void destroy() noexcept override { delete this; }
  Status launch(plugin::Stream* stream, const plugin::LaunchArgs* args) noexcept override {
    Walk walk{args->rank, size_, {}, {}, {}, nullptr, nullptr};
    for (uint32_t i = 0; i < args->rank; ++i) {
      walk.shape[i] = args->shape[i];
      walk.to[i] = args->operand(0).strides[i];
      walk.from[i] = args->operand(1).strides[i];
    }
    walk.dst = static_cast<FarBuffer*>(args->operand(0).buffer)->at(args->operand(0).offset);
    walk.src = static_cast<FarBuffer*>(args->operand(1).buffer)->at(args->operand(1).offset);
    return static_cast<FarStream*>(stream)->add([walk] { walk.run(0, walk.dst, walk.src); });
  }

 private:
  struct Walk {
    uint32_t rank, size;
    int64_t shape[plugin::kMaxRank], to[plugin::kMaxRank], from[plugin::kMaxRank];
    char* dst;
    const char* src;

    void run(uint32_t dimension, char* d, const char* s) const {
      if (dimension == rank) return void(std::memcpy(d, s, size));
      for (int64_t i = 0; i < shape[dimension]; ++i)
        run(dimension + 1, d + i * to[dimension] * size, s + i * from[dimension] * size);
    }
  };

  ~CopyKernel() = default;
  const uint32_t size_;
};

class NativeKernel final : public plugin::KernelBase {
 public:
  explicit NativeKernel(const plugin::SourceDesc& source)
      : function_(source.native), fails_(std::strcmp(source.entry, "fail") == 0) {}
  void destroy() noexcept override { delete this; }
  Status launch(plugin::Stream* stream, const plugin::LaunchArgs*) noexcept override {
    auto* far = static_cast<FarStream*>(stream);
    return far->add([far, function = function_, fails = fails_] {
      function(nullptr, 0, 1);
      if (fails) far->fail();
    });
  }

 private:
  ~NativeKernel() = default;
  decltype(plugin::SourceDesc::native) const function_;
  const bool fails_;
};

class FarDevice final : public plugin::DeviceBase {
 public:
  explicit FarDevice(const Options& options) : options_(options) {}
  void destroy() noexcept override { delete this; }
  const char* backend_name() const noexcept override { return FAR_NAME; }
  Status properties(plugin::DeviceProperties* properties) noexcept override;
  Status supports(const plugin::KernelDesc* desc) noexcept override {
    const bool native = desc->family == plugin::Family::Source && desc->source->native != nullptr;
    return native || desc->family == plugin::Family::Copy ? kOk : plugin::unimplemented("a kernel");
  }
  Status create_kernel(const plugin::KernelDesc* desc, plugin::Kernel** kernel) noexcept override {
    const Status status = supports(desc);
    if (!status.ok()) return status;
    return plugin::guard([&] {
      if (desc->family == plugin::Family::Source)
        *kernel = new NativeKernel(*desc->source);
      else
        *kernel = new CopyKernel(plugin::size_of(desc->types[0]));
      return kOk;
    });
  }
  Status allocate(uint64_t bytes, plugin::Buffer** buffer) noexcept override {
    if (used_.fetch_add(bytes) + bytes > options_.memory) {
      used_.fetch_sub(bytes);
      return plugin::make_status(StatusCode::OutOfMemory, 0, "the device is full");
    }
    return plugin::guard([&] { return *buffer = new FarBuffer(bytes, false, &used_), kOk; });
  }
  Status alloc_host(uint64_t bytes, plugin::Buffer** buffer) noexcept override {
    if (!options_.pinned) return DeviceBase::alloc_host(bytes, buffer);
    pinned_.fetch_add(bytes);
    return plugin::guard([&] { return *buffer = new FarBuffer(bytes, true, &pinned_), kOk; });
  }
  Status wrap_buffer(void* native, uint64_t bytes, plugin::Buffer** buffer) noexcept override {
    return plugin::guard([&] { return *buffer = new FarBuffer(native, bytes), kOk; });
  }
  Status create_stream(const plugin::StreamOptions*, plugin::Stream** stream) noexcept override {
    return plugin::guard([&] { return *stream = new FarStream(options_), kOk; });
  }
  Status create_event(plugin::Event** event) noexcept override {
    return plugin::guard([&] { return *event = new FarEvent(false), kOk; });
  }
  Status create_host_event(plugin::Event** event) noexcept override {
    if (!options_.host_events) return DeviceBase::create_host_event(event);
    return plugin::guard([&] { return *event = new FarEvent(true), kOk; });
  }

 private:
  ~FarDevice() = default;
  const Options options_;
  std::atomic<uint64_t> used_{0}, pinned_{0};
};

plugin::DeviceProperties describe(const Options& options) {
  plugin::DeviceProperties properties{};
  properties.kind = plugin::DeviceKind::Accelerator;
  if (options.offsets) properties.flags = plugin::kBufferOffsets;
  properties.types = (1u << plugin::kDTypeCount) - 1;
  properties.min_alignment = 16;
  plugin::copy_text(properties.name, "Far (test device)");
  return properties;
}

Status FarDevice::properties(plugin::DeviceProperties* properties) noexcept {
  plugin::fill_struct(properties, describe(options_));
  return kOk;
}

class FarBackend final : public plugin::BackendBase {
 public:
  explicit FarBackend(const plugin::HostInfo* host) : options_(host) {}
  void destroy() noexcept override { delete this; }
  uint32_t device_count() noexcept override { return options_.devices; }
  Status describe(uint32_t, plugin::DeviceProperties* properties) noexcept override {
    plugin::fill_struct(properties, far::describe(options_));
    return kOk;
  }
  Status open(uint32_t, plugin::Device** device) noexcept override {
    return plugin::guard([&] { return *device = new FarDevice(options_), kOk; });
  }

 private:
  ~FarBackend() = default;
  const Options options_;
};

Status create(const plugin::HostInfo* host, plugin::Backend** backend) noexcept {
  return plugin::guard([&] { return *backend = new FarBackend(host), kOk; });
}

}  // namespace

Options::Options(const plugin::HostInfo* host)
    : devices(static_cast<uint32_t>(number(host, "devices", 2))),
      memory(number(host, "memory", uint64_t{64} << 10) << 20),
      delay_us(number(host, "delay_us", 0)),
      seed(number(host, "seed", 1)),
      host_events(number(host, "host_events", 1) != 0),
      pinned(number(host, "pinned", 1) != 0),
      offsets(number(host, "offsets", 1) != 0) {}

}  // namespace far

extern "C" BACKPLANE_PLUGIN_EXPORT const backplane::plugin::Plugin backplane_plugin = {
    sizeof(backplane::plugin::Plugin),
    backplane::plugin::kAbiMajor,
    backplane::plugin::kAbiMinor,
    FAR_NAME,
    "1.0",
    BACKPLANE_COMPILER,
    2,
    0,
    far::create,
};
