// SPDX-License-Identifier: Apache-2.0
#include "cpu/families.h"

#include "backplane/plugin/base.h"

namespace backplane::cpu {

plugin::Status supports_copy(const CpuDevice&, const plugin::KernelDesc&) {
  return plugin::unimplemented("copy");
}

plugin::Status create_copy(CpuDevice&, const plugin::KernelDesc&, plugin::Kernel**) {
  return plugin::unimplemented("copy");
}

}  // namespace backplane::cpu
