// SPDX-License-Identifier: Apache-2.0
//
// One pair of functions a family: whether a descriptor can be run, and the kernel that runs it, built.
#ifndef BACKPLANE_PLUGINS_CUDA_FAMILIES_MAKE_H_
#define BACKPLANE_PLUGINS_CUDA_FAMILIES_MAKE_H_

#include "launch.h"

namespace backplane::cuda::families {

using KernelPointer = std::unique_ptr<Kernel>;

Status supports_reduce(const DeviceState& state, const KernelDesc& desc);
Status make_reduce(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel);
Status supports_scan(const DeviceState& state, const KernelDesc& desc);
Status make_scan(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel);
Status supports_matmul(const DeviceState& state, const KernelDesc& desc);
Status make_matmul(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel);
Status supports_copy(const DeviceState& state, const KernelDesc& desc);
Status make_copy(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel);
Status supports_index(const DeviceState& state, const KernelDesc& desc);
Status make_index(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel);
Status supports_sort(const DeviceState& state, const KernelDesc& desc);
Status make_sort(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel);
Status supports_random(const DeviceState& state, const KernelDesc& desc);
Status make_random(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel);
Status supports_rowwise(const DeviceState& state, const KernelDesc& desc);
Status make_rowwise(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel);
Status supports_source(const DeviceState& state, const KernelDesc& desc);
Status make_source(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel);

}  // namespace backplane::cuda::families

#endif  // BACKPLANE_PLUGINS_CUDA_FAMILIES_MAKE_H_
