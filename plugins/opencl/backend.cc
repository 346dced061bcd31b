// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <map>
#include <mutex>

#include "opencl/device.h"

namespace backplane::opencl {

namespace {

const char* option(const plugin::HostInfo* host, const char* key) {
  return host->option == nullptr ? nullptr : host->option(host->context, key);
}

// A count in the user's words; anything else, and 0, means that nothing is split.
unsigned subdevices(const plugin::HostInfo* host, std::vector<plugin::Note>* notes) {
  const char* text = option(host, "subdevices");
  if (text == nullptr) return 1;
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*text >= '0' && *text <= '9' && *end == '\0' && value <= 1024)
    return value == 0 ? 1 : static_cast<unsigned>(value);
  notes->push_back(make_note("BACKPLANE_OPENCL_SUBDEVICES",
                             std::string("\"") + text + "\" is no number of parts",
                             "give a number such as 2"));
  return 1;
}

class ClBackend final : public plugin::BackendBase {
 public:
  explicit ClBackend(const plugin::HostInfo* host)
      : cache_(option(host, "cache"), option(host, "cache_dir")) {
    std::vector<plugin::Note> notes;
    const unsigned parts = subdevices(host, &notes);
    Found found = find_devices(parts);
    for (auto& device : found.devices) devices_.push_back(std::move(device));
    notes_ = std::move(found.notes);
    notes_.insert(notes_.end(), notes.begin(), notes.end());
    for (const std::string& problem : cache_.problems())
      notes_.push_back(
          make_note("OpenCL kernel cache", problem, "kernels are compiled anew in every process"));
  }

  void destroy() noexcept override { delete this; }
  uint32_t device_count() noexcept override { return static_cast<uint32_t>(devices_.size()); }

  Status describe(uint32_t index, plugin::DeviceProperties* properties) noexcept override {
    BACKPLANE_OPENCL_TRY(check(index, devices_.size(), "device"));
    plugin::fill_struct(properties, devices_[index]->properties);
    return kOk;
  }

  Status open(uint32_t index, plugin::Device** device) noexcept override {
    return plugin::guard([&] {
      BACKPLANE_OPENCL_TRY(check(index, devices_.size(), "device"));
      std::shared_ptr<SharedContext> context;
      BACKPLANE_OPENCL_TRY(context_of(devices_[index]->family, &context));
      *device = new ClDevice(devices_[index], std::move(context), &cache_);
      return kOk;
    });
  }

  Status open_native(const plugin::NativeContext* native, plugin::Device** device) noexcept override {
    return plugin::guard([&] {
      const plugin::NativeContext from = plugin::read_struct(native);
      const auto context = static_cast<cl_context>(from.context);
      cl_device_id id = static_cast<cl_device_id>(from.device);
      BACKPLANE_OPENCL_TRY(device_in(context, &id));
      std::string reason;
      std::shared_ptr<FoundDevice> found = read_device(DeviceHandle::retained(id), &reason);
      if (found == nullptr)
        return plugin::make_status(StatusCode::Unimplemented, 0, "this device cannot be used: %s",
                                   reason.c_str());
      auto shared = std::make_shared<SharedContext>(SharedContext{ContextHandle::retained(context)});
      *device = new ClDevice(std::move(found), std::move(shared), &cache_);
      return kOk;
    });
  }

  uint32_t note_count() noexcept override { return static_cast<uint32_t>(notes_.size()); }
  Status note(uint32_t index, plugin::Note* note) noexcept override {
    BACKPLANE_OPENCL_TRY(check(index, notes_.size(), "note"));
    plugin::fill_struct(note, notes_[index]);
    return kOk;
  }

 protected:
  ~ClBackend() = default;

 private:
  static Status check(uint32_t index, size_t count, const char* what) noexcept {
    if (index < count) return kOk;
    return plugin::make_status(StatusCode::NotFound, 0, "no OpenCL %s %u: there are %zu", what, index, count);
  }

  // The device of the program's context: the one it names, or the only one there is.
  static Status device_in(cl_context context, cl_device_id* id) {
    size_t bytes = 0;
    if (context == nullptr)
      return plugin::make_status(StatusCode::InvalidArgument, 0, "open_native needs a cl_context");
    BACKPLANE_OPENCL_TRY(cl_status(api().clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes),
                                   "clGetContextInfo"));
    std::vector<cl_device_id> ids(bytes / sizeof(cl_device_id));
    BACKPLANE_OPENCL_TRY(cl_status(
        api().clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, ids.data(), nullptr), "clGetContextInfo"));
    for (const cl_device_id candidate : ids)
      if (candidate == *id || (*id == nullptr && ids.size() == 1)) {
        *id = candidate;
        return kOk;
      }
    return plugin::make_status(StatusCode::InvalidArgument, 0,
                               *id == nullptr ? "the cl_context has several devices: name one"
                                              : "the cl_device_id is not of this cl_context");
  }

  Status context_of(size_t family, std::shared_ptr<SharedContext>* context) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<SharedContext>& known = contexts_[family];
    *context = known.lock();
    if (*context != nullptr) return kOk;
    std::vector<cl_device_id> ids;
    for (const auto& device : devices_)
      if (device->family == family) ids.push_back(device->id.get());
    cl_int code = CL_SUCCESS;
    ContextHandle made(api().clCreateContext(nullptr, static_cast<cl_uint>(ids.size()), ids.data(), nullptr,
                                             nullptr, &code));
    BACKPLANE_OPENCL_TRY(cl_status(code, "clCreateContext"));
    *context = std::make_shared<SharedContext>(SharedContext{std::move(made)});
    known = *context;
    return kOk;
  }

  const BinaryCache cache_;
  std::vector<std::shared_ptr<FoundDevice>> devices_;
  std::vector<plugin::Note> notes_;
  std::mutex mutex_;
  std::map<size_t, std::weak_ptr<SharedContext>> contexts_;
};

Status create(const plugin::HostInfo* host, plugin::Backend** backend) noexcept {
  BACKPLANE_OPENCL_TRY(load_api());
  return plugin::guard([&] {
    *backend = new ClBackend(host);
    return kOk;
  });
}

}  // namespace

}  // namespace backplane::opencl

extern "C" BACKPLANE_PLUGIN_EXPORT const backplane::plugin::Plugin backplane_plugin;
const backplane::plugin::Plugin backplane_plugin = {
    sizeof(backplane::plugin::Plugin),
    backplane::plugin::kAbiMajor,
    backplane::plugin::kAbiMinor,
    "opencl",
    BACKPLANE_OPENCL_VERSION,
    BACKPLANE_COMPILER,
    10,
    0,
    backplane::opencl::create,
};
