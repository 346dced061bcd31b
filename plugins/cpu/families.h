// SPDX-License-Identifier: Apache-2.0
//
// What each kernel family offers: one row a family. A family's file implements its two functions, and nothing
// else of it is seen from outside.
//
// supports_x: Ok, or Unimplemented with the reason, or InvalidArgument for a descriptor that breaks the rules
// of kernels.h. create_x: called only with what supports_x accepted; may throw std::bad_alloc; the caller
// owns the kernel. The descriptor is complete here whatever the host's age: fields that an older host lacks
// are zero.
#ifndef BACKPLANE_CPU_FAMILIES_H_
#define BACKPLANE_CPU_FAMILIES_H_

#include "backplane/plugin/interfaces.h"

namespace backplane::cpu {

class CpuDevice;

plugin::Status supports_elementwise(const CpuDevice& device, const plugin::KernelDesc& desc);
plugin::Status supports_reduce(const CpuDevice& device, const plugin::KernelDesc& desc);
plugin::Status supports_scan(const CpuDevice& device, const plugin::KernelDesc& desc);
plugin::Status supports_matmul(const CpuDevice& device, const plugin::KernelDesc& desc);
plugin::Status supports_copy(const CpuDevice& device, const plugin::KernelDesc& desc);
plugin::Status supports_index(const CpuDevice& device, const plugin::KernelDesc& desc);
plugin::Status supports_sort(const CpuDevice& device, const plugin::KernelDesc& desc);
plugin::Status supports_random(const CpuDevice& device, const plugin::KernelDesc& desc);
plugin::Status supports_rowwise(const CpuDevice& device, const plugin::KernelDesc& desc);
plugin::Status supports_source(const CpuDevice& device, const plugin::KernelDesc& desc);

plugin::Status create_elementwise(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel);
plugin::Status create_reduce(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel);
plugin::Status create_scan(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel);
plugin::Status create_matmul(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel);
plugin::Status create_copy(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel);
plugin::Status create_index(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel);
plugin::Status create_sort(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel);
plugin::Status create_random(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel);
plugin::Status create_rowwise(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel);
plugin::Status create_source(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel);

struct FamilyRow {
  plugin::Status (*supports)(const CpuDevice& device, const plugin::KernelDesc& desc);
  plugin::Status (*create)(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel);
};

// The row of `family`, or null for a number that this plugin does not know.
const FamilyRow* find_family(plugin::Family family) noexcept;

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_FAMILIES_H_
