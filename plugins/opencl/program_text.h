// SPDX-License-Identifier: Apache-2.0
//
// Elementwise programs as OpenCL C: one statement an instruction, each a call of the shared formula.
#ifndef BACKPLANE_PLUGINS_OPENCL_PROGRAM_TEXT_H_
#define BACKPLANE_PLUGINS_OPENCL_PROGRAM_TEXT_H_

#include <functional>
#include <string>
#include <vector>

#include "opencl/types.h"

namespace backplane::opencl {

// Ok; Unimplemented for an operation or type that this device lacks; InvalidArgument for a malformed program.
Status check_program(const Facts& facts, const plugin::Program& program);

// The type of what stands in a slot, and of output `index`.
plugin::DType slot_type(const plugin::Program& program, uint8_t slot);
plugin::DType output_type(const plugin::Program& program, uint32_t index);

// Whether the program stores its input 0 as it is, and nothing else.
bool is_identity(const plugin::Program& program);

// Where a program's text finds its arguments. Names it makes start with `prefix`.
struct ProgramNames {
  std::string prefix;                           // "e"
  std::function<std::string(uint32_t)> input;   // a value's text; evaluated once an input
  std::function<std::string(uint32_t)> scalar;  // a scalar parameter's name
  std::string index;                            // of iota: a bp_i64; may be empty where none occurs
};

// Statements that compute the program's outputs; `outputs` are then their values' texts.
std::string program_text(const plugin::Program& program, const ProgramNames& names,
                         std::vector<std::string>* outputs);

// ", bp_f32 s0, bp_i64 s1" for the program's scalars, named by `names`.
std::string scalar_parameters(const plugin::Program& program, const ProgramNames& names);

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_PROGRAM_TEXT_H_
