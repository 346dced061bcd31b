// SPDX-License-Identifier: Apache-2.0
// The random family: the streams of kernels/random.h. Every element depends on its own place in the stream
// alone.
#include <algorithm>

#include "backplane/plugin/base.h"
#include "cpu/compiled_program.h"
#include "cpu/families.h"
#include "cpu/kernel.h"
#include "cpu/move_bytes.h"
#include "cpu/vector_random.h"

namespace backplane::cpu {
namespace {

using plugin::DType;
using plugin::make_status;
using plugin::RandomOp;
using plugin::Status;
using plugin::StatusCode;

// Elements that a tile makes at once: a whole number of blocks for either number of words.
constexpr int64_t kTile = 1024;
// Tiles that take some 8 us.
constexpr int64_t kGrainTiles = 6;

class RandomKernel final : public CpuKernel {
 public:
  RandomKernel(CpuDevice& device, RandomOp op, DType type)
      : CpuKernel(device),
        op_(op),
        type_(type),
        words_(type == DType::Float64 || type == DType::UInt64 || op == RandomOp::Integers ? 2 : 1) {}

  Status run(const plugin::LaunchArgs& args) const override {
    const uint32_t needed = op_ == RandomOp::Bits ? 0 : 2;
    if (args.operand_count != 1 || args.scalar_count < needed) {
      return make_status(StatusCode::InvalidArgument, 0,
                         "%s: %u operands and %u scalars; 1 and %u are needed", args.label,
                         args.operand_count, args.scalar_count, needed);
    }
    const int64_t n = args.rank == 0 ? 1 : args.shape[0];
    const int log2 = memory_log2(type_);
    char* const out = operand_pointer(args, 0);
    const bool streaming = (n << log2) >= streaming_threshold_bytes();
    threads().loop((n + kTile - 1) / kTile, kGrainTiles, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        run_tile(args, i, std::min(kTile, n - i * kTile), out + (i * kTile << log2), streaming);
      }
      if (streaming) active_stride_loops().fence();
    });
    return plugin::kOk;
  }

 private:
  void run_tile(const plugin::LaunchArgs& args, int64_t tile, int64_t n, char* out, bool streaming) const {
    alignas(64) uint32_t words[2 * kTile];
    alignas(64) char registers[8 * kTile];
    alignas(64) char elements[2 * kTile];
    const int64_t blocks_per_tile = kTile * words_ / 4;
    const uint64_t first = args.block_offset + static_cast<uint64_t>(tile * blocks_per_tile);
    active_random_loops().draw(words, args.seed, first, (n * words_ + 3) / 4);
    const void* made = words;
    if (op_ != RandomOp::Bits) {
      make(args, words, registers, n);
      made = registers;
    }
    const int64_t bytes = n << memory_log2(type_);
    if (const MapFunction narrow = active_convert_loops().store[static_cast<int>(type_)]) {
      narrow(elements, made, n);
      made = elements;
    }
    if (streaming) {
      active_stride_loops().stream(out, made, bytes);
    } else {
      std::copy_n(static_cast<const char*>(made), bytes, out);
    }
  }

  void make(const plugin::LaunchArgs& args, const uint32_t* words, void* out, int64_t n) const {
    const RandomTable& table = active_random_loops();
    const int type = static_cast<int>(type_);
    if (op_ == RandomOp::Integers) {
      table.integers[type](out, words, args.scalars[0].u, args.scalars[1].u, n);
      return;
    }
    const uint64_t first = scalar_register(type_, args.scalars[0]);
    const uint64_t second = scalar_register(type_, args.scalars[1]);
    (op_ == RandomOp::Uniform ? table.uniform : table.normal)[type](out, words, &first, &second, n);
  }

  const RandomOp op_;
  const DType type_;
  const int64_t words_;
};

}  // namespace

Status supports_random(const CpuDevice&, const plugin::KernelDesc& desc) {
  const DType type = desc.types[0];
  const bool floating = type >= DType::Float16 && type <= DType::Float64;
  const bool integer = type >= DType::Int8 && type <= DType::UInt64;
  bool offered = false;
  switch (static_cast<RandomOp>(desc.op)) {
    case RandomOp::Bits:
      offered = type == DType::UInt32 || type == DType::UInt64;
      break;
    case RandomOp::Uniform:
    case RandomOp::Normal:
      offered = floating;
      break;
    case RandomOp::Integers:
      offered = integer;
      break;
  }
  if (offered) return plugin::kOk;
  return make_status(StatusCode::Unimplemented, 0, "random: operation %d on type %d", desc.op,
                     static_cast<int>(type));
}

Status create_random(CpuDevice& device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  *kernel = new RandomKernel(device, static_cast<RandomOp>(desc.op), desc.types[0]);
  return plugin::kOk;
}

}  // namespace backplane::cpu
