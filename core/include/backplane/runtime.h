// SPDX-License-Identifier: Apache-2.0
//
// The runtime: what it may load, what it has loaded and why not more, how it is shut down.
//
// Nothing has to be called: the first use of any device or tensor initialises the runtime with the default
// options. The library never prints (but warnings, to stderr, when no log callback is given), never sets an
// environment variable, installs a signal handler, changes affinity or exits. All functions are thread-safe.
#ifndef BACKPLANE_RUNTIME_H_
#define BACKPLANE_RUNTIME_H_

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/device.h"
#include "backplane/export.h"
#include "backplane/plugin/plugin.h"
#include "backplane/version.h"

namespace backplane::inline v0 {

using LogLevel = plugin::LogLevel;

// Options beat the environment.
struct RuntimeOptions {
  // Absolute folders to search for plugins before those of BACKPLANE_PLUGIN_PATH.
  std::vector<std::filesystem::path> plugin_folders;

  // Whether the folder beside the library (lib/backplane/plugins) is searched, last.
  bool default_folder = true;

  // Names of plugins: if `allow` is not empty only those load; those in `deny` never do.
  std::vector<std::string> allow;
  std::vector<std::string> deny;

  // Reads no environment variable at all.
  bool ignore_environment = false;

  // Receives every message, from any thread, perhaps concurrently. Null: warnings and errors go to stderr.
  std::function<void(LogLevel, std::string_view)> log;

  // Threads that CPU devices may use in all; 0 means every core that the process may run on.
  unsigned thread_count = 0;

  // Bytes that the pool may take, by device name ("cuda:0"), plugin name ("cuda"), or "*" for any device.
  std::map<std::string, uint64_t> memory_limits;

  // Writes a trace of copies, kernels and allocations here, which Perfetto and chrome://tracing open; "%p" in
  // the path stands for the process id. Empty: what BACKPLANE_TRACE says. Complete after shutdown or exit().
  std::filesystem::path trace_file;

  // Options of plugins: {"cpu.devices", "2"} is what BACKPLANE_CPU_DEVICES=2 says.
  std::map<std::string, std::string> plugin_options;
};

enum class LoadOutcome {
  Loaded,
  Shadowed,  // another plugin of that name came first
  Refused,   // not allowed by options, by ownership, by permissions or by its ABI
  Failed,    // not a plugin, or one that did not start
};
BACKPLANE_API const char* to_string(LoadOutcome outcome) noexcept;

// One row for every file and folder looked at.
struct FileReport {
  std::filesystem::path path;
  LoadOutcome outcome = LoadOutcome::Failed;
  std::string name;  // the plugin's, where it got that far
  std::string version;
  std::string compiler;
  std::string cause;   // empty when loaded
  std::string remedy;  // what a person can do; empty where nothing is known
  int device_count = 0;
};

// A part of a loaded plugin's world that does not work: a broken OpenCL platform, say.
struct PluginNote {
  std::string plugin;
  std::string subject;
  std::string cause;
  std::string remedy;
};

enum class RouteKind { SameDevice, Peer, Mapped, Staged };
BACKPLANE_API const char* to_string(RouteKind kind) noexcept;

// How bytes get from one device to another, and why that way.
struct Route {
  RouteKind kind = RouteKind::Staged;
  std::string reason;
};

class BACKPLANE_API Runtime {
 public:
  // Sets the options of the first use. InvalidArgument once the runtime is initialised.
  static void configure(RuntimeOptions options);

  // Initialises the runtime if that has not happened yet. Never fails for want of a plugin; Unavailable after
  // shutdown.
  static Runtime& get();

  // Every file and folder looked at, in order.
  const std::vector<FileReport>& report() const noexcept;

  // What loaded plugins found broken.
  const std::vector<PluginNote>& notes() const noexcept;

  // The folders that were searched, in order.
  const std::vector<std::filesystem::path>& folders() const noexcept;

  // Which way copies take from one device to another. May run the first-use check of a peer copy.
  Route route(const Device& from, const Device& to) const;

  // Drains and destroys every device, in order. Tensors, streams and devices that outlive it may be destroyed
  // freely; every other use of them, and of the runtime, throws Unavailable. Called twice it does nothing.
  // Not called at all, the process exits without touching the drivers.
  static void shutdown();

 private:
  Runtime() = default;
  friend struct RuntimeAccess;
};

}  // namespace backplane::inline v0

#endif  // BACKPLANE_RUNTIME_H_
