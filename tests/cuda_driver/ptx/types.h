// SPDX-License-Identifier: Apache-2.0
// The scalar types and state spaces of PTX, as tables.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cuda_double {

enum class Type : uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kF16x2,
  kBF16x2,
};

enum class TypeKind : uint8_t { kNone, kPred, kBits, kUnsigned, kSigned, kFloat, kPacked };

struct TypeInfo {
  std::string_view name;  // as written in PTX, without the dot
  uint8_t size;           // bytes
  TypeKind kind;
};

const TypeInfo& info(Type type);
// kNone where `name` (without the dot) is no type.
Type type_by_name(std::string_view name);

enum class Space : uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam };

// What is wrong with a PTX text, and in which line of it.
class PtxError : public std::runtime_error {
 public:
  PtxError(uint32_t line, const std::string& message)
      : std::runtime_error("line " + std::to_string(line) + ": " + message), line_(line) {}
  uint32_t line() const { return line_; }

 private:
  uint32_t line_;
};

}  // namespace cuda_double
