// SPDX-License-Identifier: Apache-2.0
#include "families.h"

#include "elementwise.h"
#include "make.h"

namespace backplane::cuda::families {
namespace {

struct Row {
  Status (*supports)(const DeviceState&, const KernelDesc&);
  Status (*make)(const std::shared_ptr<DeviceState>&, const KernelDesc&, KernelPointer*);
};

// By plugin::Family.
constexpr Row kFamilies[] = {
    {&supports_elementwise, &make_elementwise},
    {&supports_reduce, &make_reduce},
    {&supports_scan, &make_scan},
    {&supports_matmul, &make_matmul},
    {&supports_copy, &make_copy},
    {&supports_index, &make_index},
    {&supports_sort, &make_sort},
    {&supports_random, &make_random},
    {&supports_rowwise, &make_rowwise},
    {&supports_source, &make_source},
};

}  // namespace

Status supports(const DeviceState& state, const KernelDesc& desc) {
  const auto family = static_cast<size_t>(desc.family);
  if (family >= sizeof kFamilies / sizeof kFamilies[0]) return plugin::unimplemented("this kernel family");
  return kFamilies[family].supports(state, desc);
}

Status create(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, plugin::Kernel** kernel) {
  KernelPointer made;
  BACKPLANE_TRY(kFamilies[static_cast<size_t>(desc.family)].make(state, desc, &made));
  *kernel = made.release();
  return kOk;
}

}  // namespace backplane::cuda::families
