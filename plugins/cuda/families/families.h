// SPDX-License-Identifier: Apache-2.0
//
// The kernel families: what a descriptor needs, and the kernels that run it. Each family has a file of its
// own.
#ifndef BACKPLANE_PLUGINS_CUDA_FAMILIES_FAMILIES_H_
#define BACKPLANE_PLUGINS_CUDA_FAMILIES_FAMILIES_H_

#include <memory>

#include "device.h"

namespace backplane::cuda::families {

// Ok, or Unimplemented with the reason. Builds nothing.
Status supports(const DeviceState& state, const plugin::KernelDesc& desc);

// Makes the kernel of a descriptor that `supports` accepts. The context is current.
Status create(const std::shared_ptr<DeviceState>& state, const plugin::KernelDesc& desc,
              plugin::Kernel** kernel);

}  // namespace backplane::cuda::families

#endif  // BACKPLANE_PLUGINS_CUDA_FAMILIES_FAMILIES_H_
