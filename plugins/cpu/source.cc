// SPDX-License-Identifier: Apache-2.0
// The user's own code: a function of the host program, called for slices of the outermost dimension from
// several threads at once.
#include "cpu/families.h"
#include "cpu/kernel.h"

namespace backplane::cpu {
namespace {

using plugin::make_status;
using plugin::Status;
using plugin::StatusCode;

using Native = decltype(plugin::SourceDesc::native);

class SourceKernel final : public CpuKernel {
 public:
  SourceKernel(CpuDevice& device, Native native) : CpuKernel(device), native_(native) {}

  Status run(const plugin::LaunchArgs& args) const override {
    const int64_t slices = args.rank == 0 ? 1 : args.shape[0];
    // What a slice costs is the user's to know: `group` says how many make one call, 1 if left open.
    const int64_t grain = args.group[0] == 0 ? 1 : static_cast<int64_t>(args.group[0]);
    threads().loop(slices, grain, [&](int64_t begin, int64_t end) { native_(&args, begin, end); });
    return plugin::kOk;
  }

 private:
  const Native native_;
};

}  // namespace

Status supports_source(const CpuDevice&, const plugin::KernelDesc& desc) {
  if (desc.source == nullptr)
    return make_status(StatusCode::InvalidArgument, 0, "a source kernel without a source");
  const plugin::SourceDesc source = plugin::read_struct(desc.source);
  if (source.language != plugin::SourceLanguage::Native) {
    return make_status(
        StatusCode::Unimplemented, 0,
        "the cpu compiles no source: it takes SourceLanguage::Native, a function of the program");
  }
  if (source.native == nullptr)
    return make_status(StatusCode::InvalidArgument, 0, "a native source without function");
  return plugin::kOk;
}

Status create_source(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  *kernel = new SourceKernel(device, plugin::read_struct(desc.source).native);
  return plugin::kOk;
}

}  // namespace backplane::cpu
