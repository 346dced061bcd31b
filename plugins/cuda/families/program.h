// SPDX-License-Identifier: Apache-2.0
//
// Elementwise programs: whether they are well formed, and what types their slots have.
#ifndef BACKPLANE_PLUGINS_CUDA_FAMILIES_PROGRAM_H_
#define BACKPLANE_PLUGINS_CUDA_FAMILIES_PROGRAM_H_

#include "error.h"

namespace backplane::cuda::families {

enum class Domain : uint8_t { Any, Number, Integer, Floating, Logical };
enum class Result : uint8_t { Same, Truth, Free };

struct OpInfo {
  uint16_t op;
  const char* name;
  uint8_t arity;
  Domain domain;
  Result result;
};

// Null for a number that scalar_ops.def does not have.
const OpInfo* find_op(plugin::ScalarOp op) noexcept;

// The type of a slot of a program that is well formed up to it.
plugin::DType slot_type(const plugin::Program& program, uint8_t slot) noexcept;

// Ok; Unimplemented for an operation unknown here; InvalidArgument for what scalar_ops.def does not allow.
Status check_program(const plugin::Program& program) noexcept;

// Whether the program only hands its first input on, or only casts it (then to `*type`).
bool is_identity(const plugin::Program& program, plugin::DType* type) noexcept;

// The kind of a descriptor that runs `program` over operands of any layout.
plugin::KernelDesc elementwise_desc(const plugin::Program& program) noexcept;

}  // namespace backplane::cuda::families

#endif  // BACKPLANE_PLUGINS_CUDA_FAMILIES_PROGRAM_H_
