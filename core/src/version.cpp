// SPDX-License-Identifier: Apache-2.0
#include "backplane/version.h"

namespace backplane {

const char* version() noexcept { return BACKPLANE_VERSION; }

}  // namespace backplane
