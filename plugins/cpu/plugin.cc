// SPDX-License-Identifier: Apache-2.0
#include "backplane/plugin/plugin.h"

#include "cpu/backend.h"

namespace {

backplane::plugin::Status create(const backplane::plugin::HostInfo* host,
                                 backplane::plugin::Backend** backend) noexcept {
  return backplane::plugin::guard([&] {
    *backend = new backplane::cpu::CpuBackend(backplane::plugin::read_struct(host));
    return backplane::plugin::kOk;
  });
}

}  // namespace

extern "C" BACKPLANE_PLUGIN_EXPORT const backplane::plugin::Plugin backplane_plugin = {
    sizeof(backplane::plugin::Plugin),
    backplane::plugin::kAbiMajor,
    backplane::plugin::kAbiMinor,
    backplane::cpu::kBackendName,
    BACKPLANE_VERSION,
    BACKPLANE_COMPILER,
    0,
    0,
    create};
