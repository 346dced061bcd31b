// SPDX-License-Identifier: Apache-2.0
//
// The one exception that Backplane throws at host programs.
#ifndef BACKPLANE_ERROR_H_
#define BACKPLANE_ERROR_H_

#include <stdexcept>
#include <string>

#include "backplane/export.h"
#include "backplane/plugin/types.h"

namespace backplane::inline v0 {

using ErrorCode = plugin::StatusCode;

// "InvalidArgument", "OutOfMemory", ...; never null.
BACKPLANE_API const char* to_string(ErrorCode code) noexcept;

// Carries a code to act on and a message that names the operator, the shapes, types and devices in play.
// After an Error the arguments of the failed call are as they were, and the runtime works on.
class BACKPLANE_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message, int vendor_code = 0)
      : std::runtime_error(message), code_(code), vendor_code_(vendor_code) {}
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  ~Error() override;

  ErrorCode code() const noexcept { return code_; }

  // The driver's own number, 0 if there is none.
  int vendor_code() const noexcept { return vendor_code_; }

 private:
  ErrorCode code_;
  int vendor_code_;
};

}  // namespace backplane::inline v0

#endif  // BACKPLANE_ERROR_H_
