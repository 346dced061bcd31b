// SPDX-License-Identifier: Apache-2.0
// Programs of many instructions: the bits of their parts, whatever the strides, the length and the
// instruction set.
#include <gtest/gtest.h>

#include "test_values.h"

namespace backplane::cpu_vector_test {
namespace {

using plugin::ScalarOp;

// Builds a program, one instruction a call.
class Builder {
 public:
  uint8_t input(DType type) {
    program_.input_types[program_.input_count] = type;
    return program_.input_count++;
  }
  uint8_t scalar(DType type) {
    program_.scalar_types[program_.scalar_count] = type;
    return static_cast<uint8_t>(plugin::kScalarSlot + program_.scalar_count++);
  }
  uint8_t op(ScalarOp op, DType result, uint8_t a = 0, uint8_t b = 0, uint8_t c = 0) {
    program_.instructions[program_.instruction_count] = {op, result, {a, b, c}, {0, 0}};
    return static_cast<uint8_t>(plugin::kResultSlot + program_.instruction_count++);
  }
  Builder& output(uint8_t slot) {
    program_.outputs[program_.output_count++] = slot;
    return *this;
  }
  const plugin::Program& program() const { return program_; }

 private:
  plugin::Program program_{};
};

// n elements as memory holds them.
std::vector<char> elements(DType type, int64_t n, uint64_t seed) {
  std::vector<char> values = random_values(type, n, seed);
  const cpu::MapFunction store = cpu::active_convert_loops().store[static_cast<int>(type)];
  if (store == nullptr) return values;
  std::vector<char> narrow(static_cast<size_t>(n) * 2 + 8);
  store(narrow.data(), values.data(), n);
  return narrow;
}

std::vector<char> run(const plugin::Program& program, const std::vector<const void*>& in,
                      const std::vector<int64_t>& strides, const std::vector<plugin::Scalar>& scalars,
                      int64_t n, int64_t first = 0) {
  EXPECT_TRUE(cpu::check_program(program).ok()) << cpu::check_program(program).message;
  std::vector<char> out(static_cast<size_t>(n) * plugin::size_of(cpu::output_type(program, 0)));
  void* outputs[1] = {out.data()};
  cpu::run_program_tile(*cpu::compile_program(program), in.data(), strides.data(), scalars.data(), outputs, n,
                        first);
  return out;
}

plugin::Scalar scalar_of(double value) {
  plugin::Scalar scalar;
  scalar.f = value;
  return scalar;
}

class EveryIsa : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_TRUE(cpu::select_isa(GetParam().c_str())); }
};
INSTANTIATE_TEST_SUITE_P(Programs, EveryIsa, testing::ValuesIn(isa_names()),
                         [](const auto& info) { return info.param; });

TEST_P(EveryIsa, AFusedProgramGivesTheBitsOfItsPartsInEveryFloatingType) {
  constexpr int64_t n = 5003;
  for (const DType type : {DType::Float16, DType::BFloat16, DType::Float32, DType::Float64}) {
    Builder fused;
    const uint8_t x = fused.input(type), y = fused.input(type), a = fused.scalar(type);
    const uint8_t product = fused.op(ScalarOp::multiply, type, x, a);
    const uint8_t sum = fused.op(ScalarOp::add, type, product, y);
    const uint8_t curve = fused.op(ScalarOp::tanh, type, sum);
    fused.output(fused.op(ScalarOp::maximum, type, curve, product));

    const auto in_x = elements(type, n, 1), in_y = elements(type, n, 2);
    const std::vector<plugin::Scalar> scalars = {scalar_of(1.7)};
    const auto got = run(fused.program(), {in_x.data(), in_y.data()}, {1, 1}, scalars, n);

    Builder multiply, add, tanh, maximum;
    multiply.output(multiply.op(ScalarOp::multiply, type, multiply.input(type), multiply.scalar(type)));
    const uint8_t left = add.input(type);
    add.output(add.op(ScalarOp::add, type, left, add.input(type)));
    tanh.output(tanh.op(ScalarOp::tanh, type, tanh.input(type)));
    const uint8_t one = maximum.input(type);
    maximum.output(maximum.op(ScalarOp::maximum, type, one, maximum.input(type)));
    const auto p = run(multiply.program(), {in_x.data()}, {1}, scalars, n);
    const auto s = run(add.program(), {p.data(), in_y.data()}, {1, 1}, {}, n);
    const auto t = run(tanh.program(), {s.data()}, {1}, {}, n);
    const auto want = run(maximum.program(), {t.data(), p.data()}, {1, 1}, {}, n);
    EXPECT_EQ(got, want) << static_cast<int>(type);
  }
}

