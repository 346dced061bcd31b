// SPDX-License-Identifier: Apache-2.0
#include "make.h"

namespace backplane::cuda::families {
namespace {

using plugin::SortOp;

class SortKernel final : public Kernel {
 public:
  SortKernel(std::shared_ptr<DeviceState> state, const KernelDesc& desc)
      : Kernel(std::move(state)), desc_(desc) {}

  Status build() override {
    BACKPLANE_TRY(find("sort", "sort_chunks", &chunks_));
    BACKPLANE_TRY(find("sort", "sort_merge", &merge_));
    return find("sort", "sort_write", &write_);
  }

  // Keys and positions, twice: merging goes to and fro.
  Status scratch(const LaunchArgs& args, uint64_t* bytes) override {
    const bool short_rows = args.shape[args.rank - 1] <= kSortChunk;
    *bytes = short_rows ? 0 : 4 * array_bytes(args);
    return kOk;
  }

  Status run(Stream& stream, const LaunchArgs& args) override {
    SortParams params = describe(args);
    const int64_t chunks = (params.length + kSortChunk - 1) / kSortChunk;
    BACKPLANE_TRY(stream.launch(chunks_, blocks(params.rows.count * chunks, 1), kBlockThreads, &params));
    if (chunks == 1) return kOk;
    const uint64_t all = blocks(params.rows.count * params.length);
    for (params.run = kSortChunk; params.run < params.length; params.run *= 2) {
      BACKPLANE_TRY(stream.launch(merge_, all, kBlockThreads, &params));
      std::swap(params.keys, params.keys_out);
      std::swap(params.positions, params.positions_out);
    }
    return stream.launch(write_, all, kBlockThreads, &params);
  }

 private:
  static uint64_t array_bytes(const LaunchArgs& args) {
    return static_cast<uint64_t>(space_of(args).count) * sizeof(uint64_t);
  }

  SortParams describe(const LaunchArgs& args) const {
    const uint32_t last = args.rank - 1;
    SortParams params{};
    uint32_t next = 0;
    params.write_values = (desc_.flags & plugin::kSortValues) != 0 ? 1 : 0;
    params.write_indices = (desc_.flags & plugin::kSortIndices) != 0 ? 1 : 0;
    const auto take = [&](View* view, i64* stride) {
      const Operand& operand = args.operand(next++);
      *view = view_of(operand, 0, last);
      *stride = operand.strides[last];
    };
    if (params.write_values != 0) take(&params.values, &params.values_stride);
    if (params.write_indices != 0) take(&params.indices, &params.indices_stride);
    take(&params.in, &params.in_stride);
    params.rows = space_of(args, 0, last);
    params.length = args.shape[last];
    params.type = number(desc_.types[0]);
    params.descending = (desc_.flags & plugin::kSortDescending) != 0 ? 1 : 0;
    const uint64_t bytes = array_bytes(args);
    params.keys = scratch_address(args, 0);
    params.keys_out = scratch_address(args, bytes);
    params.positions = scratch_address(args, 2 * bytes);
    params.positions_out = scratch_address(args, 3 * bytes);
    return params;
  }

  const KernelDesc desc_;
  CUfunction chunks_ = nullptr;
  CUfunction merge_ = nullptr;
  CUfunction write_ = nullptr;
};

class SearchKernel final : public Kernel {
 public:
  SearchKernel(std::shared_ptr<DeviceState> state, const KernelDesc& desc)
      : Kernel(std::move(state)), desc_(desc) {}
  Status build() override { return find("sort", "search", &function_); }
  Status run(Stream& stream, const LaunchArgs& args) override {
    SearchParams params{};
    params.out = args.operand(0).address;
    params.out_stride = args.operand(0).strides[0];
    params.needles = args.operand(1).address;
    params.needle_stride = args.operand(1).strides[0];
    params.haystack = args.operand(2).address;
    params.count = args.shape[0];
    params.length = args.axis_size;
    params.type = number(desc_.types[1]);
    params.right = (desc_.flags & plugin::kSearchRight) != 0 ? 1 : 0;
    return stream.launch(function_, blocks(params.count), kBlockThreads, &params);
  }

 private:
  const KernelDesc desc_;
  CUfunction function_ = nullptr;
};

}  // namespace

Status supports_sort(const DeviceState&, const KernelDesc& desc) {
  if (desc.op > static_cast<uint8_t>(SortOp::Search)) return plugin::unimplemented("this sort operation");
  const DType type = desc.op == static_cast<uint8_t>(SortOp::Sort) ? desc.types[0] : desc.types[1];
  return plugin::size_of(type) != 0 ? kOk : plugin::unimplemented("sorting this type");
}

Status make_sort(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel) {
  if (desc.op == static_cast<uint8_t>(SortOp::Sort)) {
    *kernel = std::make_unique<SortKernel>(state, desc);
  } else {
    *kernel = std::make_unique<SearchKernel>(state, desc);
  }
  return (*kernel)->build();
}

}  // namespace backplane::cuda::families
