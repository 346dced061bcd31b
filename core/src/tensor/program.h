// SPDX-License-Identifier: Apache-2.0
//
// Building elementwise programs over tensors and running them: every elementwise operator, conversion, fill
// and fused expression ends here. The builder checks devices, broadcasts shapes, makes the result, and keeps
// results that overlap their operands right.
#ifndef BACKPLANE_SRC_TENSOR_PROGRAM_H_
#define BACKPLANE_SRC_TENSOR_PROGRAM_H_

#include <array>

#include <span>

#include "backplane/plugin/kernels.h"
#include "stream/launch.h"
#include "tensor/tensor_impl.h"

namespace backplane::internal {

using plugin::ScalarOp;

// A value in a program: where it is found, and its type.
struct Value {
  uint8_t slot = 0;
  DType type = DType::Float32;
};

// The number as an element of `type`. InvalidArgument, naming the operator, when that cannot hold it.
plugin::Scalar element_of(Scalar number, DType type, const char* label);

// A plugin::Program under construction, with no tensors attached. InvalidArgument when it grows beyond the
// boundary's limits.
class ProgramWriter {
 public:
  explicit ProgramWriter(const char* label) noexcept : label_(label) {}

  Value input(DType type);
  Value scalar(DType type, plugin::Scalar value);
  Value number(DType type, Scalar value) { return scalar(type, element_of(value, type, label_)); }
  Value apply(ScalarOp op, DType result, Value a = {}, Value b = {}, Value c = {});
  Value cast(Value value, DType type) {
    return value.type == type ? value : apply(ScalarOp::cast, type, value);
  }
  void output(Value value);

  const plugin::Program& program() const noexcept { return program_; }
  const std::array<plugin::Scalar, plugin::kMaxScalars>& scalars() const noexcept { return scalars_; }
  const char* label() const noexcept { return label_; }

 private:
  const char* label_;
  plugin::Program program_{};
  std::array<plugin::Scalar, plugin::kMaxScalars> scalars_;
};

// A program with its tensors.
class TensorProgram : public ProgramWriter {
 public:
  using ProgramWriter::ProgramWriter;

  // Operands must share a device. The tensor outlives the program.
  Value input(const TensorImpl& tensor);

  bool has_device() const noexcept { return program().input_count > 0; }
  DeviceState& device() const noexcept { return inputs_[0]->device(); }

  // Runs the program, whose last output() is its result, over the broadcast shape of its inputs: into a new
  // tensor, or into `result`, whose shape that must be and whose type the value is converted to.
  Tensor run(Value value);
  void run_into(const TensorImpl& result, Value value);

 private:
  void widen(const TensorImpl& tensor);  // shape_ by an input's
  void launch(const TensorImpl& result);

  std::array<const TensorImpl*, plugin::kMaxInputs> inputs_;
  Shape shape_;
};

// Runs a finished descriptor over operands of one shape: outputs first. Used by TensorProgram and by callers
// that found their kernel by table.
void launch_elementwise(Launch& launch, std::span<const TensorImpl* const> operands, const Shape& shape,
                        const plugin::Program& program);

// A conversion into a tensor of equal shape on the same device.
void convert_into(const TensorImpl& result, const TensorImpl& source, const char* label);

// Every element becomes the value.
void fill_with(const TensorImpl& result, Scalar value, const char* label);

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_TENSOR_PROGRAM_H_
