// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "make.h"

namespace backplane::cuda::families {
namespace {

using plugin::IndexOp;

uint64_t error_address(const LaunchArgs& args) {
  return args.error == nullptr ? 0 : args.error->address() + args.error_offset;
}

IndexParams params_of(const LaunchArgs& args, DType index_type) {
  IndexParams params{};
  params.space = space_of(args);
  params.out = view_of(args.operand(0), 0, args.rank);
  params.index = view_of(args.operand(1), 0, args.rank);
  params.data = view_of(args.operand(2), 0, args.rank);
  params.axis_size = args.axis_size;
  params.axis_stride = args.axis_stride;
  params.error = error_address(args);
  params.wide = index_type == DType::Int64 ? 1 : 0;
  return params;
}

class GatherKernel final : public Kernel {
 public:
  GatherKernel(std::shared_ptr<DeviceState> state, const KernelDesc& desc)
      : Kernel(std::move(state)), desc_(desc) {}
  Status build() override {
    return find("index", ("gather_" + std::to_string(8 * plugin::size_of(desc_.types[0]))).c_str(),
                &function_);
  }
  Status run(Stream& stream, const LaunchArgs& args) override {
    IndexParams params = params_of(args, desc_.types[1]);
    return stream.launch(function_, blocks(params.space.count), kBlockThreads, &params);
  }

 private:
  const KernelDesc desc_;
  CUfunction function_ = nullptr;
};

class ScatterKernel final : public Kernel {
 public:
  ScatterKernel(std::shared_ptr<DeviceState> state, const KernelDesc& desc)
      : Kernel(std::move(state)), desc_(desc) {}
  Status build() override {
    BACKPLANE_TRY(find("index", "scatter_bid", &bid_));
    return find("index", ("scatter_" + std::to_string(8 * plugin::size_of(desc_.types[0]))).c_str(), &write_);
  }
  Status scratch(const LaunchArgs& args, uint64_t* bytes) override {
    const Span span = span_of(args);
    *bytes = static_cast<uint64_t>(span.highest - span.lowest + 1) * sizeof(uint64_t);
    return kOk;
  }
  Status run(Stream& stream, const LaunchArgs& args) override {
    const Span span = span_of(args);
    IndexParams params = params_of(args, desc_.types[1]);
    params.winners = scratch_address(args, 0);
    params.lowest = span.lowest;
    const auto words = static_cast<uint64_t>(span.highest - span.lowest + 1);
    BACKPLANE_CU(*state_->context, cuMemsetD32Async, params.winners, 0, 2 * words, stream.handle());
    BACKPLANE_TRY(stream.launch(bid_, blocks(params.space.count), kBlockThreads, &params));
    return stream.launch(write_, blocks(params.space.count), kBlockThreads, &params);
  }

 private:
  // The output's elements that can be written, relative to its origin.
  struct Span {
    int64_t lowest, highest;
  };
  static Span span_of(const LaunchArgs& args) {
    Span span{0, 0};
    const auto add = [&](int64_t extent, int64_t stride) {
      const int64_t reach = std::max<int64_t>(extent - 1, 0) * stride;
      (reach < 0 ? span.lowest : span.highest) += reach;
    };
    for (uint32_t d = 0; d < args.rank; ++d) add(args.shape[d], args.operand(0).strides[d]);
    add(args.axis_size, args.axis_stride);
    return span;
  }

  const KernelDesc desc_;
  CUfunction bid_ = nullptr;
  CUfunction write_ = nullptr;
};

class NonzeroKernel final : public Kernel {
 public:
  explicit NonzeroKernel(std::shared_ptr<DeviceState> state) : Kernel(std::move(state)) {}
  Status build() override {
    BACKPLANE_TRY(find("index", "nonzero_count", &count_));
    BACKPLANE_TRY(find("index", "nonzero_begin", &begin_));
    return find("index", "nonzero_write", &write_);
  }
  Status scratch(const LaunchArgs& args, uint64_t* bytes) override {
    *bytes = static_cast<uint64_t>(chunks_of(args)) * sizeof(int64_t);
    return kOk;
  }
  Status run(Stream& stream, const LaunchArgs& args) override {
    NonzeroParams params{};
    params.positions = args.operand(0).address;
    params.total = args.operand(1).address;
    params.in = args.operand(2).address;
    params.scratch = scratch_address(args, 0);
    params.count = args.shape[0];
    params.chunks = chunks_of(args);
    BACKPLANE_TRY(stream.launch(count_, blocks(params.chunks, 1), kBlockThreads, &params));
    BACKPLANE_TRY(stream.launch(begin_, 1, kBlockThreads, &params));
    return stream.launch(write_, blocks(params.chunks, 1), kBlockThreads, &params);
  }

 private:
  static int64_t chunks_of(const LaunchArgs& args) {
    return (args.shape[0] + kNonzeroChunk - 1) / kNonzeroChunk;
  }
  CUfunction count_ = nullptr;
  CUfunction begin_ = nullptr;
  CUfunction write_ = nullptr;
};

}  // namespace

Status supports_index(const DeviceState&, const KernelDesc& desc) {
  if (desc.op > static_cast<uint8_t>(IndexOp::Nonzero)) return plugin::unimplemented("this index operation");
  if (desc.op == static_cast<uint8_t>(IndexOp::Nonzero)) return kOk;
  if (desc.types[1] != DType::Int32 && desc.types[1] != DType::Int64)
    return plugin::unimplemented("an index that is neither Int32 nor Int64");
  return plugin::size_of(desc.types[0]) != 0 ? kOk : plugin::unimplemented("this element type");
}

Status make_index(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel) {
  switch (static_cast<IndexOp>(desc.op)) {
    case IndexOp::Gather:
      *kernel = std::make_unique<GatherKernel>(state, desc);
      break;
    case IndexOp::Scatter:
      *kernel = std::make_unique<ScatterKernel>(state, desc);
      break;
    case IndexOp::Nonzero:
      *kernel = std::make_unique<NonzeroKernel>(state);
      break;
  }
  return (*kernel)->build();
}

}  // namespace backplane::cuda::families
