// SPDX-License-Identifier: Apache-2.0
//
// Values as unsigned numbers in the same order: NaN of either sign is the greatest of all, and -0 equals +0.
#ifndef BACKPLANE_CPU_SORT_KEYS_H_
#define BACKPLANE_CPU_SORT_KEYS_H_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "backplane/plugin/types.h"

namespace backplane::cpu {

enum class KeyKind { Unsigned, Signed, Floating };

// `Bits` is the unsigned type of the value's width; kFractionBits counts a floating type's bits below its
// exponent.
template <typename BitsType, KeyKind kKind, int kFractionBits = 0>
struct KeyType {
  using Bits = BitsType;
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  static constexpr Bits kMost = std::numeric_limits<Bits>::max();
  // Magnitudes above that of infinity are NaN.
  static constexpr Bits kInfinity = static_cast<Bits>((kSign - 1) >> kFractionBits << kFractionBits);

  static constexpr bool is_nan(Bits bits) {
    return kKind == KeyKind::Floating && static_cast<Bits>(bits & ~kSign) > kInfinity;
  }

  static constexpr Bits key(Bits bits) {
    if constexpr (kKind == KeyKind::Unsigned) return bits;
    if constexpr (kKind == KeyKind::Signed) return static_cast<Bits>(bits ^ kSign);
    if (is_nan(bits)) return kMost;
    if (bits == kSign) return kSign;
    return static_cast<Bits>((bits & kSign) != 0 ? ~bits : bits | kSign);
  }

  // The greatest first; NaN stays last. No number has the key 0.
  static constexpr Bits descending_key(Bits bits) {
    return is_nan(bits) ? kMost : static_cast<Bits>(~key(bits));
  }
};

// Calls function(KeyType<...>{}) with the type's.
template <typename Function>
auto with_key_type(plugin::DType type, const Function& function) {
  using plugin::DType;
  switch (type) {
    case DType::Int8:
      return function(KeyType<uint8_t, KeyKind::Signed>{});
    case DType::Int16:
      return function(KeyType<uint16_t, KeyKind::Signed>{});
    case DType::Int32:
      return function(KeyType<uint32_t, KeyKind::Signed>{});
    case DType::Int64:
      return function(KeyType<uint64_t, KeyKind::Signed>{});
    case DType::UInt16:
      return function(KeyType<uint16_t, KeyKind::Unsigned>{});
    case DType::UInt32:
      return function(KeyType<uint32_t, KeyKind::Unsigned>{});
    case DType::UInt64:
      return function(KeyType<uint64_t, KeyKind::Unsigned>{});
    case DType::Float16:
      return function(KeyType<uint16_t, KeyKind::Floating, 10>{});
    case DType::BFloat16:
      return function(KeyType<uint16_t, KeyKind::Floating, 7>{});
    case DType::Float32:
      return function(KeyType<uint32_t, KeyKind::Floating, 23>{});
    case DType::Float64:
      return function(KeyType<uint64_t, KeyKind::Floating, 52>{});
    default:
      return function(KeyType<uint8_t, KeyKind::Unsigned>{});
  }
}

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_SORT_KEYS_H_
