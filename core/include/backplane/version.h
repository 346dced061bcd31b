// SPDX-License-Identifier: Apache-2.0
//
// The version of the runtime that the program runs with. Safe from any thread, at any time.
#ifndef BACKPLANE_VERSION_H_
#define BACKPLANE_VERSION_H_

#include "backplane/export.h"

namespace backplane::inline v0 {

// "MAJOR.MINOR.PATCH", by the rules of SemVer. Never null; lives as long as the process.
BACKPLANE_API const char* version() noexcept;

}  // namespace backplane::inline v0

#endif  // BACKPLANE_VERSION_H_
