// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "make.h"
#include "types_of.h"

namespace backplane::cuda::families {
namespace {

using plugin::ScanOp;

constexpr const char* kNames[] = {"sum", "prod", "max", "min"};
constexpr uint64_t kPartBytes = 16;  // the largest partial result

class ScanKernel final : public Kernel {
 public:
  ScanKernel(std::shared_ptr<DeviceState> state, const KernelDesc& desc)
      : Kernel(std::move(state)), desc_(desc) {}

  Status build() override {
    const std::string module = std::string("scan_") + class_of(desc_.compute_type);
    const std::string kernel = std::string("scan_") + kNames[desc_.op];
    BACKPLANE_TRY(find(module.c_str(), kernel.c_str(), &scan_));
    BACKPLANE_TRY(find(module.c_str(), (kernel + "_totals").c_str(), &totals_));
    return find(module.c_str(), (kernel + "_carries").c_str(), &carries_);
  }

  Status scratch(const LaunchArgs& args, uint64_t* bytes) override {
    const int64_t chunks = chunks_of(args);
    *bytes =
        chunks > 1 ? static_cast<uint64_t>(space_of(args, 0, args.rank - 1).count * chunks) * kPartBytes : 0;
    return kOk;
  }

  Status run(Stream& stream, const LaunchArgs& args) override {
    const uint32_t last = args.rank - 1;
    ScanParams params{};
    params.rows = space_of(args, 0, last);
    params.out = view_of(args.operand(0), 0, last);
    params.in = view_of(args.operand(1), 0, last);
    params.length = args.shape[last];
    params.out_stride = args.operand(0).strides[last];
    params.in_stride = args.operand(1).strides[last];
    params.chunks = chunks_of(args);
    params.scratch = scratch_address(args, 0);
    params.out_type = number(desc_.types[0]);
    params.in_type = number(desc_.types[1]);
    params.compute_type = number(desc_.compute_type);
    params.reverse = (desc_.flags & plugin::kScanReverse) != 0 ? 1 : 0;
    params.exclusive = (desc_.flags & plugin::kScanExclusive) != 0 ? 1 : 0;
    const uint64_t items = blocks(params.rows.count * params.chunks, 1);
    if (params.chunks > 1) {
      BACKPLANE_TRY(stream.launch(totals_, items, kBlockThreads, &params));
      BACKPLANE_TRY(stream.launch(carries_, blocks(params.rows.count, 1), kBlockThreads, &params));
    }
    return stream.launch(scan_, items, kBlockThreads, &params);
  }

 private:
  static int64_t chunks_of(const LaunchArgs& args) {
    return (args.shape[args.rank - 1] + kScanChunk - 1) / kScanChunk;
  }

  const KernelDesc desc_;
  CUfunction scan_ = nullptr;
  CUfunction totals_ = nullptr;
  CUfunction carries_ = nullptr;
};

}  // namespace

Status supports_scan(const DeviceState&, const KernelDesc& desc) {
  if (desc.op > static_cast<uint8_t>(ScanOp::Min)) return plugin::unimplemented("this scan");
  const bool sums = desc.op <= static_cast<uint8_t>(ScanOp::Prod);
  if (sums && desc.compute_type == DType::Bool) return plugin::unimplemented("a sum computed in bool");
  const bool fits =
      sums ? is_direct(desc.types[1], desc.compute_type) : is_widening(desc.types[1], desc.compute_type);
  return fits ? kOk : plugin::unimplemented("a scan whose input must be cast first");
}

Status make_scan(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel) {
  *kernel = std::make_unique<ScanKernel>(state, desc);
  return (*kernel)->build();
}

}  // namespace backplane::cuda::families
