// SPDX-License-Identifier: Apache-2.0
#include "elementwise.h"

#include <string>

#include "kernels/heavy.cuh"
#include "program.h"

namespace backplane::cuda::families {
namespace {

using plugin::Instruction;
using plugin::kResultSlot;
using plugin::kScalarSlot;
using plugin::Program;
using plugin::ScalarOp;

// One operation with one output; no instruction at all hands an input or a scalar on.
struct Single {
  ScalarOp op;
  uint8_t arity;
  uint8_t args[3];
  DType arg_types[3];
  DType result;
  bool truth;
};

bool is_single(const Program& program, Single* single) noexcept {
  if (program.output_count != 1) return false;
  *single = {};
  if (program.instruction_count == 0) {
    single->op = ScalarOp::positive;
    single->arity = 1;
    single->args[0] = program.outputs[0];
  } else {
    const Instruction& only = program.instructions[0];
    if (program.instruction_count != 1 || program.outputs[0] != kResultSlot) return false;
    const OpInfo* info = find_op(only.op);
    single->op = only.op;
    single->arity = info->arity;
    single->truth = info->result == Result::Truth;
    for (uint8_t i = 0; i < info->arity; ++i) single->args[i] = only.args[i];
  }
  for (uint8_t i = 0; i < single->arity; ++i) single->arg_types[i] = slot_type(program, single->args[i]);
  single->result = slot_type(program, program.outputs[0]);
  return true;
}

class SingleKernel final : public Kernel {
 public:
  SingleKernel(std::shared_ptr<DeviceState> state, const Single& single)
      : Kernel(std::move(state)), single_(single) {}

  Status build() override {
    const Names names = choose();
    BACKPLANE_TRY(find(names.module.c_str(), names.strided.c_str(), &strided_));
    if (!names.vector.empty()) BACKPLANE_TRY(find(names.module.c_str(), names.vector.c_str(), &vector_));
    return kOk;
  }

  Status run(Stream& stream, const LaunchArgs& args) override {
    ElementwiseParams params = describe(args);
    const bool vector = vector_ != nullptr && is_vector(params);
    const uint64_t per_thread = vector ? per_thread_ : 1;
    return stream.launch(vector ? vector_ : strided_, blocks(params.space.count, kBlockThreads * per_thread),
                         kBlockThreads, &params);
  }

 private:
  struct Names {
    std::string module, vector, strided;
  };

  Names choose() {
    const DType type = single_.arity > 0 ? single_.arg_types[0] : DType::Int64;
    const uint32_t size = plugin::size_of(type);
    const std::string name = suffix(type);
    if (single_.op == ScalarOp::iota) return {"copy", "", "iota"};
    if (single_.op == ScalarOp::where)
      return {"copy", "", "where_" + std::to_string(8 * plugin::size_of(single_.result))};
    if (single_.op == ScalarOp::cast || single_.op == ScalarOp::positive) {
      per_thread_ = size == 1 ? 8 : 16 / size;
      return {"cast_" + name, "convert", "convert_strided"};
    }
    if (is_heavy(static_cast<int>(single_.op))) return {std::string("heavy_") + class_of(type), "", "heavy"};
    per_thread_ = 16 / size;
    return {"elementwise_" + name, single_.truth ? "truth" : "same",
            single_.truth ? "truth_strided" : "same_strided"};
  }

  Input input(const LaunchArgs& args, const Space& space, uint8_t slot, DType type) const {
    Input in{};
    in.type = number(type);
    if (slot >= kScalarSlot) {
      in.mode = kModeScalar;
      in.bits = memory_bits(type, args.scalars[slot - kScalarSlot]);
      return in;
    }
    in.view = view_of(args.operand(1u + slot), 0, args.rank);
    in.mode = is_one(space, in.view)          ? kModeOne
              : is_contiguous(space, in.view) ? kModeContiguous
                                              : kModeStrided;
    return in;
  }

