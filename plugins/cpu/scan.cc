// SPDX-License-Identifier: Apache-2.0
#include "cpu/families.h"

#include "backplane/plugin/base.h"

namespace backplane::cpu {

plugin::Status supports_scan(const CpuDevice&, const plugin::KernelDesc&) {
  return plugin::unimplemented("scan");
}

plugin::Status create_scan(CpuDevice&, const plugin::KernelDesc&, plugin::Kernel**) {
  return plugin::unimplemented("scan");
}

}  // namespace backplane::cpu
