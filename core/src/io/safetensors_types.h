// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_SRC_IO_SAFETENSORS_TYPES_H_
#define BACKPLANE_SRC_IO_SAFETENSORS_TYPES_H_

#include <string_view>

#include "backplane/dtype.h"

namespace backplane::internal {

struct SafetensorsType {
  std::string_view name;
  DType type;
};

inline constexpr SafetensorsType kSafetensorsTypes[] = {
    {"BOOL", DType::Bool},   {"I8", DType::Int8},     {"I16", DType::Int16},     {"I32", DType::Int32},
    {"I64", DType::Int64},   {"U8", DType::UInt8},    {"U16", DType::UInt16},    {"U32", DType::UInt32},
    {"U64", DType::UInt64},  {"F16", DType::Float16}, {"BF16", DType::BFloat16}, {"F32", DType::Float32},
    {"F64", DType::Float64},
};

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_IO_SAFETENSORS_TYPES_H_