TEST_P(EveryIsa, StridesOfInputsPickTheElementsTheyName) {
  constexpr int64_t n = 1500;
  for (const DType type : {DType::Int8, DType::UInt16, DType::BFloat16, DType::Float32, DType::Int64}) {
    Builder builder;
    const uint8_t a = builder.input(type), b = builder.input(type);
    builder.output(builder.op(ScalarOp::add, type, a, b));
    const auto data = elements(type, 3 * n, 3);
    const size_t size = plugin::size_of(type);
    std::vector<char> reversed(n * size), third(n * size), same(n * size);
    for (size_t i = 0; i < n; ++i) {
      std::memcpy(&reversed[i * size], &data[(n - 1 - i) * size], size);
      std::memcpy(&third[i * size], &data[3 * i * size], size);
      std::memcpy(&same[i * size], &data[5 * size], size);
    }
    const char* const start = data.data();
    EXPECT_EQ(run(builder.program(), {start + (n - 1) * size, start}, {-1, 3}, {}, n),
              run(builder.program(), {reversed.data(), third.data()}, {1, 1}, {}, n));
    EXPECT_EQ(run(builder.program(), {start + 5 * size, start}, {0, 1}, {}, n),
              run(builder.program(), {same.data(), start}, {1, 1}, {}, n));
  }
}

TEST_P(EveryIsa, ScalarsTakeTheirOwnTypeExactly) {
  Builder builder;
  const uint8_t s = builder.scalar(DType::UInt64);
  builder.output(s).output(builder.scalar(DType::Float16));
  std::vector<uint64_t> whole(70);
  std::vector<uint16_t> half(70);
  void* outputs[2] = {whole.data(), half.data()};
  plugin::Scalar scalars[2];
  scalars[0].u = ~uint64_t{0} - 1;
  scalars[1].f = 1 + 0x1p-11 + 0x1p-40;  // just above a tie, which a float32 in between would lose
  cpu::run_program_tile(*cpu::compile_program(builder.program()), nullptr, nullptr, scalars, outputs, 70, 0);
  EXPECT_EQ(whole, std::vector<uint64_t>(70, ~uint64_t{0} - 1));
  EXPECT_EQ(half, std::vector<uint16_t>(70, 0x3c01));
}

TEST_P(EveryIsa, IotaCountsFromTheFirstPointInEveryType) {
  for (const DType type : {DType::Int8, DType::Int32, DType::Float16, DType::Float64}) {
    Builder builder;
    builder.output(builder.op(ScalarOp::iota, type));
    const auto out = run(builder.program(), {}, {}, {}, 2000, 100);
    const std::pair<size_t, int64_t> wanted[] = {
        {0, 100}, {1, 101}, {1023, 1123}, {1024, 1124}, {1998, 2098}};
    for (const auto& [i, want] : wanted) {
      const uint64_t bits = cpu::element_register(type, &out[i * plugin::size_of(type)]);
      double got = 0;
      if (type == DType::Int8) {
        EXPECT_EQ(static_cast<int8_t>(bits), static_cast<int8_t>(want));
        continue;
      }
      if (type == DType::Int32) got = static_cast<int32_t>(bits);
      if (type == DType::Float16) got = std::bit_cast<float>(static_cast<uint32_t>(bits));
      if (type == DType::Float64) got = std::bit_cast<double>(bits);
      EXPECT_EQ(got, static_cast<double>(want)) << static_cast<int>(type);
    }
  }
}

