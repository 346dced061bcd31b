// SPDX-License-Identifier: Apache-2.0
#include "backend.h"

namespace {

backplane::plugin::Status create(const backplane::plugin::HostInfo* host,
                                 backplane::plugin::Backend** backend) noexcept {
  return backplane::plugin::guard([&] { return backplane::cuda::Backend::create(host, backend); });
}

}  // namespace

extern "C" BACKPLANE_PLUGIN_EXPORT const backplane::plugin::Plugin backplane_plugin = {
    sizeof(backplane::plugin::Plugin),
    backplane::plugin::kAbiMajor,
    backplane::plugin::kAbiMinor,
    "cuda",
    BACKPLANE_PLUGIN_VERSION,
    BACKPLANE_COMPILER,
    20,
    0,
    &create,
};
