// SPDX-License-Identifier: Apache-2.0
//
// A backend whose devices are and do what options say: the environment BACKPLANE_<PLUGIN>_<KEY> or
// RuntimeOptions::plugin_options. Keys:
//   devices   how many there are (1)                kind      "gpu" or nothing (an accelerator)
//   pci       PCI addresses, one a device, by commas; "-" for none. Likewise: uuid (one byte's number), title
//   fail      what fails, by commas: enumeration, description, telemetry, opening
//   note      the cause of a note
//   threads   "log": what create logs is the thread count
#ifndef BACKPLANE_TESTS_LOADER_FAKE_H_
#define BACKPLANE_TESTS_LOADER_FAKE_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "backplane/plugin/base.h"

namespace fake {

namespace plugin = backplane::plugin;
using plugin::kOk;
using plugin::Status;
using plugin::StatusCode;

template <typename Object, typename Interface, typename... Args>
Status make(Interface** out, const Args&... args) noexcept {
  return plugin::guard([&] {
    *out = new Object(args...);  // NOLINT(bugprone-unhandled-exception-at-new): guard's to handle
    return kOk;
  });
}

class FakeBuffer final : public plugin::BufferBase {
 public:
  explicit FakeBuffer(uint64_t size) : memory_(size) {}
  void destroy() noexcept override { delete this; }
  uint64_t size() const noexcept override { return memory_.size(); }
  void* host_pointer() const noexcept override { return const_cast<char*>(memory_.data()); }

 private:
  ~FakeBuffer() = default;
  std::vector<char> memory_;
};

class FakeEvent final : public plugin::EventBase {
 public:
  void destroy() noexcept override { delete this; }
  Status query(bool* complete) noexcept override { return *complete = true, kOk; }
  Status wait(uint64_t) noexcept override { return kOk; }
  Status on_complete(void (*function)(void*, Status) noexcept, void* context) noexcept override {
    return function(context, kOk), kOk;
  }

 private:
  ~FakeEvent() = default;
};

class FakeStream final : public plugin::StreamBase {
 public:
  void destroy() noexcept override { delete this; }
  Status copy(plugin::Buffer* dst, uint64_t to, plugin::Buffer* src, uint64_t from,
              uint64_t n) noexcept override {
    return std::memmove(at(dst, to), at(src, from), n), kOk;
  }
  Status upload(plugin::Buffer* dst, uint64_t to, const void* src, uint64_t n) noexcept override {
    return std::memcpy(at(dst, to), src, n), kOk;
  }
  Status download(void* dst, plugin::Buffer* src, uint64_t from, uint64_t n) noexcept override {
    return std::memcpy(dst, at(src, from), n), kOk;
  }
  Status fill(plugin::Buffer* dst, uint64_t to, uint64_t n, const void* pattern,
              uint32_t size) noexcept override {
    for (uint64_t i = 0; i < n; i += size) std::memcpy(at(dst, to + i), pattern, size);
    return kOk;
  }
  Status record(plugin::Event*) noexcept override { return kOk; }
  Status wait(plugin::Event*) noexcept override { return kOk; }
  Status query(bool* idle) noexcept override { return *idle = true, kOk; }
  Status synchronize(uint64_t) noexcept override { return kOk; }

 private:
  ~FakeStream() = default;
  static char* at(plugin::Buffer* buffer, uint64_t offset) noexcept {
    return static_cast<char*>(buffer->host_pointer()) + offset;
  }
};

struct Options {
  explicit Options(const plugin::HostInfo* host_info) : host(host_info) {}

  std::string text(const char* key) const {
    const char* value = host->option(host->context, key);
    return value == nullptr ? "" : value;
  }

  // Element `index` of a list; empty for "-" and where the list is too short.
  std::string item(const char* key, uint32_t index) const {
    std::string list = text(key);
    for (; index > 0; --index) {
      const size_t comma = list.find(',');
      list = comma == std::string::npos ? "" : list.substr(comma + 1);
    }
    list = list.substr(0, list.find(','));
    return list == "-" ? "" : list;
  }

  bool fails(const char* what) const {
    return ("," + text("fail") + ",").find("," + std::string(what) + ",") != std::string::npos;
  }

  uint32_t devices() const {
    const std::string count = text("devices");
    return count.empty() ? 1 : static_cast<uint32_t>(std::strtoul(count.c_str(), nullptr, 10));
  }

