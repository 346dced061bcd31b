// SPDX-License-Identifier: Apache-2.0
//
// Elementwise programs as the other families use them: checked and translated once, then run over tiles.
// Implemented beside the elementwise family, for every instruction set.
#ifndef BACKPLANE_CPU_PROGRAM_H_
#define BACKPLANE_CPU_PROGRAM_H_

#include <cstdint>
#include <memory>

#include "backplane/plugin/kernels.h"
#include "backplane/plugin/types.h"

namespace backplane::cpu {

// Ok; Unimplemented for an operation id this plugin does not know; InvalidArgument for a malformed program (a
// slot that does not exist or comes later, a type or arity that scalar_ops.def rules out), with words that
// say which.
plugin::Status check_program(const plugin::Program& program) noexcept;

// A program that passed check_program, translated into vector loops of the active instruction set. Immutable.
class CompiledProgram;

struct DeleteCompiledProgram {
  void operator()(CompiledProgram* program) const noexcept;
};
using CompiledProgramPtr = std::unique_ptr<CompiledProgram, DeleteCompiledProgram>;

// Throws std::bad_alloc. `program` is copied.
CompiledProgramPtr compile_program(const plugin::Program& program);

// Runs the program on `n` >= 0 points, any number (it works in tiles that stay in the first-level cache), in
// the calling thread, with no allocation and no lock. Input i's point p is at inputs[i] + p *
// input_strides[i] elements; a stride may be 0 or negative. Output o's points are contiguous at outputs[o],
// which may be exactly an input whose stride is 1 and whose element size is the same, and otherwise overlaps
// none. Addresses are element-aligned. `first` is the index of the first point, for `iota`. The caller has
// set the floating-point state (FloatingPointGuard).
void run_program_tile(const CompiledProgram& program, const void* const* inputs, const int64_t* input_strides,
                      const plugin::Scalar* scalars, void* const* outputs, int64_t n, int64_t first) noexcept;

// The type of what output `index` stores.
plugin::DType output_type(const plugin::Program& program, uint32_t index) noexcept;

// Whether the program stores its input 0 unchanged, as the only output.
inline bool is_identity(const plugin::Program& program) noexcept {
  if (program.output_count != 1 || program.input_count == 0) return false;
  if (program.outputs[0] == 0) return true;
  const plugin::Instruction& only = program.instructions[0];
  return program.instruction_count == 1 && program.outputs[0] == plugin::kResultSlot &&
         only.op == plugin::ScalarOp::positive && only.args[0] == 0 && only.result == program.input_types[0];
}

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_PROGRAM_H_
