// SPDX-License-Identifier: Apache-2.0
//
// What a case works with: a device, its default stream, and helpers that fail the case when a call fails.
#ifndef BACKPLANE_TESTS_CONFORMANCE_ABI_CONTEXT_H_
#define BACKPLANE_TESTS_CONFORMANCE_ABI_CONTEXT_H_

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "abi.h"
#include "backplane/plugin/base.h"
#include "values.h"

namespace backplane::conformance {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Skip : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// printf-like; the text says what was expected and what was there.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void skip(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Fails the case unless `status` is Ok, or is the code expected.
void require_ok(const plugin::Status& status, const char* what);
void require_code(const plugin::Status& status, plugin::StatusCode code, const char* what);

struct Destroy {
  template <typename T>
  void operator()(T* object) const noexcept {
    object->destroy();
  }
};
template <typename T>
using Owned = std::unique_ptr<T, Destroy>;

// A plugin, loaded and never unloaded, with its backend. Throws std::runtime_error.
class LoadedPlugin {
 public:
  explicit LoadedPlugin(const Options& options);
  const plugin::Plugin& description() const { return *description_; }
  plugin::Backend& backend() { return *backend_; }

 private:
  static void log(void* context, plugin::LogLevel level, const char* text) noexcept;
  static const char* option(void* context, const char* key) noexcept;

  std::map<std::string, std::string> settings_;
  plugin::HostInfo host_{};
  const plugin::Plugin* description_ = nullptr;
  Owned<plugin::Backend> backend_;
};

class Context {
 public:
  Context(plugin::Backend& backend, uint32_t index);

  plugin::Backend& backend() { return backend_; }
  plugin::Device& device() { return *device_; }
  plugin::Stream& stream() { return *stream_; }
  const plugin::DeviceProperties& properties() const { return properties_; }
  uint32_t index() const { return index_; }

  bool has_type(plugin::DType type) const {
    return (properties_.types >> static_cast<uint32_t>(type) & 1) != 0;
  }

  Owned<plugin::Buffer> allocate(uint64_t bytes);
  Owned<plugin::Stream> create_stream(plugin::StreamKind kind);
  Owned<plugin::Event> create_event();
  Owned<plugin::Event> create_host_event();
  void synchronize() { synchronize(stream()); }
  void synchronize(plugin::Stream& stream);

  // A new buffer with these bytes at `offset`, guarded by a pattern before and after.
  Owned<plugin::Buffer> upload(const Values& values, uint64_t offset = 0);
  Values download(plugin::Buffer& buffer, plugin::DType type, int64_t count, uint64_t offset = 0);
  std::vector<uint8_t> download_bytes(plugin::Buffer& buffer);
  void upload_bytes(plugin::Buffer& buffer, const std::vector<uint8_t>& bytes);

  // Skips the case, with the device's reason, where supports() says Unimplemented; fails it for any other
  // refusal. A kernel that create_kernel then refuses is a failure.
  Owned<plugin::Kernel> create_kernel(const plugin::KernelDesc& desc);

 private:
  plugin::Backend& backend_;
  uint32_t index_;
  Owned<plugin::Device> device_;
  Owned<plugin::Stream> stream_;
  plugin::DeviceProperties properties_{};
};

}  // namespace backplane::conformance

#endif  // BACKPLANE_TESTS_CONFORMANCE_ABI_CONTEXT_H_
