// SPDX-License-Identifier: Apache-2.0
#include "cpu/families.h"

#include "backplane/plugin/base.h"

namespace backplane::cpu {

plugin::Status supports_index(const CpuDevice&, const plugin::KernelDesc&) {
  return plugin::unimplemented("index");
}

plugin::Status create_index(CpuDevice&, const plugin::KernelDesc&, plugin::Kernel**) {
  return plugin::unimplemented("index");
}

}  // namespace backplane::cpu