TEST_P(EveryIsa, OutputsMayBeTheInputsThemselvesInAnyOrder) {
  constexpr int64_t n = 3001;
  std::vector<float> a(n), b(n);
  for (size_t i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i + 1);
  }
  // a, b = b, a + b
  Builder builder;
  const uint8_t x = builder.input(DType::Float32), y = builder.input(DType::Float32);
  builder.output(y).output(builder.op(ScalarOp::add, DType::Float32, x, y));
  const void* inputs[2] = {a.data(), b.data()};
  void* outputs[2] = {a.data(), b.data()};
  const int64_t strides[2] = {1, 1};
  cpu::run_program_tile(*cpu::compile_program(builder.program()), inputs, strides, nullptr, outputs, n, 0);
  for (size_t i = 0; i < n; ++i) {
    ASSERT_EQ(a[i], static_cast<float>(2 * i + 1));
    ASSERT_EQ(b[i], static_cast<float>(3 * i + 1));
  }
}

TEST_P(EveryIsa, TheLongestProgramRuns) {
  Builder builder;
  std::vector<std::vector<double>> data(plugin::kMaxInputs, std::vector<double>(500));
  std::vector<const void*> inputs;
  std::vector<int64_t> strides;
  std::vector<plugin::Scalar> scalars;
  for (uint32_t k = 0; k < plugin::kMaxInputs; ++k) {
    builder.input(DType::Float64);
    builder.scalar(DType::Float64);
    for (size_t i = 0; i < 500; ++i) data[k][i] = static_cast<double>(i + k);
    inputs.push_back(data[k].data());
    strides.push_back(1);
    scalars.push_back(scalar_of(k));
  }
  // All results live to the end: (x0 + s0), (x1 + s1), ..., then their sum.
  uint8_t parts[16];
  for (uint8_t k = 0; k < 16; ++k) {
    parts[k] =
        builder.op(ScalarOp::add, DType::Float64, k % 12, static_cast<uint8_t>(plugin::kScalarSlot + k % 12));
  }
  uint8_t sum = parts[15];
  for (int k = 14; k >= 0; --k) sum = builder.op(ScalarOp::add, DType::Float64, sum, parts[k]);
  builder.output(builder.op(ScalarOp::negative, DType::Float64, sum));
  ASSERT_EQ(builder.program().instruction_count, plugin::kMaxInstructions);
  const auto out = run(builder.program(), inputs, strides, scalars, 500);
  for (size_t i = 0; i < 500; ++i) {
    double want = 0, got;
    for (size_t k = 0; k < 16; ++k) want += static_cast<double>(i + k % 12 + k % 12);
    std::memcpy(&got, &out[i * 8], 8);
    ASSERT_EQ(got, -want);
  }
}

TEST(CheckProgram, NamesWhatIsWrong) {
  using plugin::StatusCode;
  const auto code = [](const Builder& builder) { return cpu::check_program(builder.program()).code; };
  Builder unknown;
  unknown.output(unknown.op(static_cast<ScalarOp>(9999), DType::Float32, unknown.input(DType::Float32)));
  EXPECT_EQ(code(unknown), StatusCode::Unimplemented);

  Builder later;  // uses its own result
  later.input(DType::Float32);
  later.output(later.op(ScalarOp::add, DType::Float32, 0, plugin::kResultSlot));
  EXPECT_EQ(code(later), StatusCode::InvalidArgument);
  EXPECT_NE(std::string(cpu::check_program(later.program()).message).find("add"), std::string::npos);

  Builder mixed;
  const uint8_t a = mixed.input(DType::Float32);
  mixed.output(mixed.op(ScalarOp::add, DType::Float32, a, mixed.input(DType::Float64)));
  EXPECT_EQ(code(mixed), StatusCode::InvalidArgument);

  Builder logical;
  const uint8_t b = logical.input(DType::Bool);
  logical.output(logical.op(ScalarOp::add, DType::Bool, b, b));
  EXPECT_EQ(code(logical), StatusCode::InvalidArgument);

  Builder result;
  const uint8_t c = result.input(DType::Float32);
  result.output(result.op(ScalarOp::less, DType::Float32, c, c));
  EXPECT_EQ(code(result), StatusCode::InvalidArgument);

  Builder nothing;
  nothing.input(DType::Float32);
  EXPECT_EQ(code(nothing), StatusCode::InvalidArgument);
}

}  // namespace
}  // namespace backplane::cpu_vector_test
