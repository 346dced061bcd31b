// SPDX-License-Identifier: Apache-2.0
//
// Element types as the generated OpenCL C spells them.
#ifndef BACKPLANE_PLUGINS_OPENCL_TYPES_H_
#define BACKPLANE_PLUGINS_OPENCL_TYPES_H_

#include <string>

#include "opencl/facts.h"

namespace backplane::opencl {

struct TypeRow {
  const char* suffix;  // of the shared formulas: bp_add_f32
  const char* memory;  // as it lies in memory
  const char* value;   // as it is computed with: float16 and bfloat16 as the float32 of the same value
  uint32_t value_size;
  bool converts;  // whether bp_load_ and bp_store_ lie between the two
};

const TypeRow& type_row(plugin::DType type) noexcept;

// "p[i]" as a value, and the statement that stores a value there.
std::string load_text(plugin::DType type, const std::string& place);
std::string store_text(plugin::DType type, const std::string& place, const std::string& value);
std::string cast_text(plugin::DType from, plugin::DType to, const std::string& value);

// Ok, or why this device has no such type.
Status check_type(const Facts& facts, plugin::DType type) noexcept;

bool is_floating(plugin::DType type) noexcept;
bool is_signed_integer(plugin::DType type) noexcept;

// A scalar of the boundary as a kernel argument of its type's value; how many bytes count.
struct ScalarBytes {
  unsigned char bytes[8];
  size_t size;
};
ScalarBytes scalar_bytes(plugin::DType type, plugin::Scalar scalar) noexcept;

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_TYPES_H_
