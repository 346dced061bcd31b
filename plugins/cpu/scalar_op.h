// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_CPU_SCALAR_OP_H_
#define BACKPLANE_CPU_SCALAR_OP_H_

#include <cstdint>

#include "backplane/plugin/kernels.h"

namespace backplane::cpu {

// What scalar_ops.def says of an operation.
enum class OpDomain : uint8_t { Any, Number, Integer, Floating, Logical };
enum class OpResult : uint8_t { Same, Truth, Free };

struct ScalarOpRow {
  plugin::ScalarOp op;
  const char* name;
  int arity;
  OpDomain domain;
  OpResult result;
};

// Null for an operation that this plugin is too old to know.
const ScalarOpRow* find_scalar_op(plugin::ScalarOp op) noexcept;

// The type of what stands in a slot; the slot exists.
plugin::DType slot_type(const plugin::Program& program, uint8_t slot) noexcept;

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_SCALAR_OP_H_