  ElementwiseParams describe(const LaunchArgs& args) const {
    ElementwiseParams params{};
    params.space = space_of(args);
    params.out = view_of(args.operand(0), 0, args.rank);
    params.out_contiguous = is_contiguous(params.space, params.out) ? 1 : 0;
    params.out_type = number(single_.result);
    params.op = static_cast<uint32_t>(single_.op);
    params.arity = single_.arity;
    params.vector = is_aligned(params.out.address) ? 1 : 0;
    for (uint8_t i = 0; i < single_.arity; ++i) {
      params.in[i] = input(args, params.space, single_.args[i], single_.arg_types[i]);
      if (params.in[i].mode == kModeContiguous && !is_aligned(params.in[i].view.address)) params.vector = 0;
    }
    return params;
  }

  // Whether the kernel for contiguous operands takes these. Casts want their one operand aligned, too.
  bool is_vector(const ElementwiseParams& params) const {
    if (params.out_contiguous == 0) return false;
    for (uint32_t i = 0; i < params.arity; ++i)
      if (params.in[i].mode == kModeStrided) return false;
    const bool moves = single_.op == ScalarOp::cast || single_.op == ScalarOp::positive;
    return !moves || (params.vector != 0 && params.in[0].mode == kModeContiguous);
  }

  const Single single_;
  CUfunction vector_ = nullptr;  // null where the operation has none
  CUfunction strided_ = nullptr;
  uint64_t per_thread_ = 1;
};

class ProgramKernel final : public Kernel {
 public:
  ProgramKernel(std::shared_ptr<DeviceState> state, const Program& program)
      : Kernel(std::move(state)), program_(program) {}
  Status build() override { return find("program", "program", &function_); }
  Status run(Stream& stream, const LaunchArgs& args) override {
    ProgramParams params = program_params(program_, args);
    return stream.launch(function_, blocks(params.space.count), kBlockThreads, &params);
  }

 private:
  const Program program_;
  CUfunction function_ = nullptr;
};

}  // namespace

ProgramParams program_params(const Program& program, const LaunchArgs& args) noexcept {
  ProgramParams params{};
  params.space = space_of(args);
  params.input_count = program.input_count;
  params.output_count = program.output_count;
  params.step_count = program.instruction_count;
  for (uint32_t i = 0; i < program.output_count; ++i) {
    params.outputs[i] = program.outputs[i];
    params.output_types[i] = static_cast<uint8_t>(slot_type(program, program.outputs[i]));
    params.out[i] = view_of(args.operand(i), 0, args.rank);
  }
  for (uint32_t i = 0; i < program.input_count; ++i) {
    params.input_types[i] = static_cast<uint8_t>(program.input_types[i]);
    params.in[i] = view_of(args.operand(program.output_count + i), 0, args.rank);
  }
  for (uint32_t i = 0; i < program.scalar_count; ++i) {
    params.scalar_types[i] = static_cast<uint8_t>(program.scalar_types[i]);
    params.scalars[i] = slot_bits(program.scalar_types[i], args.scalars[i]);
  }
  for (uint32_t i = 0; i < program.instruction_count; ++i) {
    const Instruction& from = program.instructions[i];
    Step& step = params.steps[i];
    step.op = static_cast<uint16_t>(from.op);
    step.result = static_cast<uint8_t>(from.result);
    for (int k = 0; k < 3; ++k) step.args[k] = from.args[k];
  }
  return params;
}

Status supports_elementwise(const DeviceState&, const KernelDesc& desc) {
  return check_program(desc.program);
}

Status make_elementwise(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc,
                        std::unique_ptr<Kernel>* kernel) {
  Single single{};
  if (is_single(desc.program, &single)) {
    *kernel = std::make_unique<SingleKernel>(state, single);
  } else if (auto fused = make_fused(state, desc)) {
    *kernel = std::move(fused);
    return kOk;
  } else {
    *kernel = std::make_unique<ProgramKernel>(state, desc.program);
  }
  return (*kernel)->build();
}

}  // namespace backplane::cuda::families
