// SPDX-License-Identifier: Apache-2.0
#include "backplane/scalar.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "backplane/error.h"

namespace backplane::inline v0 {
namespace {

// The bounds of an integer type; those of bool are not used.
int64_t lowest(DType type) { return is_signed_integer(type) ? INT64_MIN >> (64 - 8 * size_of(type)) : 0; }
uint64_t highest(DType type) {
  return UINT64_MAX >> (64 - 8 * size_of(type) + (is_signed_integer(type) ? 1 : 0));
}

[[noreturn]] void does_not_fit(const std::string& value, DType type) {
  throw Error(ErrorCode::InvalidArgument, fmt::format("{} does not fit {}", value, to_string(type)));
}

plugin::Scalar signed_as(int64_t value, DType type) {
  if (value < lowest(type) || (value > 0 && static_cast<uint64_t>(value) > highest(type)))
    does_not_fit(std::to_string(value), type);
  plugin::Scalar raw{};
  raw.i = value;
  return raw;
}

plugin::Scalar unsigned_as(uint64_t value, DType type) {
  if (value > highest(type)) does_not_fit(std::to_string(value), type);
  plugin::Scalar raw{};
  raw.u = value;
  return raw;
}

}  // namespace

plugin::Scalar Scalar::as(DType type) const {
  plugin::Scalar raw{};
  if (is_floating(type)) {
    raw.f = to_double();
  } else if (type == DType::Bool) {
    raw.u = kind_ == Kind::Floating ? value_.f != 0 : value_.u != 0;
  } else if (kind_ == Kind::Floating) {
    const double truncated = std::trunc(value_.f);
    if (!(truncated >= static_cast<double>(lowest(type)) &&
          truncated <= static_cast<double>(highest(type))) ||
        truncated == 0x1p63 || truncated == 0x1p64)
      if (!(truncated == 0x1p63 && type == DType::UInt64)) does_not_fit(fmt::format("{}", value_.f), type);
    return truncated < 0 ? signed_as(static_cast<int64_t>(truncated), type)
                         : unsigned_as(static_cast<uint64_t>(truncated), type);
  } else {
    return kind_ == Kind::Signed ? signed_as(value_.i, type) : unsigned_as(value_.u, type);
  }
  return raw;
}

}  // namespace backplane::inline v0
