// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_PLUGINS_CUDA_HOST_H_
#define BACKPLANE_PLUGINS_CUDA_HOST_H_

#include <string_view>

#include "backplane/plugin/plugin.h"

namespace backplane::cuda {

// The host program's log and options. Valid until Backend::destroy returns.
class Host {
 public:
  Host() = default;
  explicit Host(const plugin::HostInfo* info) : info_(info) {}

  void log(plugin::LogLevel level, const char* text) const noexcept {
    if (info_ != nullptr && info_->log != nullptr) info_->log(info_->context, level, text);
  }

  // An option as text; empty when unset.
  std::string_view option(const char* key) const noexcept {
    const char* value = nullptr;
    if (info_ != nullptr && info_->option != nullptr) value = info_->option(info_->context, key);
    return value == nullptr ? std::string_view() : std::string_view(value);
  }

  // Off when set to "0", "false", "off" or "no"; `otherwise` when unset.
  bool flag(const char* key, bool otherwise) const noexcept {
    const std::string_view value = option(key);
    if (value.empty()) return otherwise;
    return value != "0" && value != "false" && value != "off" && value != "no";
  }

 private:
  const plugin::HostInfo* info_ = nullptr;
};

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_HOST_H_
