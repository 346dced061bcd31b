// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_NULL_KERNELS_H_
#define BACKPLANE_NULL_KERNELS_H_

#include "backplane/plugin/base.h"

namespace backplane::null {

// Copies of elements of any type, and every operation of scalar_ops.def on Bool, Int32 and Float32.
plugin::Status supports(const plugin::KernelDesc& desc) noexcept;

// For what is supported. Throws std::bad_alloc.
plugin::Kernel* make_kernel(const plugin::KernelDesc& desc);

}  // namespace backplane::null

#endif  // BACKPLANE_NULL_KERNELS_H_
