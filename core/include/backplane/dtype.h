// SPDX-License-Identifier: Apache-2.0
//
// Element types: their names, C++ counterparts, and the promotion rules of the Python array API standard
// (2023.12).
#ifndef BACKPLANE_DTYPE_H_
#define BACKPLANE_DTYPE_H_

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

#include "backplane/export.h"
#include "backplane/plugin/types.h"

namespace backplane::inline v0 {

using DType = plugin::DType;
using plugin::size_of;

// The array API's names, usable as values: zeros({2, 3}, int64).
inline constexpr DType boolean = DType::Bool;
inline constexpr DType int8 = DType::Int8;
inline constexpr DType int16 = DType::Int16;
inline constexpr DType int32 = DType::Int32;
inline constexpr DType int64 = DType::Int64;
inline constexpr DType uint8 = DType::UInt8;
inline constexpr DType uint16 = DType::UInt16;
inline constexpr DType uint32 = DType::UInt32;
inline constexpr DType uint64 = DType::UInt64;
inline constexpr DType float16 = DType::Float16;
inline constexpr DType bfloat16 = DType::BFloat16;
inline constexpr DType float32 = DType::Float32;
inline constexpr DType float64 = DType::Float64;

// "bool", "int8", ..., "bfloat16", ...
BACKPLANE_API const char* to_string(DType type) noexcept;
BACKPLANE_API std::optional<DType> dtype_from_string(std::string_view name) noexcept;

constexpr bool is_signed_integer(DType t) noexcept { return t >= DType::Int8 && t <= DType::Int64; }
constexpr bool is_unsigned_integer(DType t) noexcept { return t >= DType::UInt8 && t <= DType::UInt64; }
constexpr bool is_integer(DType t) noexcept { return t >= DType::Int8 && t <= DType::UInt64; }
constexpr bool is_floating(DType t) noexcept { return t >= DType::Float16; }

// The smallest type that holds both: int32 and uint32 give int64; a floating type with an integer or bool
// gives the floating type; float16 with bfloat16 gives float32; uint64 with a signed integer gives float64,
// as in NumPy.
BACKPLANE_API DType promote_types(DType a, DType b) noexcept;

// Two bytes of IEEE binary16, or of the upper half of a binary32. Conversions from float round to nearest,
// ties to even, and keep NaN a NaN.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};
BACKPLANE_API Half to_half(float value) noexcept;
BACKPLANE_API BFloat16 to_bfloat16(float value) noexcept;
BACKPLANE_API float to_float(Half value) noexcept;
inline float to_float(BFloat16 value) noexcept {
  const uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

// The element type that a C++ type is stored as; ill-formed for any other type.
template <typename T>
constexpr DType dtype_of() noexcept {
  if constexpr (std::is_same_v<T, bool>)
    return DType::Bool;
  else if constexpr (std::is_same_v<T, Half>)
    return DType::Float16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return DType::BFloat16;
  else if constexpr (std::is_same_v<T, float>)
    return DType::Float32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::Float64;
  else {
    static_assert(std::is_integral_v<T>, "no element type stores this C++ type");
    constexpr int kLog2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<DType>((std::is_signed_v<T> ? 1 : 5) + kLog2);
  }
}

}  // namespace backplane::inline v0

#endif  // BACKPLANE_DTYPE_H_
