// SPDX-License-Identifier: Apache-2.0
#include "cpu/families.h"

#include "backplane/plugin/base.h"

namespace backplane::cpu {

plugin::Status supports_elementwise(const CpuDevice&, const plugin::KernelDesc&) {
  return plugin::unimplemented("elementwise");
}

plugin::Status create_elementwise(CpuDevice&, const plugin::KernelDesc&, plugin::Kernel**) {
  return plugin::unimplemented("elementwise");
}

}  // namespace backplane::cpu
