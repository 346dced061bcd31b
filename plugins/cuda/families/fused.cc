// SPDX-License-Identifier: Apache-2.0
//
// Elementwise programs of several operations, written as CUDA C++ and compiled by NVRTC. Every intermediate
// result is rounded to its type by the same formulas as when the operations run one by one, so the bits are
// the same.
#include <string>

#include "elementwise.h"
#include "program.h"

namespace backplane::cuda::families {
namespace {

using plugin::Instruction;
using plugin::kResultSlot;
using plugin::kScalarSlot;
using plugin::Program;
using plugin::ScalarOp;

std::string text(uint32_t value) { return std::to_string(value); }

std::string type_name(DType type) { return std::string("type_") + suffix(type); }

std::string slot_name(const Program& program, uint8_t slot) {
  if (slot >= kResultSlot) return std::string("r").append(text(slot - kResultSlot));
  if (slot < kScalarSlot) return std::string("e.in").append(text(slot));
  const auto index = static_cast<uint32_t>(slot - kScalarSlot);
  return "scalar<" + type_name(program.scalar_types[index]) + ">(p.scalars[" + text(index) + "])";
}

std::string expression(const Program& program, const Instruction& instruction) {
  const OpInfo* info = find_op(instruction.op);
  if (instruction.op == ScalarOp::iota)
    return std::string("bp_iota_") + suffix(instruction.result) + "(point)";
  const DType type = slot_type(program, instruction.args[instruction.op == ScalarOp::where ? 1 : 0]);
  std::string call = std::string("bp_") + info->name + "_" + suffix(type);
  if (instruction.op == ScalarOp::cast) call += std::string("_") + suffix(instruction.result);
  call += "(";
  for (uint8_t i = 0; i < info->arity; ++i)
    call += (i == 0 ? "" : ", ") + slot_name(program, instruction.args[i]);
  return call + ")";
}

std::string element_struct(const Program& program) {
  std::string source = "struct Element {\n";
  for (uint32_t i = 0; i < program.input_count; ++i)
    source += "  " + type_name(program.input_types[i]) + "::Value in" + text(i) + ";\n";
  for (uint32_t i = 0; i < program.output_count; ++i)
    source += "  " + type_name(slot_type(program, program.outputs[i])) + "::Value out" + text(i) + ";\n";
  return source + "};\n";
}

std::string compute_function(const Program& program) {
  std::string source = "BPC_DEVICE void compute(const ProgramParams& p, i64 point, Element& e) {\n";
  for (uint32_t i = 0; i < program.instruction_count; ++i) {
    const Instruction& instruction = program.instructions[i];
    source += "  const " + type_name(instruction.result) + "::Value r" + text(i) + " = " +
              expression(program, instruction) + ";\n";
  }
  for (uint32_t i = 0; i < program.output_count; ++i)
    source += "  e.out" + text(i) + " = " + slot_name(program, program.outputs[i]) + ";\n";
  return source + "}\n";
}

// `vector` elements a thread, all operands contiguous and aligned or one element.
std::string packed_kernel(const Program& program, uint32_t vector) {
  std::string source =
      "extern \"C\" __global__ void fused_packed(const __grid_constant__ ProgramParams p) {\n"
      "  constexpr int N = " +
      text(vector) +
      ";\n"
      "  for (i64 first = thread_index() * N; first < p.space.count; first += thread_count() * N) {\n"
      "    Element batch[N];\n";
  for (uint32_t i = 0; i < program.input_count; ++i)
    source += "    load_packed<" + type_name(program.input_types[i]) + ", N>(p.in[" + text(i) +
              "], first, batch, &Element::in" + text(i) + ");\n";
  source += "#pragma unroll\n    for (int k = 0; k < N; ++k) compute(p, first + k, batch[k]);\n";
  for (uint32_t i = 0; i < program.output_count; ++i)
    source += "    store_packed<" + type_name(slot_type(program, program.outputs[i])) + ", N>(p.out[" +
              text(i) + "], first, batch, &Element::out" + text(i) + ");\n";
  return source + "  }\n}\n";
}

std::string strided_kernel(const Program& program) {
  std::string source =
      "extern \"C\" __global__ void fused(const __grid_constant__ ProgramParams p) {\n"
      "  for (i64 point = thread_index(); point < p.space.count; point += thread_count()) {\n"
      "    Element e;\n";
  for (uint32_t i = 0; i < program.input_count; ++i)
    source += "    e.in" + text(i) + " = load_at<" + type_name(program.input_types[i]) + ">(p.in[" + text(i) +
              "].address, locate(p.space, point, p.in[" + text(i) + "]));\n";
  source += "    compute(p, point, e);\n";
  for (uint32_t i = 0; i < program.output_count; ++i)
    source += "    store_at<" + type_name(slot_type(program, program.outputs[i])) + ">(p.out[" + text(i) +
              "].address, locate(p.space, point, p.out[" + text(i) + "]), e.out" + text(i) + ");\n";
  return source + "  }\n}\n";
}

class FusedKernel final : public Kernel {
 public:
  FusedKernel(std::shared_ptr<DeviceState> state, const Program& program)
      : Kernel(std::move(state)), program_(program), vector_(16 / widest(program)) {}

