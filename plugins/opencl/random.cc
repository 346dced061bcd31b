// SPDX-License-Identifier: Apache-2.0
//
// Random numbers by the shared formulas: the same bits as on every other device.
#include "opencl/device.h"
#include "opencl/families.h"
#include "opencl/generate.h"

namespace backplane::opencl {

using plugin::DType;
using plugin::KernelDesc;
using plugin::RandomOp;

namespace {

bool takes_two_words(const KernelDesc& desc) {
  return desc.types[0] == DType::UInt64 || desc.types[0] == DType::Float64 ||
         static_cast<RandomOp>(desc.op) == RandomOp::Integers;
}

// The types of the launch's scalars, as kernel parameters.
std::vector<DType> scalar_types(const KernelDesc& desc) {
  switch (static_cast<RandomOp>(desc.op)) {
    case RandomOp::Bits:
      return {};
    case RandomOp::Integers:
      return {DType::UInt64, DType::UInt64};
    default:
      return {desc.types[0], desc.types[0]};
  }
}

std::string element_text(const KernelDesc& desc) {
  const TypeRow& row = type_row(desc.types[0]);
  switch (static_cast<RandomOp>(desc.op)) {
    case RandomOp::Bits:
      return "word";
    case RandomOp::Integers:
      return std::string("(") + row.value + ")bp_random_integer(word, s0, s1)";
    case RandomOp::Uniform:
      return std::string("bp_uniform_") + row.suffix + "(word, s0, s1)";
    case RandomOp::Normal:
      return std::string("bp_normal_") + row.suffix + "(word, s0, s1)";
  }
  return {};
}

std::string random_source(const KernelDesc& desc, size_t group) {
  const bool two = takes_two_words(desc);
  const int each = two ? 2 : 4;
  std::string text = kernel_head("random", group) + "__global " + type_row(desc.types[0]).memory +
                     "* out, const ulong out_at, const ulong n, const ulong chunk, const ulong seed, "
                     "const ulong block_offset";
  int index = 0;
  for (const DType type : scalar_types(desc))
    text += std::string(", const ") + type_row(type).value + " s" + std::to_string(index++);
  text +=
      ") {\n  out += out_at;\n  const ulong first = get_global_id(0) * chunk, last = min(first + chunk, n);\n"
      "  for (ulong i = first; i < last; i += " +
      std::to_string(each) +
      ") {\n"
      "    const bp_philox_block block = bp_philox(block_offset + i / " +
      std::to_string(each) + ", seed);\n";
  for (int k = 0; k < each; ++k) {
    const std::string at = std::to_string(k);
    text += "    if (i + " + at + " < last) {\n      const ";
    if (two)
      text += "ulong word = ((ulong)block.word[" + std::to_string(2 * k + 1) + "] << 32) | block.word[" +
              std::to_string(2 * k) + "];\n";
    else
      text += "uint word = block.word[" + at + "];\n";
    text += "      " + store_text(desc.types[0], "out[i + " + at + "]", element_text(desc)) + "\n    }\n";
  }
  return text + "  }\n}\n";
}

class RandomKernel final : public ClKernel {
 public:
  using ClKernel::ClKernel;

 private:
  Status run(ClStream* stream, const plugin::LaunchArgs& args) override {
    Variant* variant = nullptr;
    BACKPLANE_OPENCL_TRY(variants_.get(
        device_, "", "random", [&] { return random_source(desc_, loose_group()); }, &variant));
    const plugin::Operand& out = args.operand(0);
    const auto n = static_cast<uint64_t>(args.rank == 0 ? 1 : args.shape[0]);
    // A multiple of a block of words, so that none is computed twice.
    const auto chunk = static_cast<uint64_t>(loose_chunk(static_cast<int64_t>(n), 4));
    Invocation invocation(*variant);
    invocation.buffer(memory_of(out)).value(uint64_t{out.offset / plugin::size_of(desc_.types[0])});
    invocation.value(n).value(chunk).value(args.seed).value(args.block_offset);
    uint32_t index = 0;
    for (const DType type : scalar_types(desc_)) {
      const ScalarBytes scalar = scalar_bytes(type, args.scalars[index++]);
      invocation.bytes(scalar.bytes, scalar.size);
    }
    return invocation.run(stream, {groups_for(n, chunk * loose_group()), 1, 1}, {loose_group(), 1, 1},
                          args.label);
  }
};

}  // namespace

Status check_random(const Facts& facts, const KernelDesc& desc) {
  const DType type = desc.types[0];
  BACKPLANE_OPENCL_TRY(check_type(facts, type));
  bool fits = false;
  switch (static_cast<RandomOp>(desc.op)) {
    case RandomOp::Bits:
      fits = type == DType::UInt32 || type == DType::UInt64;
      break;
    case RandomOp::Uniform:
    case RandomOp::Normal:
      fits = is_floating(type);
      break;
    case RandomOp::Integers:
      fits = !is_floating(type) && type != DType::Bool;
      break;
  }
  if (fits) return kOk;
  return plugin::make_status(StatusCode::Unimplemented, 0, "random operation %u has no numbers of type %s",
                             desc.op, type_row(type).suffix);
}

Status make_random(ClDevice* device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  return make_kernel<RandomKernel>(device, desc, kernel);
}

}  // namespace backplane::opencl
