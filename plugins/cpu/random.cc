// SPDX-License-Identifier: Apache-2.0
#include "cpu/families.h"

#include "backplane/plugin/base.h"

namespace backplane::cpu {

plugin::Status supports_random(const CpuDevice&, const plugin::KernelDesc&) {
  return plugin::unimplemented("random");
}

plugin::Status create_random(CpuDevice&, const plugin::KernelDesc&, plugin::Kernel**) {
  return plugin::unimplemented("random");
}

}  // namespace backplane::cpu