  const plugin::HostInfo* host;
};

inline Status broken(const char* what) noexcept {
  return plugin::make_status(StatusCode::Internal, 77, "%s is broken", what);
}

inline plugin::DeviceProperties describe(const Options& options, uint32_t index) {
  plugin::DeviceProperties properties{};
  properties.kind = options.text("kind") == "gpu" ? plugin::DeviceKind::Gpu : plugin::DeviceKind::Accelerator;
  properties.flags = plugin::kSynchronousDefaultStream | plugin::kHostMemory;
  properties.types = 1u << static_cast<uint32_t>(plugin::DType::Float32);
  properties.min_alignment = 16;
  const std::string pci = options.item("pci", index), uuid = options.item("uuid", index),
                    title = options.item("title", index);
  if (!pci.empty()) {
    properties.has |= plugin::kHasPciAddress;
    plugin::copy_text(properties.pci_address, pci.c_str());
  }
  if (!uuid.empty()) {
    properties.has |= plugin::kHasUuid;
    std::memset(properties.uuid, std::atoi(uuid.c_str()), sizeof properties.uuid);
  }
  plugin::copy_text(properties.name, title.empty() ? "Fake" : title.c_str());
  return properties;
}

class FakeDevice final : public plugin::DeviceBase {
 public:
  FakeDevice(const Options& options, uint32_t index) : options_(options), index_(index) {}
  void destroy() noexcept override { delete this; }
  Status properties(plugin::DeviceProperties* properties) noexcept override {
    plugin::fill_struct(properties, describe(options_, index_));
    return kOk;
  }
  Status telemetry(plugin::Telemetry* telemetry) noexcept override {
    if (options_.fails("telemetry")) return broken("telemetry");
    plugin::Telemetry now{};
    now.has = plugin::kHasMemoryUsed;
    now.memory_used = 4096 + index_;
    plugin::fill_struct(telemetry, now);
    return kOk;
  }
  Status supports(const plugin::KernelDesc*) noexcept override { return plugin::unimplemented("a kernel"); }
  Status create_kernel(const plugin::KernelDesc*, plugin::Kernel**) noexcept override {
    return plugin::unimplemented("a kernel");
  }
  Status allocate(uint64_t bytes, plugin::Buffer** buffer) noexcept override {
    return make<FakeBuffer>(buffer, bytes);
  }
  Status create_stream(const plugin::StreamOptions* options, plugin::Stream** stream) noexcept override {
    if (options->kind != plugin::StreamKind::Default) return plugin::unimplemented("an asynchronous stream");
    return make<FakeStream>(stream);
  }
  Status create_event(plugin::Event** event) noexcept override { return make<FakeEvent>(event); }
  const char* backend_name() const noexcept override { return "fake"; }
  Status processes(plugin::ProcessInfo* first, uint32_t stride, uint32_t capacity,
                   uint32_t* count) noexcept override {
    *count = 20;  // more than anybody has room for at first
    for (uint32_t i = 0; i < capacity && i < *count; ++i) {
      auto* entry =
          reinterpret_cast<plugin::ProcessInfo*>(reinterpret_cast<char*>(first) + size_t{i} * stride);
      plugin::ProcessInfo process{0, 100 + i, i == 0 ? UINT64_MAX : i * 1024, "process"};
      plugin::fill_struct(entry, process);
    }
    return kOk;
  }

 private:
  ~FakeDevice() = default;
  const Options options_;
  const uint32_t index_;
};

class FakeBackend final : public plugin::BackendBase {
 public:
  explicit FakeBackend(const plugin::HostInfo* host) : options_(host) {}
  void destroy() noexcept override {
    options_.host->log(options_.host->context, plugin::LogLevel::Info, "backend destroyed");
    delete this;
  }
  uint32_t device_count() noexcept override { return options_.devices(); }
  Status describe(uint32_t index, plugin::DeviceProperties* properties) noexcept override {
    if (options_.fails("description")) return broken("description");
    plugin::fill_struct(properties, fake::describe(options_, index));
    return kOk;
  }
  Status open(uint32_t index, plugin::Device** device) noexcept override {
    if (options_.fails("opening")) return broken("opening");
    return make<FakeDevice>(device, options_, index);
  }
  uint32_t note_count() noexcept override { return options_.text("note").empty() ? 0 : 1; }
  Status note(uint32_t, plugin::Note* note) noexcept override {
    plugin::Note value{};
    plugin::copy_text(value.subject, "platform 2");
    plugin::copy_text(value.cause, options_.text("note").c_str());
    plugin::copy_text(value.remedy, "mend it");
    plugin::fill_struct(note, value);
    return kOk;
  }

 private:
  ~FakeBackend() = default;
  const Options options_;
};

inline Status create(const plugin::HostInfo* host, plugin::Backend** backend) noexcept {
  const Options options(host);
  if (options.fails("enumeration")) return broken("enumeration");
  if (options.text("threads") == "log")
    host->log(host->context, plugin::LogLevel::Warning,
              ("threads: " + std::to_string(host->thread_count)).c_str());
  return make<FakeBackend>(backend, host);
}

}  // namespace fake

#endif  // BACKPLANE_TESTS_LOADER_FAKE_H_
