// SPDX-License-Identifier: Apache-2.0
#include "loader/host_info.h"

#include <memory>
#include <vector>

#include "loader/environment.h"
#include "loader/log.h"

namespace backplane::internal {

PluginHost::PluginHost(std::string plugin, const RuntimeOptions& options)
    : plugin_(std::move(plugin)), options_(options.plugin_options) {
  info_.struct_size = sizeof info_;
  info_.abi_major = plugin::kAbiMajor;
  info_.abi_minor = plugin::kAbiMinor;
  info_.context = this;
  info_.log = [](void* context, LogLevel level, const char* text) noexcept {
    try {
      const auto* self = static_cast<const PluginHost*>(context);
      internal::log(level, self->plugin_ + ": " + (text == nullptr ? "" : text));
    } catch (...) {
      internal::log(level, text == nullptr ? "" : text);  // no memory left for the plugin's name
    }
  };
  info_.option = [](void* context, const char* key) noexcept -> const char* {
    try {
      return static_cast<PluginHost*>(context)->option(key);
    } catch (...) {
      return nullptr;
    }
  };
  info_.thread_count = options.thread_count;
}

const char* PluginHost::option(const char* key) {
  const std::lock_guard lock(mutex_);
  auto [answer, is_new] = answers_.try_emplace(key);
  if (is_new) {
    const auto given = options_.find(plugin_ + "." + key);
    answer->second =
        given != options_.end() ? given->second : environment(environment_name(plugin_, key).c_str());
  }
  return answer->second.empty() ? nullptr : answer->second.c_str();
}

const plugin::HostInfo& make_host(const std::string& plugin, const RuntimeOptions& options) {
  static auto& kept = *new std::vector<std::unique_ptr<PluginHost>>;
  return kept.emplace_back(std::make_unique<PluginHost>(plugin, options))->info();
}

}  // namespace backplane::internal
