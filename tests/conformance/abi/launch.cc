// SPDX-License-Identifier: Apache-2.0
#include "launch.h"

#include <cstring>

namespace backplane::conformance {

Dims row_major(const Dims& shape) {
  Dims strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

int64_t product(const Dims& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

plugin::KernelDesc make_desc(plugin::Family family, uint8_t op) {
  plugin::KernelDesc desc;
  std::memset(static_cast<void*>(&desc), 0, sizeof desc);
  desc.struct_size = sizeof desc;
  desc.family = family;
  desc.op = op;
  desc.layout = plugin::Layout::Strided;
  return desc;
}

plugin::Program identity_program(DType type) {
  plugin::Program program;
  std::memset(static_cast<void*>(&program), 0, sizeof program);
  program.input_count = 1;
  program.output_count = 1;
  program.input_types[0] = type;
  return program;
}

plugin::Program cast_program(DType from, DType to) {
  return one_op_program(plugin::ScalarOp::cast, {from}, to);
}

plugin::Program one_op_program(plugin::ScalarOp op, const std::vector<DType>& arguments, DType result) {
  plugin::Program program = identity_program(arguments.empty() ? DType::Bool : arguments[0]);
  program.input_count = static_cast<uint8_t>(arguments.size());
  program.instruction_count = 1;
  program.instructions[0].op = op;
  program.instructions[0].result = result;
  program.outputs[0] = plugin::kResultSlot;
  for (size_t i = 0; i < arguments.size(); ++i) {
    program.input_types[i] = arguments[i];
    program.instructions[0].args[i] = static_cast<uint8_t>(i);
  }
  return program;
}

Launch::Launch(Dims shape) {
  args_.struct_size = sizeof args_;
  args_.operand_stride = sizeof(plugin::Operand);
  args_.rank = static_cast<uint32_t>(shape.size());
  args_.label = "conformance";
  std::copy(shape.begin(), shape.end(), args_.shape);
}

Launch& Launch::operand(plugin::Buffer& buffer, DType type, const Dims& strides, int64_t offset) {
  plugin::Operand operand{};
  operand.buffer = &buffer;
  operand.offset = static_cast<uint64_t>(offset) * plugin::size_of(type);
  operand.address = buffer.address() == 0 ? 0 : buffer.address() + operand.offset;
  std::copy(strides.begin(), strides.end(), operand.strides);
  operands_.push_back(operand);
  return *this;
}

Launch& Launch::scalar(int64_t value) {
  scalars_.push_back({.i = value});
  return *this;
}

Launch& Launch::scalar(double value) {
  scalars_.push_back({.f = value});
  return *this;
}

Launch& Launch::reduced_rank(uint32_t rank) {
  args_.reduced_rank = rank;
  return *this;
}

Launch& Launch::axis(int64_t size, int64_t stride) {
  args_.axis_size = size;
  args_.axis_stride = stride;
  return *this;
}

Launch& Launch::random(uint64_t seed, uint64_t block_offset) {
  args_.seed = seed;
  args_.block_offset = block_offset;
  return *this;
}

Launch& Launch::error(plugin::Buffer& buffer) {
  args_.error = &buffer;
  return *this;
}

Launch& Launch::oversize_arguments() {
  oversize_ = true;
  return *this;
}

plugin::Status Launch::launch(Context& context, plugin::Kernel& kernel, plugin::Stream& stream) {
  args_.operands = operands_.data();
  args_.operand_count = static_cast<uint32_t>(operands_.size());
  args_.scalars = scalars_.data();
  args_.scalar_count = static_cast<uint32_t>(scalars_.size());
  uint64_t bytes = 0;
  require_ok(kernel.workspace(&args_, &bytes), "workspace");
  if (bytes > 0) {
    workspace_ = context.allocate(bytes);
    args_.workspace = workspace_.get();
    args_.workspace_bytes = bytes;
  }
  if (!oversize_) return kernel.launch(&stream, &args_);
  WideArgs wide{args_, 0xffffffffffffffffu};
  wide.args.struct_size = sizeof wide;
  return kernel.launch(&stream, &wide.args);
}

void Launch::run(Context& context, plugin::Kernel& kernel) {
  require_ok(launch(context, kernel, context.stream()), "launch");
  context.synchronize();
}

void require_same(const Values& actual, const Values& expected, const char* what) {
  if (actual.type() != expected.type() || actual.count() != expected.count())
    fail("%s: type or count differ", what);
  const size_t size = plugin::size_of(actual.type());
  for (int64_t i = 0; i < actual.count(); ++i) {
    const size_t at = static_cast<size_t>(i) * size;
    if (std::memcmp(actual.bytes().data() + at, expected.bytes().data() + at, size) != 0) {
      fail("%s: element %lld of %lld is %.17g, expected %.17g", what, static_cast<long long>(i),
           static_cast<long long>(actual.count()), actual.get(i), expected.get(i));
    }
  }
}

void require_close(const Values& actual, const std::vector<double>& expected, double ulps, const char* what) {
  for (int64_t i = 0; i < actual.count(); ++i) {
    const double want = expected[static_cast<size_t>(i)];
    const double distance = ulp_distance(actual.type(), actual.get(i), want);
    // Not "> ulps": a NaN on one side alone must fail too.
    if (!(distance <= ulps)) {
      fail("%s: element %lld of %lld is %.17g, expected %.17g, %g units in the last place away (at most %g)",
           what, static_cast<long long>(i), static_cast<long long>(actual.count()), actual.get(i), want,
           distance, ulps);
    }
  }
}

}  // namespace backplane::conformance
