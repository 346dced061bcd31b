// SPDX-License-Identifier: Apache-2.0
//
// The plugin "faulty": wraps another plugin and fails where the plan (plan.h) says. A test double; not
// installed. Options:
//   plugin    path of the plugin to wrap, a file that the runtime has not loaded itself
//   devices   how many devices there are, all of them around the wrapped plugin's first (1)
//   discrete  "1": they look as if they had memory and a queue of their own
// In the environment these are BACKPLANE_FAULTY_PLUGIN and so on.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "objects.h"

namespace faults {
namespace {

constexpr int kNoDevice = -1;  // calls that concern the backend as a whole

class FaultyBackend final : public plugin::BackendBase {
 public:
  FaultyBackend(plugin::Backend* inner, uint32_t devices, bool discrete) noexcept
      : inner_(inner), devices_(devices), discrete_(discrete) {
    properties_.struct_size = sizeof properties_;
    described_ = inner->describe(0, &properties_).code;
    disguise(&properties_, discrete);
  }

  void destroy() noexcept override {
    inner_->destroy();
    delete this;
  }
  uint32_t device_count() noexcept override { return devices_; }

  Status describe(uint32_t index, plugin::DeviceProperties* properties) noexcept override {
    const Status status = plan().call(static_cast<int>(index), "Backend.describe");
    if (!status.ok()) return status;
    plugin::fill_struct(properties, properties_);
    return {described_, 0, "the wrapped plugin does not describe its device"};
  }

  Status open(uint32_t index, plugin::Device** device) noexcept override {
    const auto number = static_cast<int>(index);
    plugin::Device* inside = nullptr;
    Status status = plan().call(number, "Backend.open");
    if (status.ok()) status = inner_->open(0, &inside);
    if (status.ok()) *device = new FaultyDevice(inside, number, discrete_);
    return status;
  }

  Status open_native(const plugin::NativeContext* native, plugin::Device** device) noexcept override {
    plugin::Device* inside = nullptr;
    Status status = plan().call(0, "Backend.open_native");
    if (status.ok()) status = inner_->open_native(native, &inside);
    if (status.ok()) *device = new FaultyDevice(inside, 0, discrete_);
    return status;
  }

  uint32_t note_count() noexcept override { return inner_->note_count(); }
  Status note(uint32_t index, plugin::Note* note) noexcept override {
    const Status status = plan().call(kNoDevice, "Backend.note");
    return status.ok() ? inner_->note(index, note) : status;
  }

 private:
  plugin::Backend* const inner_;
  const uint32_t devices_;
  const bool discrete_;
  plugin::DeviceProperties properties_{};  // of every device, asked for once
  plugin::StatusCode described_ = plugin::StatusCode::Ok;
};

// The wrapped plugin's answer to its own options: none is set.
const plugin::HostInfo* inner_host(const plugin::HostInfo* host) noexcept {
  static plugin::HostInfo inside;
  inside = plugin::read_struct(host);
  inside.option = [](void*, const char*) noexcept -> const char* { return nullptr; };
  return &inside;
}

Status failed(const char* path, const char* what) noexcept {
  return plugin::make_status(plugin::StatusCode::NotFound, 0, "%s: %s", path, what);
}

Status create(const plugin::HostInfo* host, plugin::Backend** backend) noexcept {
  const auto option = [host](const char* key) { return host->option(host->context, key); };
  const char* path = option("plugin");
  if (path == nullptr) return failed("BACKPLANE_FAULTY_PLUGIN", "not set: no plugin to wrap");
  void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return failed(path, ::dlerror());
  const auto* info = static_cast<const plugin::Plugin*>(::dlsym(library, "backplane_plugin"));
  if (info == nullptr) return failed(path, "exports no backplane_plugin");
  plugin::Backend* inside = nullptr;
  const Status status = info->create(inner_host(host), &inside);
  if (!status.ok()) return status;
  const char* devices = option("devices");
  const char* discrete = option("discrete");
  *backend = new FaultyBackend(
      inside, devices == nullptr ? 1 : static_cast<uint32_t>(std::strtoul(devices, nullptr, 10)),
      discrete != nullptr && std::strcmp(discrete, "1") == 0);
  return plugin::kOk;
}

}  // namespace
}  // namespace faults

extern "C" BACKPLANE_PLUGIN_EXPORT const backplane::plugin::Plugin backplane_plugin = {
    sizeof(backplane::plugin::Plugin),
    backplane::plugin::kAbiMajor,
    backplane::plugin::kAbiMinor,
    faults::kName,
    "1.0",
    BACKPLANE_COMPILER,
    -1,  // priority: never stands for the hardware that it wraps
    0,
    faults::create,
};
