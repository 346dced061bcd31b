// SPDX-License-Identifier: Apache-2.0
//
// Devices: naming, counting and choosing them, what they are and what they are doing.
//
// A device's name is its plugin's and its index: "cpu:0", "cuda:1". A selector is such a name, a plugin's
// name alone (index 0), or "gpu" and "gpu:i", the i-th physical GPU whichever plugin reaches it best. The
// first use of anything here loads the plugins (see runtime.h). All functions are thread-safe.
#ifndef BACKPLANE_DEVICE_H_
#define BACKPLANE_DEVICE_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/dtype.h"
#include "backplane/export.h"
#include "backplane/plugin/types.h"

namespace backplane::internal {
struct DeviceState;
}

namespace backplane::inline v0 {

using DeviceKind = plugin::DeviceKind;
using DeviceProperties = plugin::DeviceProperties;
using Telemetry = plugin::Telemetry;

// What a device's memory pool holds, in bytes and in counts since the start.
struct MemoryStats {
  uint64_t in_use = 0;       // handed out to storages
  uint64_t cached = 0;       // kept for reuse
  uint64_t peak = 0;         // highest in_use
  uint64_t limit = 0;        // most that in_use + cached may be; UINT64_MAX if there is none
  uint64_t allocations = 0;  // requests
  uint64_t hits = 0;         // requests served without the plugin
  uint64_t failures = 0;     // requests that ended in OutOfMemory
};

struct DeviceProcess {
  uint32_t pid = 0;
  std::optional<uint64_t> memory_used;
  std::string name;
};

// A cheap handle, copied freely; it stays valid (though unusable) after Runtime::shutdown.
class BACKPLANE_API Device {
 public:
  // This thread's default device.
  Device();

  // NotFound, with the list of devices that exist, when there is no such device; InvalidArgument, with the
  // form expected, for a malformed selector. Never falls back to another device.
  Device(std::string_view selector);                                           // NOLINT: implicit on purpose
  Device(const char* selector) : Device(std::string_view(selector)) {}         // NOLINT
  Device(const std::string& selector) : Device(std::string_view(selector)) {}  // NOLINT
  explicit Device(internal::DeviceState* state) noexcept : state_(state) {}

  const std::string& name() const noexcept;
  const std::string& backend() const noexcept;  // the plugin's name
  int index() const noexcept;                   // within its plugin
  DeviceKind kind() const noexcept;
  const std::string& plugin_version() const noexcept;

  // Fixed facts. Fields without their `has` bit are unknown. Does not open the device.
  const DeviceProperties& properties() const noexcept;

  // Asked anew each time. A query that fails leaves its field without its bit.
  Telemetry telemetry() const;

  // The processes that use the device; empty where the driver does not say.
  std::vector<DeviceProcess> processes() const;

  // Whether kernels compute with this type here.
  bool supports(DType type) const noexcept;

  // Blocks until all work queued on the device is done, and throws the first failure of it. Unavailable when
  // `timeout` passes first; the work goes on.
  void synchronize(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max()) const;

  MemoryStats memory_stats() const;

  // Gives cached memory back to the device. Blocks for memory that is still in use by queued work.
  void empty_cache() const;

  // Most bytes that the pool may take from the device; 0 removes the limit.
  void set_memory_limit(uint64_t bytes) const;

  // The vendor's own objects (cl_context, CUcontext, ...), owned by the device. Unimplemented where there is
  // none.
  void* native_context() const;

  // "cpu:0"
  std::string str() const { return name(); }

  friend bool operator==(const Device& a, const Device& b) noexcept { return a.state_ == b.state_; }

  internal::DeviceState* state() const noexcept { return state_; }

 private:
  internal::DeviceState* state_;
};

// How many devices a plugin has ("cpu", "cuda", "opencl", ...; 0 for one that is not there), or how many
// physical GPUs there are ("gpu").
BACKPLANE_API int device_count(std::string_view kind);

// All devices, in the order of the plugins' priority (lowest first, so that cpu:0 leads) and index.
BACKPLANE_API std::vector<Device> devices();

BACKPLANE_API Device cpu();           // cpu:0; NotFound without a CPU plugin
BACKPLANE_API Device gpu(int i = 0);  // NotFound when there is no such GPU

// The i-th physical GPU if there is one, else the CPU: the textbook's try_gpu.
BACKPLANE_API Device try_gpu(int i = 0);

// Every physical GPU, or the CPU alone: the textbook's try_all_gpus.
BACKPLANE_API std::vector<Device> all_gpus();

// Every way to reach the same physical device as `device` (same PCI address or UUID), itself included.
BACKPLANE_API std::vector<Device> routes_to(const Device& device);

// New tensors without a device argument are made on the thread's default device, if it has one, else on the
// process's, which at first is cpu:0 or, without a CPU plugin, the first device.
BACKPLANE_API Device default_device();
BACKPLANE_API void set_default_device(const Device& device);                 // for the process
BACKPLANE_API void set_thread_default_device(std::optional<Device> device);  // for this thread

// Sets this thread's default device for a scope.
class BACKPLANE_API DeviceGuard {
 public:
  explicit DeviceGuard(const Device& device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  std::optional<Device> previous_;
};

}  // namespace backplane::inline v0

#endif  // BACKPLANE_DEVICE_H_
