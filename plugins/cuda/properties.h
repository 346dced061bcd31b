// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_PLUGINS_CUDA_PROPERTIES_H_
#define BACKPLANE_PLUGINS_CUDA_PROPERTIES_H_

#include "error.h"
#include "nvml.h"

namespace backplane::cuda {

// What the driver says of a device, without a context; a query that fails costs its own field. `nvml` may be
// null.
plugin::DeviceProperties properties_of(CUdevice device, const Nvml* nvml, bool source) noexcept;

// "0000:3b:00.0", as the other plugins write it; false when the driver does not say.
bool pci_address_of(CUdevice device, char (&address)[16]) noexcept;

int attribute_of(CUdevice device, CUdevice_attribute which, int otherwise) noexcept;

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_PROPERTIES_H_
