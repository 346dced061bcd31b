// SPDX-License-Identifier: Apache-2.0
#include "cpu/kernel.h"

#include "cpu/device.h"
#include "cpu/stream.h"

namespace backplane::cpu {
namespace {

// Launch arguments as version 0.1 of the boundary has them; later versions only append.
constexpr uint32_t kOldestLaunchArgs =
    static_cast<uint32_t>(offsetof(plugin::LaunchArgs, label) + sizeof(plugin::LaunchArgs::label));

}  // namespace

CpuKernel::CpuKernel(CpuDevice& device) noexcept : threads_(device.threads()) {}

plugin::Status CpuKernel::launch(plugin::Stream* stream, const plugin::LaunchArgs* args) noexcept {
  if (args->struct_size < kOldestLaunchArgs) {
    return plugin::make_status(plugin::StatusCode::InvalidArgument, 0,
                               "launch arguments of %u bytes; %u are needed", args->struct_size,
                               kOldestLaunchArgs);
  }
  return static_cast<CpuStream*>(stream)->launch(this, *args);
}

plugin::Status CpuKernel::run_guarded(const plugin::LaunchArgs& args) const noexcept {
  const FloatingPointGuard floating_point;
  return plugin::guard([&] { return run(args); });
}

}  // namespace backplane::cpu
