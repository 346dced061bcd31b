// SPDX-License-Identifier: Apache-2.0
#include "cpu/families.h"

#include "backplane/plugin/base.h"

namespace backplane::cpu {

plugin::Status supports_rowwise(const CpuDevice&, const plugin::KernelDesc&) {
  return plugin::unimplemented("rowwise");
}

plugin::Status create_rowwise(CpuDevice&, const plugin::KernelDesc&, plugin::Kernel**) {
  return plugin::unimplemented("rowwise");
}

}  // namespace backplane::cpu
