// SPDX-License-Identifier: Apache-2.0
#include "context.h"

#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>

namespace backplane::conformance {
namespace {

std::string format_text(const char* format, va_list arguments) {
  char text[2048];
  std::vsnprintf(text, sizeof text, format, arguments);
  return text;
}

// What lies around uploaded values, so that a kernel that reads too far computes rubbish and is found out.
constexpr uint8_t kGuard = 0xa5;
constexpr uint64_t kGuardBytes = 256;

const char* message_of(const plugin::Status& status) {
  return status.message == nullptr ? "" : status.message;
}

}  // namespace

void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string text = format_text(format, arguments);
  va_end(arguments);
  throw Failure(text);
}

void skip(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string text = format_text(format, arguments);
  va_end(arguments);
  throw Skip(text);
}

void require_ok(const plugin::Status& status, const char* what) {
  if (!status.ok())
    fail("%s failed with code %d: %s", what, static_cast<int>(status.code), message_of(status));
}

void require_code(const plugin::Status& status, plugin::StatusCode code, const char* what) {
  if (status.code != code) {
    fail("%s gave code %d (%s), expected %d", what, static_cast<int>(status.code), message_of(status),
         static_cast<int>(code));
  }
  if (!status.ok() && *message_of(status) == '\0') fail("%s failed without a message", what);
}

LoadedPlugin::LoadedPlugin(const Options& options) : settings_(options.settings) {
  void* const library = dlopen(options.plugin_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  description_ = static_cast<const plugin::Plugin*>(dlsym(library, "backplane_plugin"));
  if (description_ == nullptr) throw std::runtime_error(options.plugin_path + " exports no backplane_plugin");
  if (description_->abi_major != plugin::kAbiMajor)
    throw std::runtime_error("the plugin's ABI is another one");
  host_.struct_size = sizeof host_;
  host_.abi_major = plugin::kAbiMajor;
  host_.abi_minor = plugin::kAbiMinor;
  host_.context = this;
  host_.log = &LoadedPlugin::log;
  host_.option = &LoadedPlugin::option;
  host_.thread_count = options.thread_count;
  plugin::Backend* backend = nullptr;
  const plugin::Status status = description_->create(&host_, &backend);
  if (!status.ok()) throw std::runtime_error(message_of(status));
  if (backend == nullptr) throw std::runtime_error("create succeeded without a backend");
  backend_.reset(backend);
}

void LoadedPlugin::log(void*, plugin::LogLevel, const char* text) noexcept {
  std::fprintf(stderr, "plugin: %s\n", text);
}

const char* LoadedPlugin::option(void* context, const char* key) noexcept {
  const auto& settings = static_cast<const LoadedPlugin*>(context)->settings_;
  const auto found = settings.find(key);
  return found == settings.end() || found->second.empty() ? nullptr : found->second.c_str();
}

Context::Context(plugin::Backend& backend, uint32_t index) : backend_(backend), index_(index) {
  plugin::Device* device = nullptr;
  require_ok(backend.open(index, &device), "open");
  device_.reset(device);
  properties_.struct_size = sizeof properties_;
  require_ok(device_->properties(&properties_), "properties");
  stream_ = create_stream(plugin::StreamKind::Default);
}

Owned<plugin::Buffer> Context::allocate(uint64_t bytes) {
  plugin::Buffer* buffer = nullptr;
  require_ok(device_->allocate(bytes, &buffer), "allocate");
  if (buffer == nullptr)
    fail("allocate of %llu bytes gave no buffer", static_cast<unsigned long long>(bytes));
  return Owned<plugin::Buffer>(buffer);
}

Owned<plugin::Stream> Context::create_stream(plugin::StreamKind kind) {
  plugin::StreamOptions options{};
  options.struct_size = sizeof options;
  options.kind = kind;
  plugin::Stream* stream = nullptr;
  const plugin::Status status = device_->create_stream(&options, &stream);
  if (kind == plugin::StreamKind::Asynchronous && status.code == plugin::StatusCode::Unimplemented)
    skip("%s", message_of(status));
  require_ok(status, "create_stream");
  return Owned<plugin::Stream>(stream);
}

Owned<plugin::Event> Context::create_event() {
  plugin::Event* event = nullptr;
  require_ok(device_->create_event(&event), "create_event");
  return Owned<plugin::Event>(event);
}

Owned<plugin::Event> Context::create_host_event() {
  plugin::Event* event = nullptr;
  const plugin::Status status = device_->create_host_event(&event);
  if (status.code == plugin::StatusCode::Unimplemented) skip("%s", message_of(status));
  require_ok(status, "create_host_event");
  return Owned<plugin::Event>(event);
}

void Context::synchronize(plugin::Stream& stream) {
  // A kernel that hangs is a failure, not a suite that hangs.
  constexpr uint64_t kTwoMinutes = uint64_t{120} * 1000 * 1000 * 1000;
  require_ok(stream.synchronize(kTwoMinutes), "synchronize");
}

Owned<plugin::Buffer> Context::upload(const Values& values, uint64_t offset) {
  std::vector<uint8_t> bytes(offset + values.byte_size() + kGuardBytes, kGuard);
  std::copy(values.bytes().begin(), values.bytes().end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  Owned<plugin::Buffer> buffer = allocate(bytes.size());
  upload_bytes(*buffer, bytes);
  return buffer;
}

Values Context::download(plugin::Buffer& buffer, plugin::DType type, int64_t count, uint64_t offset) {
  Values values(type, count);
  require_ok(stream_->download(values.bytes().data(), &buffer, offset, values.byte_size()), "download");
  synchronize();
  return values;
}

std::vector<uint8_t> Context::download_bytes(plugin::Buffer& buffer) {
  std::vector<uint8_t> bytes(buffer.size());
  require_ok(stream_->download(bytes.data(), &buffer, 0, bytes.size()), "download");
  synchronize();
  return bytes;
}

void Context::upload_bytes(plugin::Buffer& buffer, const std::vector<uint8_t>& bytes) {
  require_ok(stream_->upload(&buffer, 0, bytes.data(), bytes.size()), "upload");
  synchronize();
}

Owned<plugin::Kernel> Context::create_kernel(const plugin::KernelDesc& desc) {
  const plugin::Status supported = device_->supports(&desc);
  if (supported.code == plugin::StatusCode::Unimplemented) skip("%s", message_of(supported));
  require_ok(supported, "supports");
  plugin::Kernel* kernel = nullptr;
  const plugin::Status status = device_->create_kernel(&desc, &kernel);
  if (!status.ok())
    fail("supports said yes, create_kernel code %d: %s", static_cast<int>(status.code), message_of(status));
  if (kernel == nullptr) fail("create_kernel succeeded without a kernel");
  return Owned<plugin::Kernel>(kernel);
}

}  // namespace backplane::conformance
