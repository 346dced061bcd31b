// SPDX-License-Identifier: Apache-2.0
//
// What the host tells one plugin: its log, the user's options, the number of threads.
#ifndef BACKPLANE_SRC_LOADER_HOST_INFO_H_
#define BACKPLANE_SRC_LOADER_HOST_INFO_H_

#include <map>
#include <mutex>
#include <string>

#include "backplane/plugin/plugin.h"
#include "backplane/runtime.h"

namespace backplane::internal {

// Lives as long as the process: a plugin's threads may log at any time. Thread-safe.
class PluginHost {
 public:
  PluginHost(std::string plugin, const RuntimeOptions& options);
  PluginHost(const PluginHost&) = delete;
  PluginHost& operator=(const PluginHost&) = delete;

  const plugin::HostInfo& info() const noexcept { return info_; }

 private:
  const char* option(const char* key);

  const std::string plugin_;
  const std::map<std::string, std::string> options_;
  std::mutex mutex_;
  std::map<std::string, std::string> answers_;  // by key; what was once answered stays
  plugin::HostInfo info_{};
};

// Makes a host for one plugin and keeps it for ever. Not concurrently with itself.
const plugin::HostInfo& make_host(const std::string& plugin, const RuntimeOptions& options);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_LOADER_HOST_INFO_H_
