// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "exec/program.h"

namespace cuda_double {

// The functions that a driver supplies: vprintf and __assertfail. Null for another name.
Builtin find_builtin(std::string_view name);

}  // namespace cuda_double
