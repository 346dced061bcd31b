// SPDX-License-Identifier: Apache-2.0
// Branches, calls, returns, barriers, and the instructions at which lanes of a warp wait for each other.
#pragma once

#include "exec/warp.h"

namespace cuda_double {

// Runs the instruction that ends a basic block, warp.pc being its index.
void run_control(Warp& warp, const Instr& instr);

// No group of the warp is ready: lets those go on that have nobody left to wait for. True where one can run
// now. Faults where the lanes of the warp wait for each other in vain.
bool resolve_waiting(Warp& warp);

}  // namespace cuda_double