  ~FusedKernel() override {
    const ContextScope scope(*state_->context);
    if (module_ != nullptr && scope.status().ok()) cuModuleUnload(module_);
  }

  Status build() override {
    const std::string source = "#include \"fused.cuh\"\nnamespace backplane::cuda {\n" +
                               element_struct(program_) + compute_function(program_) +
                               "}\nusing namespace backplane::cuda;\n" + strided_kernel(program_) +
                               packed_kernel(program_, vector_);
    std::string ptx;
    BACKPLANE_TRY(state_->nvrtc->compile(source, {}, state_->architecture, &ptx));
    BACKPLANE_TRY(load_module(*state_->context, ptx.c_str(), &module_));
    BACKPLANE_CU(*state_->context, cuModuleGetFunction, &strided_, module_, "fused");
    BACKPLANE_CU(*state_->context, cuModuleGetFunction, &packed_, module_, "fused_packed");
    return kOk;
  }

  Status run(Stream& stream, const LaunchArgs& args) override {
    ProgramParams params = program_params(program_, args);
    if (!is_packed(params))
      return stream.launch(strided_, blocks(params.space.count), kBlockThreads, &params);
    return stream.launch(packed_, blocks(params.space.count, kBlockThreads * vector_), kBlockThreads,
                         &params);
  }

 private:
  static uint32_t widest(const Program& program) {
    uint32_t size = 1;
    for (uint32_t i = 0; i < program.input_count; ++i)
      size = std::max(size, plugin::size_of(program.input_types[i]));
    for (uint32_t i = 0; i < program.output_count; ++i)
      size = std::max(size, plugin::size_of(slot_type(program, program.outputs[i])));
    // Sixteen copies of a program of bytes would be long, and gain nothing.
    return std::max(size, 2u);
  }

  bool is_packed(const ProgramParams& params) const {
    if (params.space.rank != 1 || params.space.count % vector_ != 0) return false;
    for (uint32_t i = 0; i < params.output_count; ++i)
      if (params.out[i].strides[0] != 1 || !is_aligned(params.out[i].address)) return false;
    for (uint32_t i = 0; i < params.input_count; ++i) {
      if (params.in[i].strides[0] == 0) continue;
      if (params.in[i].strides[0] != 1 || !is_aligned(params.in[i].address)) return false;
    }
    return true;
  }

  const Program program_;
  const uint32_t vector_;
  CUmodule module_ = nullptr;
  CUfunction strided_ = nullptr;
  CUfunction packed_ = nullptr;
};

}  // namespace

std::unique_ptr<Kernel> make_fused(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc) {
  if (state->nvrtc == nullptr || !state->nvrtc->available()) return nullptr;
  auto kernel = std::make_unique<FusedKernel>(state, desc.program);
  // A compiler newer than the driver makes PTX that the driver does not know: the program is then run step by
  // step.
  if (!kernel->build().ok()) return nullptr;
  return kernel;
}

}  // namespace backplane::cuda::families
