// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "make.h"

namespace backplane::cuda::families {
namespace {

using plugin::RowwiseOp;

constexpr const char* kNames[] = {"softmax", "log_softmax", "layer_norm", "rms_norm"};

class RowwiseKernel final : public Kernel {
 public:
  RowwiseKernel(std::shared_ptr<DeviceState> state, const KernelDesc& desc)
      : Kernel(std::move(state)), desc_(desc) {}
  Status build() override {
    const std::string module = std::string("rowwise_") + class_of(desc_.compute_type);
    return find(module.c_str(), kNames[desc_.op], &function_);
  }
  Status run(Stream& stream, const LaunchArgs& args) override {
    const uint32_t last = args.rank - 1;
    RowwiseParams params{};
    params.rows = space_of(args, 0, last);
    params.out = view_of(args.operand(0), 0, last);
    params.in = view_of(args.operand(1), 0, last);
    params.length = args.shape[last];
    params.out_stride = args.operand(0).strides[last];
    params.in_stride = args.operand(1).strides[last];
    uint32_t next = 2;
    if ((desc_.flags & plugin::kRowwiseWeight) != 0) {
      params.weight = args.operand(next).address;
      params.weight_stride = args.operand(next++).strides[last];
    }
    if ((desc_.flags & plugin::kRowwiseBias) != 0) {
      params.bias = args.operand(next).address;
      params.bias_stride = args.operand(next).strides[last];
    }
    params.epsilon = args.scalar_count > 0 ? args.scalars[0].f : 0;
    params.type = number(desc_.types[0]);
    params.lanes = 1;
    while (params.lanes < kBlockThreads && static_cast<int64_t>(params.lanes) * 4 < params.length)
      params.lanes *= 2;
    return stream.launch(function_, blocks(params.rows.count, kBlockThreads / params.lanes), kBlockThreads,
                         &params);
  }

 private:
  const KernelDesc desc_;
  CUfunction function_ = nullptr;
};

}  // namespace

Status supports_rowwise(const DeviceState&, const KernelDesc& desc) {
  if (desc.op > static_cast<uint8_t>(RowwiseOp::RmsNorm))
    return plugin::unimplemented("this rowwise operation");
  if (!is_floating(desc.types[0]) || !is_floating(desc.compute_type))
    return plugin::unimplemented("a rowwise operation on a type that is not floating");
  return kOk;
}

Status make_rowwise(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc,
                    KernelPointer* kernel) {
  *kernel = std::make_unique<RowwiseKernel>(state, desc);
  return (*kernel)->build();
}

}  // namespace backplane::cuda::families
