// SPDX-License-Identifier: Apache-2.0
//
// Descriptors and launch arguments, built in a line or two.
#ifndef BACKPLANE_TESTS_CONFORMANCE_ABI_LAUNCH_H_
#define BACKPLANE_TESTS_CONFORMANCE_ABI_LAUNCH_H_

#include <vector>

#include "context.h"

namespace backplane::conformance {

using Dims = std::vector<int64_t>;

// Row-major strides of a shape, in elements.
Dims row_major(const Dims& shape);
int64_t product(const Dims& shape);

// A descriptor of this family, everything else zero.
plugin::KernelDesc make_desc(plugin::Family family, uint8_t op = 0);

// A program whose one output is its one input.
plugin::Program identity_program(DType type);
// A program that casts its one input.
plugin::Program cast_program(DType from, DType to);
// A program of one operation on inputs 0, 1, ...: arguments and result have these types.
plugin::Program one_op_program(plugin::ScalarOp op, const std::vector<DType>& arguments, DType result);

// What one launch runs on. Operands are added outputs first.
class Launch {
 public:
  explicit Launch(Dims shape);

  // Strides have one entry a dimension; `offset` is in elements of `type`.
  Launch& operand(plugin::Buffer& buffer, DType type, const Dims& strides, int64_t offset = 0);
  Launch& scalar(int64_t value);
  Launch& scalar(double value);
  Launch& reduced_rank(uint32_t rank);
  Launch& axis(int64_t size, int64_t stride);
  Launch& random(uint64_t seed, uint64_t block_offset);
  Launch& error(plugin::Buffer& buffer);
  Launch& oversize_arguments();  // what a host newer than the plugin would hand over

  // Asks for the workspace, allocates it, launches, and waits for the stream.
  void run(Context& context, plugin::Kernel& kernel);
  // Without waiting; the workspace lives as long as this object.
  plugin::Status launch(Context& context, plugin::Kernel& kernel, plugin::Stream& stream);

  plugin::LaunchArgs& args() { return args_; }

 private:
  struct WideArgs {
    plugin::LaunchArgs args;
    uint64_t later_field;
  };

  plugin::LaunchArgs args_{};
  std::vector<plugin::Operand> operands_;
  std::vector<plugin::Scalar> scalars_;
  Owned<plugin::Buffer> workspace_;
  bool oversize_ = false;
};

// Fails unless both hold the same bits; names the first difference.
void require_same(const Values& actual, const Values& expected, const char* what);
// Fails where an element is further than `ulps` from the expectation, which is in double precision.
void require_close(const Values& actual, const std::vector<double>& expected, double ulps, const char* what);

}  // namespace backplane::conformance

#endif  // BACKPLANE_TESTS_CONFORMANCE_ABI_LAUNCH_H_
