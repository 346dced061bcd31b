// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_CPU_ELEMENTWISE_BLOCKS_H_
#define BACKPLANE_CPU_ELEMENTWISE_BLOCKS_H_

#include "cpu/compiled_program.h"
#include "cpu/iteration.h"
#include "cpu/parallel.h"

namespace backplane::cpu {

inline constexpr int kMostOperands = plugin::kMaxOutputs + plugin::kMaxInputs;
using ProgramSpace = Space<kMostOperands>;

// Whether rows along the last dimension are too short, or their elements too far apart, to be run one by one.
bool wants_blocks(const ProgramSpace& space, uint32_t operands) noexcept;

// Runs the program over a space of two dimensions or more in blocks of the last two, which are packed into
// cache where they do not lie side by side. `origins` has each operand's address at the space's origin,
// outputs first.
void run_blocks(Threads& threads, const CompiledProgram& program, const ProgramSpace& space,
                char* const* origins, const plugin::Scalar* scalars, int64_t grain);

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_ELEMENTWISE_BLOCKS_H_
