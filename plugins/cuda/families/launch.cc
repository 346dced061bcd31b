// SPDX-License-Identifier: Apache-2.0
#include "launch.h"

#include <cstring>

#include "backplane/kernels/scalar.h"

namespace backplane::cuda::families {
namespace {

constexpr const char* kSuffixes[plugin::kDTypeCount] = {"bool", "i8",  "i16", "i32",  "i64", "u8", "u16",
                                                        "u32",  "u64", "f16", "bf16", "f32", "f64"};

uint64_t bits_of(float value) noexcept {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

uint64_t bits_of(double value) noexcept {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace

const char* suffix(DType type) noexcept { return kSuffixes[number(type)]; }

const char* class_of(DType type) noexcept {
  if (is_signed(type)) return "i64";
  if (!is_floating(type)) return "u64";
  return type == DType::Float64 ? "f64" : "f32";
}

Space space_of(const LaunchArgs& args, uint32_t first, uint32_t count) noexcept {
  Space space{};
  space.rank = count;
  space.count = 1;
  for (uint32_t d = 0; d < count; ++d) {
    space.shape[d] = args.shape[first + d];
    space.count *= space.shape[d];
  }
  space.narrow = space.count <= INT32_MAX ? 1 : 0;
  return space;
}

View view_of(const Operand& operand, uint32_t first, uint32_t count) noexcept {
  View view{};
  view.address = operand.address;
  for (uint32_t d = 0; d < count; ++d) view.strides[d] = operand.strides[first + d];
  return view;
}

bool is_contiguous(const Space& space, const View& view) noexcept {
  int64_t expected = 1;
  for (uint32_t d = space.rank; d-- > 0;) {
    if (space.shape[d] != 1 && view.strides[d] != expected) return false;
    expected *= space.shape[d];
  }
  return true;
}

bool is_one(const Space& space, const View& view) noexcept {
  for (uint32_t d = 0; d < space.rank; ++d)
    if (space.shape[d] != 1 && view.strides[d] != 0) return false;
  return true;
}

Operand scratch_operand(const LaunchArgs& args, uint64_t offset, const Space& space) noexcept {
  Operand operand{};
  operand.buffer = args.workspace;
  operand.offset = args.workspace_offset + offset;
  operand.address = scratch_address(args, offset);
  int64_t stride = 1;
  for (uint32_t d = space.rank; d-- > 0;) {
    operand.strides[d] = stride;
    stride *= space.shape[d];
  }
  return operand;
}

uint64_t slot_bits(DType type, plugin::Scalar scalar) noexcept {
  switch (type) {
    case DType::Float16:
      return bits_of(bp_cast_f64_f16(scalar.f));
    case DType::BFloat16:
      return bits_of(bp_cast_f64_bf16(scalar.f));
    case DType::Float32:
      return bits_of(static_cast<float>(scalar.f));
    case DType::Float64:
      return bits_of(scalar.f);
    default:
      return scalar.u;
  }
}

uint64_t memory_bits(DType type, plugin::Scalar scalar) noexcept {
  if (type == DType::Float16) return bp_store_f16(bp_cast_f64_f16(scalar.f));
  if (type == DType::BFloat16) return bp_store_bf16(bp_cast_f64_bf16(scalar.f));
  return slot_bits(type, scalar);
}

}  // namespace backplane::cuda::families
