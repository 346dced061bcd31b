// SPDX-License-Identifier: Apache-2.0
#include "ptx/types.h"

namespace cuda_double {
namespace {

constexpr TypeInfo kTypes[] = {
    {"", 0, TypeKind::kNone},        {"pred", 8, TypeKind::kPred},    {"b8", 1, TypeKind::kBits},
    {"b16", 2, TypeKind::kBits},     {"b32", 4, TypeKind::kBits},     {"b64", 8, TypeKind::kBits},
    {"b128", 16, TypeKind::kBits},   {"u8", 1, TypeKind::kUnsigned},  {"u16", 2, TypeKind::kUnsigned},
    {"u32", 4, TypeKind::kUnsigned}, {"u64", 8, TypeKind::kUnsigned}, {"s8", 1, TypeKind::kSigned},
    {"s16", 2, TypeKind::kSigned},   {"s32", 4, TypeKind::kSigned},   {"s64", 8, TypeKind::kSigned},
    {"f16", 2, TypeKind::kFloat},    {"bf16", 2, TypeKind::kFloat},   {"f32", 4, TypeKind::kFloat},
    {"f64", 8, TypeKind::kFloat},    {"f16x2", 4, TypeKind::kPacked}, {"bf16x2", 4, TypeKind::kPacked},
};

}  // namespace

const TypeInfo& info(Type type) { return kTypes[static_cast<int>(type)]; }

Type type_by_name(std::string_view name) {
  if (name.empty()) return Type::kNone;
  for (int i = 1; i < static_cast<int>(std::size(kTypes)); ++i) {
    if (kTypes[i].name == name) return static_cast<Type>(i);
  }
  return Type::kNone;
}

}  // namespace cuda_double
