// SPDX-License-Identifier: Apache-2.0
#include "backend.h"

#include <cstdlib>

#include "properties.h"

namespace backplane::cuda {
namespace {

// A driver runs code of its own major version and of older ones.
Status check_driver_version() noexcept {
  int version = 0;
  BACKPLANE_TRY(status_of(cuDriverGetVersion(&version), "cuDriverGetVersion"));
  if (version / 1000 >= CUDA_VERSION / 1000) return kOk;
  return make_status(
      StatusCode::Unavailable, 0,
      "the NVIDIA driver is too old: it supports CUDA %d.%d, and this plugin was built for CUDA "
      "%d.%d: install a newer driver",
      version / 1000, version % 1000 / 10, CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
}

std::string reason_for_no_device() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return "the NVIDIA driver found no card";
  if (*visible == '\0') return "CUDA_VISIBLE_DEVICES is set and empty, which hides every card";
  return std::string("CUDA_VISIBLE_DEVICES=") + visible + " names no card of this machine";
}

}  // namespace

Backend::Backend(const Host& host, int device_count, std::string note)
    : device_count_(static_cast<uint32_t>(device_count)), note_(std::move(note)) {
  shared_.host = host;
  shared_.watcher = std::make_shared<Watcher>();
  if (device_count > 0) {
    if (host.flag("nvml", true)) shared_.nvml = Nvml::load();
    if (host.flag("nvrtc", true)) shared_.nvrtc = std::make_shared<Nvrtc>();
  }
  shared_.cublas = host.flag("cublas", true);
  if (host.option("code") == "ptx") shared_.code = CodeChoice::PtxOnly;
}

Status Backend::create(const plugin::HostInfo* info, plugin::Backend** backend) {
  const CUresult result = cuInit(0);
  int count = 0;
  if (result != CUDA_ERROR_NO_DEVICE) {
    if (result != CUDA_SUCCESS) return initialisation_failure(result);
    BACKPLANE_TRY(check_driver_version());
    BACKPLANE_TRY(status_of(cuDeviceGetCount(&count), "cuDeviceGetCount"));
  }
  watch_for_fork();
  *backend = new Backend(Host(info), count, count == 0 ? reason_for_no_device() : "");
  return kOk;
}

Status Backend::device_at(uint32_t index, CUdevice* device) const noexcept {
  if (forked())
    return make_status(StatusCode::Unavailable, 0,
                       "CUDA was initialised before fork: a child process cannot use it");
  if (index >= device_count_)
    return make_status(StatusCode::NotFound, 0, "cuda:%u: there are %u CUDA devices", index, device_count_);
  return status_of(cuDeviceGet(device, static_cast<int>(index)), "cuDeviceGet");
}

Status Backend::describe(uint32_t index, plugin::DeviceProperties* properties) noexcept {
  CUdevice device = 0;
  BACKPLANE_TRY(device_at(index, &device));
  const bool source = shared_.nvrtc != nullptr && shared_.nvrtc->available();
  plugin::fill_struct(properties, properties_of(device, shared_.nvml.get(), source));
  return kOk;
}

Status Backend::open(uint32_t index, plugin::Device** device) noexcept {
  return plugin::guard([&]() -> Status {
    CUdevice handle = 0;
    BACKPLANE_TRY(device_at(index, &handle));
    std::shared_ptr<Context> context;
    BACKPLANE_TRY(Context::open_primary(handle, &context));
    return Device::open(shared_, std::move(context), device);
  });
}

Status Backend::open_native(const plugin::NativeContext* native, plugin::Device** device) noexcept {
  return plugin::guard([&]() -> Status {
    const auto wanted = plugin::read_struct(native);
    if (wanted.context == nullptr)
      return make_status(StatusCode::InvalidArgument, 0, "open_native: the CUcontext is null");
    std::shared_ptr<Context> context;
    BACKPLANE_TRY(Context::adopt(static_cast<CUcontext>(wanted.context), &context));
    return Device::open(shared_, std::move(context), device);
  });
}

Status Backend::note(uint32_t index, plugin::Note* note) noexcept {
  if (index >= note_count()) return BackendBase::note(index, note);
  plugin::Note text{};
  plugin::copy_text(text.subject, "CUDA devices");
  plugin::copy_text(text.cause, note_.c_str());
  plugin::copy_text(
      text.remedy,
      "unset CUDA_VISIBLE_DEVICES, or set it to an index that nvidia-smi lists; in a container, start "
      "it with GPU access");
  plugin::fill_struct(note, text);
  return kOk;
}

}  // namespace backplane::cuda
