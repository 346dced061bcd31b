// SPDX-License-Identifier: Apache-2.0
#include "cpu/families.h"

#include "backplane/plugin/base.h"

namespace backplane::cpu {

plugin::Status supports_sort(const CpuDevice&, const plugin::KernelDesc&) {
  return plugin::unimplemented("sort");
}

plugin::Status create_sort(CpuDevice&, const plugin::KernelDesc&, plugin::Kernel**) {
  return plugin::unimplemented("sort");
}

}  // namespace backplane::cpu
