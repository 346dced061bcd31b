// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>

#include "make.h"

namespace backplane::cuda::families {
namespace {

using plugin::RandomOp;

constexpr const char* kNames[] = {"bits_", "uniform_", "normal_", "integers_"};

// Elements that one thread makes from a block of four words.
int64_t elements_of(RandomOp op, DType type) {
  if (op == RandomOp::Integers) return 2;
  return plugin::size_of(type) == 8 ? 2 : 4;
}

class RandomKernel final : public Kernel {
 public:
  RandomKernel(std::shared_ptr<DeviceState> state, const KernelDesc& desc)
      : Kernel(std::move(state)), desc_(desc) {}
  Status build() override {
    return find("random", (std::string(kNames[desc_.op]) + suffix(desc_.types[0])).c_str(), &function_);
  }
  Status run(Stream& stream, const LaunchArgs& args) override {
    RandomParams params{};
    params.out = args.operand(0).address;
    params.count = args.shape[0];
    params.seed = args.seed;
    params.block_offset = args.block_offset;
    params.type = number(desc_.types[0]);
    if (args.scalar_count > 0) params.first = args.scalars[0].u;  // the bits, whichever member is meant
    if (args.scalar_count > 1) params.second = args.scalars[1].u;
    const int64_t each = elements_of(static_cast<RandomOp>(desc_.op), desc_.types[0]);
    return stream.launch(function_, blocks((params.count + each - 1) / each), kBlockThreads, &params);
  }

 private:
  const KernelDesc desc_;
  CUfunction function_ = nullptr;
};

}  // namespace

Status supports_random(const DeviceState&, const KernelDesc& desc) {
  const DType type = desc.types[0];
  bool fits = false;
  switch (static_cast<RandomOp>(desc.op)) {
    case RandomOp::Bits:
      fits = type == DType::UInt32 || type == DType::UInt64;
      break;
    case RandomOp::Uniform:
    case RandomOp::Normal:
      fits = is_floating(type);
      break;
    case RandomOp::Integers:
      fits = is_integer(type);
      break;
  }
  return fits ? kOk : plugin::unimplemented("a draw of this kind and type");
}

Status make_random(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel) {
  *kernel = std::make_unique<RandomKernel>(state, desc);
  return (*kernel)->build();
}

}  // namespace backplane::cuda::families
