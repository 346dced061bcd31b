// SPDX-License-Identifier: Apache-2.0
#include "backplane/version.h"

namespace backplane::inline v0 {

const char* version() noexcept { return BACKPLANE_VERSION; }

}  // namespace backplane::inline v0
