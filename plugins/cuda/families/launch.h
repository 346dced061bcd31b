// SPDX-License-Identifier: Apache-2.0
//
// From LaunchArgs to kernel parameters.
#ifndef BACKPLANE_PLUGINS_CUDA_FAMILIES_LAUNCH_H_
#define BACKPLANE_PLUGINS_CUDA_FAMILIES_LAUNCH_H_

#include <algorithm>
#include <cstdint>
#include <memory>

#include "device.h"
#include "kernels/params.h"
#include "stream.h"

namespace backplane::cuda::families {

using plugin::DType;
using plugin::KernelDesc;
using plugin::LaunchArgs;
using plugin::Operand;

// A kernel of one family: keeps the device's state alive, and enters its context around launch.
class Kernel : public plugin::KernelBase {
 public:
  explicit Kernel(std::shared_ptr<DeviceState> state) : state_(std::move(state)) {}
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  // Loads what is needed; once, after construction, with the context current.
  virtual Status build() = 0;
  // Queues the work; the context is current.
  virtual Status run(Stream& stream, const LaunchArgs& args) = 0;
  // Bytes of scratch for these arguments.
  virtual Status scratch(const LaunchArgs&, uint64_t* bytes) {
    *bytes = 0;
    return kOk;
  }

  void destroy() noexcept final { delete this; }
  Status workspace(const LaunchArgs* args, uint64_t* bytes) noexcept final {
    return plugin::guard([&] { return scratch(*args, bytes); });
  }
  Status launch(plugin::Stream* stream, const LaunchArgs* args) noexcept final {
    return plugin::guard([&]() -> Status {
      BACKPLANE_ENTER(*state_->context);
      return run(*static_cast<Stream*>(stream), *args);
    });
  }

 protected:
  Status find(const char* module, const char* kernel, CUfunction* function) {
    return state_->modules->function(module, kernel, function);
  }
  // Blocks for `count` items, `per_block` each; a kernel loops over what more there is.
  uint64_t blocks(int64_t count, uint64_t per_block = kBlockThreads) const noexcept {
    const uint64_t wanted = (static_cast<uint64_t>(count) + per_block - 1) / per_block;
    constexpr uint64_t kBlocksPerUnit = 64;
    const uint64_t most =
        std::min<uint64_t>(static_cast<uint64_t>(state_->units) * kBlocksPerUnit, kMostBlocks);
    return std::clamp<uint64_t>(wanted, 1, most);
  }

  const std::shared_ptr<DeviceState> state_;
};

inline uint32_t number(DType type) noexcept { return static_cast<uint32_t>(type); }
inline bool is_floating(DType type) noexcept { return type >= DType::Float16 && type <= DType::Float64; }
inline bool is_signed(DType type) noexcept { return type >= DType::Int8 && type <= DType::Int64; }
inline bool is_integer(DType type) noexcept { return type >= DType::Int8 && type <= DType::UInt64; }

// "f32": the suffix that formulas and modules have.
const char* suffix(DType type) noexcept;
// The class of types that computes for a type: "i64", "u64" (bool too), "f32" (float16 and bfloat16 too),
// "f64".
const char* class_of(DType type) noexcept;

// Dimensions [first, first + count) of the iteration space.
Space space_of(const LaunchArgs& args, uint32_t first, uint32_t count) noexcept;
inline Space space_of(const LaunchArgs& args) noexcept { return space_of(args, 0, args.rank); }

// The operand's address and its strides of dimensions [first, first + count).
View view_of(const Operand& operand, uint32_t first, uint32_t count) noexcept;

// Whether element i of the space is element i in memory; whether every point has the same element.
bool is_contiguous(const Space& space, const View& view) noexcept;
bool is_one(const Space& space, const View& view) noexcept;

inline bool is_aligned(uint64_t address, uint64_t to = 16) noexcept { return address % to == 0; }
inline uint64_t round_up(uint64_t value, uint64_t to) noexcept { return (value + to - 1) / to * to; }

// An operand in the workspace, contiguous over a space.
Operand scratch_operand(const LaunchArgs& args, uint64_t offset, const Space& space) noexcept;
inline uint64_t scratch_address(const LaunchArgs& args, uint64_t offset) noexcept {
  return args.workspace == nullptr ? 0 : args.workspace->address() + args.workspace_offset + offset;
}

// A scalar as an element of a type has it in memory.
uint64_t memory_bits(DType type, plugin::Scalar scalar) noexcept;
// A scalar as program.cu's slots have it: float16 and bfloat16 as float32.
uint64_t slot_bits(DType type, plugin::Scalar scalar) noexcept;

}  // namespace backplane::cuda::families

#endif  // BACKPLANE_PLUGINS_CUDA_FAMILIES_LAUNCH_H_
