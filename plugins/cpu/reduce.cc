// SPDX-License-Identifier: Apache-2.0
#include "cpu/families.h"

#include "backplane/plugin/base.h"

namespace backplane::cpu {

plugin::Status supports_reduce(const CpuDevice&, const plugin::KernelDesc&) {
  return plugin::unimplemented("reduce");
}

plugin::Status create_reduce(CpuDevice&, const plugin::KernelDesc&, plugin::Kernel**) {
  return plugin::unimplemented("reduce");
}

}  // namespace backplane::cpu
