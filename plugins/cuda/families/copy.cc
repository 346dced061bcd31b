// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "make.h"

namespace backplane::cuda::families {
namespace {

class CopyKernel final : public Kernel {
 public:
  CopyKernel(std::shared_ptr<DeviceState> state, DType type)
      : Kernel(std::move(state)), size_(plugin::size_of(type)) {}

  Status build() override {
    const std::string bits = std::to_string(8 * size_);
    BACKPLANE_TRY(find("copy", ("copy_" + bits).c_str(), &strided_));
    BACKPLANE_TRY(find("copy", ("transpose_" + bits).c_str(), &transpose_));
    return find("copy", "copy_vector", &vector_);
  }

  Status run(Stream& stream, const LaunchArgs& args) override {
    CopyParams params{space_of(args), view_of(args.operand(0), 0, args.rank),
                      view_of(args.operand(1), 0, args.rank)};
    if (is_bulk(params)) return copy_bulk(stream, params);
    if (is_transposed(params)) return transpose(stream, args);
    return stream.launch(strided_, blocks(params.space.count), kBlockThreads, &params);
  }

 private:
  uint64_t bytes(const CopyParams& params) const { return static_cast<uint64_t>(params.space.count) * size_; }

  bool is_bulk(const CopyParams& params) const {
    return is_contiguous(params.space, params.out) && is_contiguous(params.space, params.in) &&
           is_aligned(params.out.address) && is_aligned(params.in.address) && bytes(params) >= 16;
  }

  // The bulk 16 bytes at a time, then what is left.
  Status copy_bulk(Stream& stream, CopyParams params) {
    const uint64_t all = bytes(params);
    CopyParams bulk = params;
    bulk.space.count = static_cast<int64_t>(all / 16);
    BACKPLANE_TRY(stream.launch(vector_, blocks(bulk.space.count), kBlockThreads, &bulk));
    if (all % 16 == 0) return kOk;
    const uint64_t done = all / 16 * 16;
    params.space = Space{};
    params.space.rank = 1;
    params.space.narrow = 1;
    params.space.count = params.space.shape[0] = static_cast<int64_t>((all - done) / size_);
    params.out = View{params.out.address + done, {1}};
    params.in = View{params.in.address + done, {1}};
    return stream.launch(strided_, 1, kBlockThreads, &params);
  }

  static bool is_transposed(const CopyParams& params) {
    constexpr int64_t kWorthIt = 16;
    const uint32_t rank = params.space.rank;
    if (rank < 2) return false;
    return params.out.strides[rank - 1] == 1 && params.in.strides[rank - 2] == 1 &&
           params.in.strides[rank - 1] != 1 && params.space.shape[rank - 1] >= kWorthIt &&
           params.space.shape[rank - 2] >= kWorthIt;
  }

  Status transpose(Stream& stream, const LaunchArgs& args) {
    constexpr int64_t kTile = 32;
    const uint32_t last = args.rank - 1;
    TransposeParams params{};
    params.batch = space_of(args, 0, last - 1);
    params.out = view_of(args.operand(0), 0, last - 1);
    params.in = view_of(args.operand(1), 0, last - 1);
    params.rows = args.shape[last - 1];
    params.columns = args.shape[last];
    params.out_row = args.operand(0).strides[last - 1];
    params.in_column = args.operand(1).strides[last];
    const int64_t tiles = ((params.rows + kTile - 1) / kTile) * ((params.columns + kTile - 1) / kTile);
    return stream.launch(transpose_, blocks(tiles * params.batch.count, 1), kBlockThreads, &params);
  }

  const uint32_t size_;
  CUfunction strided_ = nullptr;
  CUfunction transpose_ = nullptr;
  CUfunction vector_ = nullptr;
};

}  // namespace

Status supports_copy(const DeviceState&, const KernelDesc& desc) {
  return plugin::size_of(desc.types[0]) != 0 ? kOk : plugin::unimplemented("a copy of this type");
}

Status make_copy(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel) {
  *kernel = std::make_unique<CopyKernel>(state, desc.types[0]);
  return (*kernel)->build();
}

}  // namespace backplane::cuda::families
