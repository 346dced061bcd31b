// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_PLUGINS_CUDA_FAMILIES_ELEMENTWISE_H_
#define BACKPLANE_PLUGINS_CUDA_FAMILIES_ELEMENTWISE_H_

#include "launch.h"

namespace backplane::cuda::families {

Status supports_elementwise(const DeviceState& state, const KernelDesc& desc);

// One operation runs by a kernel made for it; more are fused by NVRTC where it is, else run step by step
// (program.cu).
Status make_elementwise(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc,
                        std::unique_ptr<Kernel>* kernel);

// A kernel compiled by NVRTC for one program (fused.cpp), or null where that is not possible.
std::unique_ptr<Kernel> make_fused(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc);

// What both ways of running a program hand to their kernel.
ProgramParams program_params(const plugin::Program& program, const LaunchArgs& args) noexcept;

}  // namespace backplane::cuda::families

#endif  // BACKPLANE_PLUGINS_CUDA_FAMILIES_ELEMENTWISE_H_
