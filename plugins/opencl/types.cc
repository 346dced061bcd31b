// SPDX-License-Identifier: Apache-2.0
#include "opencl/types.h"

#include <cstring>

#include "backplane/kernels/scalar.h"

namespace backplane::opencl {

using plugin::DType;

namespace {

constexpr TypeRow kTypes[plugin::kDTypeCount] = {
    {"bool", "uchar", "bp_bool", 1, false}, {"i8", "char", "bp_i8", 1, false},
    {"i16", "short", "bp_i16", 2, false},   {"i32", "int", "bp_i32", 4, false},
    {"i64", "long", "bp_i64", 8, false},    {"u8", "uchar", "bp_u8", 1, false},
    {"u16", "ushort", "bp_u16", 2, false},  {"u32", "uint", "bp_u32", 4, false},
    {"u64", "ulong", "bp_u64", 8, false},   {"f16", "ushort", "bp_f32", 4, true},
    {"bf16", "ushort", "bp_f32", 4, true},  {"f32", "float", "bp_f32", 4, false},
    {"f64", "double", "bp_f64", 8, false},
};

template <typename T>
ScalarBytes bytes_of(T value) noexcept {
  ScalarBytes result{};
  std::memcpy(result.bytes, &value, sizeof value);
  result.size = sizeof value;
  return result;
}

}  // namespace

const TypeRow& type_row(DType type) noexcept { return kTypes[static_cast<size_t>(type)]; }

bool is_floating(DType type) noexcept { return type >= DType::Float16; }
bool is_signed_integer(DType type) noexcept { return type >= DType::Int8 && type <= DType::Int64; }

std::string load_text(DType type, const std::string& place) {
  const TypeRow& row = type_row(type);
  return row.converts ? std::string("bp_load_") + row.suffix + "(" + place + ")" : place;
}

std::string store_text(DType type, const std::string& place, const std::string& value) {
  const TypeRow& row = type_row(type);
  return place + " = " + (row.converts ? std::string("bp_store_") + row.suffix + "(" + value + ")" : value) +
         ";";
}

std::string cast_text(DType from, DType to, const std::string& value) {
  if (from == to) return value;
  return std::string("bp_cast_") + type_row(from).suffix + "_" + type_row(to).suffix + "(" + value + ")";
}

Status check_type(const Facts& facts, DType type) noexcept {
  if (static_cast<uint32_t>(type) >= plugin::kDTypeCount)
    return plugin::make_status(StatusCode::Unimplemented, 0, "element type %u is not known to this plugin",
                               static_cast<unsigned>(type));
  if (type == DType::Float64 && !facts.has_float64)
    return plugin::make_status(StatusCode::Unimplemented, 0, "this device has no float64");
  return kOk;
}

ScalarBytes scalar_bytes(DType type, plugin::Scalar scalar) noexcept {
  switch (type) {
    case DType::Float16:
      return bytes_of(bp_cast_f64_f16(scalar.f));
    case DType::BFloat16:
      return bytes_of(bp_cast_f64_bf16(scalar.f));
    case DType::Float32:
      return bytes_of(static_cast<float>(scalar.f));
    case DType::Float64:
      return bytes_of(scalar.f);
    default: {
      // Two's complement, little endian: the low bytes are the narrower number.
      ScalarBytes result = bytes_of(scalar.u);
      result.size = type_row(type).value_size;
      return result;
    }
  }
}

}  // namespace backplane::opencl
