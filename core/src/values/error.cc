// SPDX-License-Identifier: Apache-2.0
#include "backplane/error.h"

#include <cstddef>
#include <iterator>

namespace backplane::inline v0 {
namespace {

constexpr const char* kNames[] = {
    "Ok",          "InvalidArgument", "NotFound",   "Unimplemented",
    "OutOfMemory", "Unavailable",     "DeviceLost", "Internal",
};

}  // namespace

// A newer plugin may know codes that this library does not.
const char* to_string(ErrorCode code) noexcept {
  const auto index = static_cast<size_t>(code);
  return index < std::size(kNames) ? kNames[index] : "Internal";
}

Error::~Error() = default;

}  // namespace backplane::inline v0
