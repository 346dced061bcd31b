// SPDX-License-Identifier: Apache-2.0
#include "backplane/runtime.h"

#include "device/registry.h"
#include "device/registry_access.h"

namespace backplane::inline v0 {

const char* to_string(LoadOutcome outcome) noexcept {
  constexpr const char* kNames[] = {"loaded", "shadowed", "refused", "failed"};
  return kNames[static_cast<int>(outcome)];
}

const char* to_string(RouteKind kind) noexcept {
  constexpr const char* kNames[] = {"same device", "peer", "mapped", "staged"};
  return kNames[static_cast<int>(kind)];
}

struct RuntimeAccess {
  static Runtime& instance() {
    static auto& runtime = *new Runtime;
    return runtime;
  }
};

void Runtime::configure(RuntimeOptions options) { internal::configure_registry(std::move(options)); }

Runtime& Runtime::get() {
  internal::registry();
  return RuntimeAccess::instance();
}

const std::vector<FileReport>& Runtime::report() const noexcept { return internal::past_registry()->report; }

const std::vector<PluginNote>& Runtime::notes() const noexcept { return internal::past_registry()->notes; }

const std::vector<std::filesystem::path>& Runtime::folders() const noexcept {
  return internal::past_registry()->folders;
}

void Runtime::shutdown() { internal::shut_down_registry(); }

}  // namespace backplane::inline v0
