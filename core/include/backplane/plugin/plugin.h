// SPDX-License-Identifier: Apache-2.0
//
// The one symbol that a plugin exports, and what the host hands to it. Everything else is reached from here.
//
//   extern "C" BACKPLANE_PLUGIN_EXPORT const backplane::plugin::Plugin backplane_plugin = {
//       sizeof(backplane::plugin::Plugin), kAbiMajor, kAbiMinor, "mine", "1.0", BACKPLANE_COMPILER, 0, 0,
//       create};
#ifndef BACKPLANE_PLUGIN_PLUGIN_H_
#define BACKPLANE_PLUGIN_PLUGIN_H_

#include "backplane/plugin/interfaces.h"
#include "backplane/plugin/types.h"

#define BACKPLANE_PLUGIN_EXPORT __attribute__((visibility("default")))

#if defined(__clang__)
#define BACKPLANE_COMPILER "clang " __clang_version__
#else
#define BACKPLANE_COMPILER "gcc " __VERSION__
#endif

namespace backplane::plugin {

enum class LogLevel : int32_t { Debug = 0, Info = 1, Warning = 2, Error = 3 };

// What the host tells a plugin. Valid until Backend::destroy returns.
struct HostInfo {
  uint32_t struct_size;
  uint16_t abi_major;
  uint16_t abi_minor;
  void* context;  // first argument of the functions below

  // Hands one line (no newline at its end) to the program's log callback. Callable from any thread; never
  // blocks on the runtime's locks. `text` is copied.
  void (*log)(void* context, LogLevel level, const char* text) noexcept;

  // The user's option `key` for this plugin ("devices"): RuntimeOptions first, then, unless the program told
  // the runtime to ignore it, the environment variable BACKPLANE_<PLUGIN>_<KEY> ("BACKPLANE_CPU_DEVICES").
  // Null when unset or empty. The string lives as long as the HostInfo.
  const char* (*option)(void* context, const char* key) noexcept;

  // How many threads the program allows a CPU-side device to use; 0 means every core it may run on.
  uint32_t thread_count;
  uint32_t reserved;
};

// The exported symbol's type; the symbol's name is `backplane_plugin`.
struct Plugin {
  uint32_t struct_size;
  uint16_t abi_major;   // kAbiMajor of the headers that the plugin was built with
  uint16_t abi_minor;   // kAbiMinor likewise
  const char* name;     // "cuda": lower-case letters, digits and '_', starting with a letter; the part before
                        // ':' in a device's name
  const char* version;  // of the plugin, "1.2.3"
  const char* compiler;  // BACKPLANE_COMPILER
  int32_t priority;  // where two plugins reach one physical device, the higher one counts; in-tree: cpu 0,
                     // opencl 10, cuda 20
  uint32_t reserved;

  // Makes the backend. Called once per process, from any thread, not concurrently with itself. On failure
  // `*backend` is left alone and the status says why, in words that a person can act on ("libcuda.so.1 not
  // found: ..."); a plugin that finds no device, and nothing wrong, succeeds with device_count 0.
  Status (*create)(const HostInfo* host, Backend** backend) noexcept;
};

}  // namespace backplane::plugin

#endif  // BACKPLANE_PLUGIN_PLUGIN_H_
