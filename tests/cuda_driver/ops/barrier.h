// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exec/warp.h"

namespace cuda_double {

// The current group arrives at the block's barrier that `instr` names.
void arrive(Warp& warp, const Instr& instr);

}  // namespace cuda_double
