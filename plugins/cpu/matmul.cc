// SPDX-License-Identifier: Apache-2.0
#include "cpu/families.h"

#include "backplane/plugin/base.h"

namespace backplane::cpu {

plugin::Status supports_matmul(const CpuDevice&, const plugin::KernelDesc&) {
  return plugin::unimplemented("matmul");
}

plugin::Status create_matmul(CpuDevice&, const plugin::KernelDesc&, plugin::Kernel**) {
  return plugin::unimplemented("matmul");
}

}  // namespace backplane::cpu
