// SPDX-License-Identifier: Apache-2.0
#include "device/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>

#include "backplane/error.h"
#include "device/identity.h"
#include "device/memory_limit.h"
#include "device/plugin_calls.h"
#include "device/registry_access.h"
#include "device/selector.h"
#include "loader/loader.h"
#include "trace/trace.h"

namespace backplane::internal {
namespace {

// All without destructors that run at exit: handles are used from static destructors too.
std::mutex load_mutex;
std::atomic<Registry*> loaded{nullptr};  // for ever, once set
std::atomic<bool> shut_down{false};
RuntimeOptions* configured = nullptr;  // guarded by load_mutex, as is all below
pid_t loading_process = 0;

// A plugin, or the program's log callback, may call the runtime while it loads.
thread_local bool loading_here = false;

class LoadingHere {
 public:
  LoadingHere() noexcept { loading_here = true; }
  ~LoadingHere() { loading_here = false; }
  LoadingHere(const LoadingHere&) = delete;
  LoadingHere& operator=(const LoadingHere&) = delete;
};

[[noreturn]] void throw_shut_down() {
  throw Error(ErrorCode::Unavailable,
              "the runtime was shut down: nothing can be used after Runtime::shutdown()");
}

DeviceState* make_device(const Registry& registry, PluginState* plugin, uint32_t index,
                         std::vector<PluginNote>& notes) {
  auto device = std::make_unique<DeviceState>();
  device->plugin = plugin;
  device->index = static_cast<int>(index);
  device->name = fmt::format("{}:{}", plugin->name, index);
  plugin::Status status = plugin::kOk;
  device->properties = describe_device(*plugin, index, status);
  if (!status.ok())
    notes.push_back({plugin->name,
                     device->name,
                     fmt::format("its description failed: {}",
                                 status.message == nullptr ? to_string(status.code) : status.message),
                     {}});
  const uint64_t flags = device->properties.flags;
  device->synchronous = (flags & plugin::kSynchronousDefaultStream) != 0;
  device->host_memory = (flags & plugin::kHostMemory) != 0;
  device->buffer_offsets = (flags & plugin::kBufferOffsets) != 0;
  device->memory_limit = memory_limit(registry.options, device->name, plugin->name);
  return device.release();
}

void add_plugin(Registry& registry, const LoadedPlugin& loaded_plugin) {
  auto owned = std::make_unique<PluginState>();
  PluginState* plugin = owned.get();
  plugin->info = loaded_plugin.info;
  plugin->backend = loaded_plugin.backend;
  plugin->host = loaded_plugin.host;
  plugin->abi_minor = loaded_plugin.abi_minor;
  plugin->priority = loaded_plugin.priority;
  plugin->name = loaded_plugin.name;
  plugin->version = loaded_plugin.version;
  registry.plugins.push_back(owned.release());
  const uint32_t count = count_devices(*plugin);
  for (uint32_t i = 0; i < count; ++i)
    plugin->devices.push_back(make_device(registry, plugin, i, registry.notes));
  for (PluginNote& note : read_notes(*plugin)) registry.notes.push_back(std::move(note));
  registry.report[loaded_plugin.report_row].device_count = static_cast<int>(count);
}

// Before any device is opened: streams and pools ask once whether there is a trace.
void trace_if_asked(Registry& registry) {
  std::filesystem::path file = registry.options.trace_file;
  if (file.empty()) file = environment("BACKPLANE_TRACE");
  if (!file.empty()) start_trace(file);
  int process = 0;
  for (DeviceState* device : registry.devices) {
    device->trace_process = ++process;
    if (trace_on()) name_trace_process(process, fmt::format("{} {}", device->name, device->properties.name));
  }
}

Registry* load(RuntimeOptions options) {
  auto registry = std::make_unique<Registry>();
  registry->options = std::move(options);
  set_log_function(registry->options.log);
  ignore_environment(registry->options.ignore_environment);
  LoadResult result = load_plugins(registry->options);
  registry->folders = std::move(result.folders);
  registry->report = std::move(result.report);
  for (const LoadedPlugin& plugin : result.plugins) add_plugin(*registry, plugin);
  std::sort(registry->plugins.begin(), registry->plugins.end(),
            [](const PluginState* a, const PluginState* b) {
              return std::tie(a->priority, a->name) < std::tie(b->priority, b->name);
            });
  for (const PluginState* plugin : registry->plugins)
    registry->devices.insert(registry->devices.end(), plugin->devices.begin(), plugin->devices.end());
  registry->gpus = physical_gpus(registry->devices);
  trace_if_asked(*registry);
  return registry.release();
}

// In the child only the forking thread lives, and most drivers do not.
void after_fork_in_child() noexcept {
  trace_after_fork_in_child();
  const Registry* registry = loaded.load(std::memory_order_relaxed);
  if (registry != nullptr) {
    for (DeviceState* device : registry->devices)
      if ((device->properties.flags & plugin::kForkSafe) == 0 &&
          device->health.load(std::memory_order_relaxed) != DeviceHealth::ShutDown)
        device->health.store(DeviceHealth::Forked, std::memory_order_relaxed);
  }
  if (!loading_here) load_mutex.unlock();
}

// So that no child starts with a half-loaded runtime and a mutex that nobody will unlock. Registered while
// the library is loaded, as a fork may come at any time after.
[[maybe_unused]] const int kForkWatch = ::pthread_atfork(
    [] {
      if (!loading_here) load_mutex.lock();
      trace_before_fork();
    },
    [] {
      trace_after_fork();
      if (!loading_here) load_mutex.unlock();
    },
    after_fork_in_child);

Registry& load_now() {
  if (loading_here)
    throw Error(ErrorCode::Unavailable,
                "the runtime was called while it loads its plugins, from a plugin or from the log callback");
  const std::lock_guard lock(load_mutex);
  if (shut_down.load(std::memory_order_relaxed)) throw_shut_down();
  if (Registry* registry = loaded.load(std::memory_order_relaxed)) return *registry;
  const LoadingHere here;
  Registry* registry = load(configured == nullptr ? RuntimeOptions() : *configured);
  loading_process = ::getpid();
  loaded.store(registry, std::memory_order_release);
  return *registry;
}

std::string join_names(const std::vector<DeviceState*>& devices) {
  std::vector<std::string_view> names;
  names.reserve(devices.size());
  for (const DeviceState* device : devices) names.push_back(device->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string join_folders(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::string_view> names;
  names.reserve(folders.size());
  for (const auto& folder : folders) names.push_back(folder.native());
  return fmt::format("{}", fmt::join(names, ", "));
}

// Why there is no plugin of that name, where the report knows.
std::string reason(const Registry& registry, const std::string& name) {
  std::string text;
  for (const FileReport& row : registry.report) {
    if (row.outcome == LoadOutcome::Loaded || row.outcome == LoadOutcome::Shadowed) continue;
    if (row.name == name || row.path.stem() == name)
      text += fmt::format(" ({}: {})", row.path.native(), row.cause);
  }
  return text;
}

}  // namespace

Registry& registry() {
  if (Registry* known = loaded_registry()) return *known;
  return load_now();
}

Registry* loaded_registry() noexcept {
  return shut_down.load(std::memory_order_acquire) ? nullptr : loaded.load(std::memory_order_acquire);
}

const Registry* past_registry() noexcept { return loaded.load(std::memory_order_acquire); }

std::string no_device(const Registry& registry, const std::string& wanted, const std::string& plugin) {
  const std::string why = reason(registry, plugin);
  if (!registry.devices.empty())
    return fmt::format("no device '{}'{}; the devices are: {}", wanted, why, join_names(registry.devices));
  return fmt::format("no device '{}'{}; {}", wanted, why, no_devices_at_all(registry));
}

std::string no_devices_at_all(const Registry& registry) {
  if (registry.folders.empty()) return "there are no devices: no folder was searched for plugins";
  return "there are no devices: no plugin brings one, in the folders that were searched: " +
         join_folders(registry.folders);
}

DeviceState* lookup(const Registry& registry, const Selector& selector) {
  const auto at = [&selector](const std::vector<DeviceState*>& devices) {
    return selector.index < devices.size() ? devices[selector.index] : nullptr;
  };
  if (selector.kind == kAnyGpu) return at(registry.gpus);
  for (const PluginState* plugin : registry.plugins)
    if (plugin->name == selector.kind) return at(plugin->devices);
  return nullptr;
}

DeviceState* find_device(std::string_view text) {
  const std::optional<Selector> selector = parse_selector(text);
  if (!selector) throw Error(ErrorCode::InvalidArgument, malformed_selector(text));
  const Registry& known = registry();
  if (DeviceState* device = lookup(known, *selector)) return device;
  throw Error(ErrorCode::NotFound, no_device(known, std::string(text), selector->kind));
}

void configure_registry(RuntimeOptions options) {
  if (loading_here)
    throw Error(ErrorCode::InvalidArgument, "Runtime::configure: the runtime is loading its plugins");
  const std::lock_guard lock(load_mutex);
  if (loaded.load(std::memory_order_relaxed) != nullptr || shut_down.load(std::memory_order_relaxed))
    throw Error(ErrorCode::InvalidArgument,
                "Runtime::configure: the runtime is initialised already; configure it before its first use");
  auto kept = std::make_unique<RuntimeOptions>(std::move(options));
  delete configured;
  configured = kept.release();
}

void shut_down_registry() {
  if (loading_here)
    throw Error(ErrorCode::Unavailable, "Runtime::shutdown: the runtime is loading its plugins");
  const std::lock_guard lock(load_mutex);
  const Registry* registry = loaded.load(std::memory_order_relaxed);
  if (shut_down.exchange(true, std::memory_order_acq_rel) || registry == nullptr) return;
  const bool forked = loading_process != ::getpid();
  const auto& plugins = registry->plugins;
  for (DeviceState* device : registry->devices) drain_device(*device);
  for (auto plugin = plugins.rbegin(); plugin != plugins.rend(); ++plugin) {
    bool usable = true;
    for (auto device = (*plugin)->devices.rbegin(); device != (*plugin)->devices.rend(); ++device) {
      usable = usable && !(forked && (*device)->health.load() == DeviceHealth::Forked);
      shut_down_device(**device);
    }
    // A driver that was initialised before a fork is not to be called in the child, not even to end it.
    if (!usable) continue;
    (*plugin)->backend->destroy();
    (*plugin)->backend = nullptr;
  }
  finish_trace();
}

}  // namespace backplane::internal
