// SPDX-License-Identifier: Apache-2.0
//
// The reduce family as operators use it: a prologue over some inputs, a combination over some axes, an
// epilogue.
#ifndef BACKPLANE_SRC_OPS_REDUCE_H_
#define BACKPLANE_SRC_OPS_REDUCE_H_

#include <functional>
#include <vector>

#include "backplane/ops/reduction.h"
#include "tensor/program.h"

namespace backplane::internal {

// Which of a shape's dimensions are reduced.
struct ReducedAxes {
  uint32_t mask = 0;  // bit i: dimension i
  int rank = 0;
  bool keepdims = false;

  bool reduces(int i) const noexcept { return (mask >> i & 1) != 0; }
  Shape result_shape(const Shape& shape) const;
  Shape kept_shape(const Shape& shape) const;  // as with keepdims
  int64_t count(const Shape& shape) const;     // elements that make one result
};

ReducedAxes resolve_axes(const Axes& axes, const TensorImpl& tensor, bool keepdims, const char* what);

// One launch of the reduce family. `prologue` makes the element to combine from the inputs, in compute_type;
// `epilogue` the result from the combined value and its own inputs. Empty functions hand the value on.
struct Reduction {
  const char* label;
  plugin::ReduceOp op;
  DType compute_type;
  DType result_type;
  std::vector<const TensorImpl*> inputs;  // of the prologue; all broadcast to the shape of the first
  std::function<Value(ProgramWriter&, const std::vector<Value>&)> prologue = {};
  std::vector<const TensorImpl*> epilogue_inputs = {};  // of the kept shape (size 1 in reduced dimensions)
  std::function<Value(ProgramWriter&, Value, const std::vector<Value>&)> epilogue = {};
};

// Into a new tensor of the axes' result shape. There is at least one element to combine for each result.
Tensor reduce(const Reduction& reduction, const ReducedAxes& axes);

// The type in which sums of `type` are combined on a device: 64-bit for integers and bool; float64 for
// float32 where the device has it, so that 2^24 + 1 + 1 + ... comes out right; float32 for narrower floats.
DType accumulate_type(DType type, const DeviceState& device);

// Stores an operator's value into an existing tensor of its shape, converting the type. InvalidArgument,
// naming `what`, where the shape or device differs or the tensor cannot be written.
const Tensor& store_result(const Tensor& result, const Tensor& value, const char* what);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_OPS_REDUCE_H_
