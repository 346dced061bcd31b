// SPDX-License-Identifier: Apache-2.0
//
// What core keeps for each plugin and each device. Made once by the registry while the runtime initialises,
// never freed: handles outlive Runtime::shutdown and static destructors.
#ifndef BACKPLANE_SRC_DEVICE_DEVICE_STATE_H_
#define BACKPLANE_SRC_DEVICE_DEVICE_STATE_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/device.h"
#include "backplane/plugin/plugin.h"

namespace backplane::internal {

class PinnedCache;
class Pool;
class KernelCache;
struct StreamState;
struct DeviceState;

// A plugin that loaded and whose backend was created.
struct PluginState {
  const plugin::Plugin* info = nullptr;
  plugin::Backend* backend = nullptr;  // null once destroyed
  const plugin::HostInfo* host = nullptr;
  uint16_t abi_minor = 0;  // the plugin's: methods appended later must not be called on its objects
  int priority = 0;
  std::string name;
  std::string version;
  std::vector<DeviceState*> devices;
};

enum class DeviceHealth : int {
  Unopened = 0,
  Ready = 1,
  Lost = 2,    // reported DeviceLost
  Forked = 3,  // opened before a fork, and this is the child
  ShutDown = 4,
};

struct DeviceState {
  DeviceState();
  ~DeviceState();

  // Fixed when the registry is built.
  PluginState* plugin = nullptr;
  int index = 0;
  std::string name;
  DeviceProperties properties{};
  bool synchronous = false;     // the default stream runs in the calling thread
  bool host_memory = false;     // buffers are host memory
  bool buffer_offsets = false;  // the pool may carve buffers
  int trace_process = 0;        // its number in a trace

  // Set by open(), before health becomes Ready.
  plugin::Device* device = nullptr;
  std::unique_ptr<Pool> pool;
  std::unique_ptr<PinnedCache> pinned;
  std::unique_ptr<KernelCache> kernels;
  std::shared_ptr<StreamState> default_stream;

  std::atomic<DeviceHealth> health{DeviceHealth::Unopened};
  std::mutex open_mutex;
  std::string lost_reason;                // written once, before health becomes Lost
  std::atomic<uint64_t> memory_limit{0};  // bytes; 0 means none was asked for

  // Opens the device at its first use; afterwards one relaxed load. Throws what opening throws; Unavailable
  // after shutdown or a fork, DeviceLost once lost.
  void ensure_ready() {
    if (health.load(std::memory_order_acquire) != DeviceHealth::Ready) [[unlikely]]
      open_or_throw();
  }

  // Turns a plugin's failure into an Error that names the operator and the device, and marks the device lost
  // where the code says so. Does nothing for Ok.
  void check(const plugin::Status& status, const char* what) {
    if (!status.ok()) [[unlikely]]
      fail(status, what);
  }
  [[noreturn]] void fail(const plugin::Status& status, const char* what);

 private:
  void open_or_throw();
};

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_DEVICE_DEVICE_STATE_H_
