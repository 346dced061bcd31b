// SPDX-License-Identifier: Apache-2.0
// Programs over spaces of several dimensions with any strides, against one point after the other.
#include "cpu/elementwise_blocks.h"

#include <gtest/gtest.h>

#include <numeric>

#include "test_values.h"

namespace backplane::cpu_vector_test {
namespace {

using cpu::ProgramSpace;
using plugin::ScalarOp;

// out = a - b, and with two outputs, a as well.
plugin::Program subtraction(DType type, bool copy) {
  plugin::Program program{};
  program.input_count = 2;
  program.input_types[0] = program.input_types[1] = type;
  program.instruction_count = 1;
  program.instructions[0] = {ScalarOp::subtract, type, {0, 1, 0}, {0, 0}};
  program.output_count = copy ? 2 : 1;
  program.outputs[0] = plugin::kResultSlot;
  program.outputs[1] = 0;
  return program;
}

// Strides of a tensor of `shape` whose dimensions lie in memory in a random order; with `any`, some of them
// repeated or walked backward, as inputs may be. `offset` is where the origin is, `length` how many elements
// there are.
void lay_out(std::mt19937_64& random, const int64_t* shape, int rank, bool any, int64_t* strides,
             int64_t* offset, int64_t* length) {
  std::vector<int> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  *offset = 0;
  *length = 1 + static_cast<int64_t>(random() % 2);
  for (const int d : order) {
    strides[d] = *length;
    *length *= shape[d] + static_cast<int64_t>(random() % 2);
    if (any && random() % 4 == 0) strides[d] = 0;
    if (any && random() % 4 == 0) {
      *offset += strides[d] * (shape[d] - 1);
      strides[d] = -strides[d];
    }
  }
  ++*length;
}

template <typename T>
void try_space(DType type, std::mt19937_64& random, bool copy) {
  ProgramSpace space;
  space.rank = 2 + static_cast<int>(random() % 3);
  const int64_t extents[] = {1, 2, 3, 5, 16, 17, 63, 64, 70, 130};
  for (int d = 0; d < space.rank; ++d) space.shape[d] = extents[random() % (d < 2 ? 10 : 5)];
  const plugin::Program program = subtraction(type, copy);
  const int outputs = program.output_count;
  std::vector<std::vector<T>> memory;
  char* origins[cpu::kMostOperands];
  int64_t offsets[cpu::kMostOperands];
  for (int k = 0; k < outputs + 2; ++k) {
    int64_t length;
    lay_out(random, space.shape, space.rank, k >= outputs, space.strides[k], &offsets[k], &length);
    std::vector<T> values(static_cast<size_t>(length));
    for (T& value : values) value = static_cast<T>(random());
    memory.push_back(std::move(values));
  }
  for (int k = 0; k < outputs + 2; ++k) {
    origins[k] = reinterpret_cast<char*>(memory[static_cast<size_t>(k)].data() + offsets[k]);
  }
  std::vector<std::vector<T>> want(memory.begin(), memory.begin() + outputs);
  const int64_t size = space.size();
  for (int64_t i = 0; i < size; ++i) {
    const cpu::Walker<cpu::kMostOperands> at(space, space.rank, i);
    const auto element = [&](int k) { return static_cast<size_t>(offsets[k] + at.offset(k)); };
    const T a = memory[static_cast<size_t>(outputs)][element(outputs)];
    const T b = memory[static_cast<size_t>(outputs) + 1][element(outputs + 1)];
    want[0][element(0)] = static_cast<T>(a - b);
    if (copy) want[1][element(1)] = a;
  }
  static cpu::Threads one(1), seven(7);
  const auto compiled = cpu::compile_program(program);
  cpu::run_blocks(random() % 2 == 0 ? one : seven, *compiled, space, origins, nullptr, 2048);
  for (int k = 0; k < outputs; ++k) ASSERT_EQ(memory[static_cast<size_t>(k)], want[static_cast<size_t>(k)]);
}

TEST(Blocks, ComputeEveryPointOfEveryLayoutAndNothingBetween) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 150; ++i) {
    SCOPED_TRACE(i);
    try_space<uint8_t>(DType::UInt8, random, i % 2 == 0);
    try_space<uint16_t>(DType::UInt16, random, i % 2 == 0);
    try_space<uint32_t>(DType::UInt32, random, i % 2 == 0);
    try_space<uint64_t>(DType::UInt64, random, i % 2 == 0);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace backplane::cpu_vector_test
