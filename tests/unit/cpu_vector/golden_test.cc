// SPDX-License-Identifier: Apache-2.0
// The elementwise cases with values from NumPy, through programs of each instruction set.
// tests/data/golden/README.md has the format.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "test_values.h"

namespace backplane::cpu_vector_test {
namespace {

using plugin::ScalarOp;
using Json = nlohmann::json;

struct Array {
  DType type;
  std::vector<int64_t> shape;
  const char* data;
  int64_t size() const {
    int64_t n = 1;
    for (const int64_t extent : shape) n *= extent;
    return n;
  }
};

struct File {
  std::string bytes;
  Json header, cases;
  explicit File(const std::string& name) {
    std::ifstream stream(std::string(BACKPLANE_TEST_DATA) + "/golden/" + name + ".safetensors",
                         std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    bytes = text.str();
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    header = Json::parse(bytes.substr(8, length));
    cases = Json::parse(header["__metadata__"]["cases"].get<std::string>());
  }
  Array array(const std::string& name) const {
    static const std::map<std::string, DType> types = {
        {"BOOL", DType::Bool},  {"I8", DType::Int8},     {"I16", DType::Int16},     {"I32", DType::Int32},
        {"I64", DType::Int64},  {"U8", DType::UInt8},    {"U16", DType::UInt16},    {"U32", DType::UInt32},
        {"U64", DType::UInt64}, {"F16", DType::Float16}, {"BF16", DType::BFloat16}, {"F32", DType::Float32},
        {"F64", DType::Float64}};
    const Json& entry = header.at(name);
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    return {types.at(entry["dtype"]), entry["shape"].get<std::vector<int64_t>>(),
            bytes.data() + 8 + length + entry["data_offsets"][0].get<uint64_t>()};
  }
};

const std::map<std::string, ScalarOp>& operations() {
  static const std::map<std::string, ScalarOp> all = {
#define BACKPLANE_SCALAR_OP(number, name, arity, domain, result) {#name, ScalarOp::name},
#include "backplane/plugin/scalar_ops.def"
#undef BACKPLANE_SCALAR_OP
      {"astype", ScalarOp::cast}};
  return all;
}

// The elements of `array` broadcast to `shape`, one after the other.
std::vector<char> broadcast(const Array& array, const std::vector<int64_t>& shape) {
  const size_t size = plugin::size_of(array.type);
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  std::vector<char> out(static_cast<size_t>(n) * size + 8);
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i, from = 0, stride = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
      const size_t axis = shape.size() - 1 - d;
      const int64_t position = rest % shape[axis];
      rest /= shape[axis];
      if (d >= array.shape.size()) continue;
      const int64_t extent = array.shape[array.shape.size() - 1 - d];
      if (extent != 1) from += position * stride;
      stride *= extent;
    }
    std::memcpy(out.data() + static_cast<size_t>(i) * size, array.data + static_cast<size_t>(from) * size,
                size);
  }
  return out;
}

double read(DType type, const char* data, int64_t index) {
  const uint64_t bits =
      cpu::element_register(type, data + static_cast<size_t>(index) * plugin::size_of(type));
  if (type == DType::Float64) return std::bit_cast<double>(bits);
  if (is_float(type)) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  const int shift = 64 - (8 << cpu::register_log2(type));
  if (type >= DType::Int8 && type <= DType::Int64)
    return static_cast<double>(static_cast<int64_t>(bits << shift) >> shift);
  return static_cast<double>(bits);
}

bool close(DType type, const char* got, const char* want, int64_t i, double rtol, double atol) {
  const double g = read(type, got, i), w = read(type, want, i);
  if (w != w || g != g) return w != w && g != g;
  if (std::isinf(w) || std::isinf(g)) return g == w;
  const size_t size = plugin::size_of(type), at = static_cast<size_t>(i) * size;
  if (!is_float(type)) return std::memcmp(got + at, want + at, size) == 0;
  return std::abs(g - w) <= atol + rtol * std::abs(w);
}

// The program that the case's operator is: its inputs are cast where their types differ.
plugin::Program program_of(const Json& test, const std::vector<Array>& in, DType result) {
  plugin::Program program{};
  program.input_count = static_cast<uint8_t>(in.size());
  for (size_t i = 0; i < in.size(); ++i) program.input_types[i] = in[i].type;
  uint8_t args[3] = {0, 1, 2};
  const auto add = [&](ScalarOp op, DType type) {
    plugin::Instruction& instruction = program.instructions[program.instruction_count];
    instruction.op = op;
    instruction.result = type;
    std::memcpy(instruction.args, args, 3);
    return static_cast<uint8_t>(plugin::kResultSlot + program.instruction_count++);
  };
  const auto scalar = [&](DType type) {
    program.scalar_types[program.scalar_count] = type;
    return static_cast<uint8_t>(plugin::kScalarSlot + program.scalar_count++);
  };
  ScalarOp op = operations().at(test["op"]);
  if (op == ScalarOp::gelu && test["attrs"].contains("approximate")) op = ScalarOp::gelu_tanh;
  if (in.size() == 2 && in[0].type != in[1].type) {
    uint8_t cast[2];
    for (uint8_t k = 0; k < 2; ++k) {
      args[0] = k;
      cast[k] = in[k].type == result ? k : add(ScalarOp::cast, result);
    }
    std::memcpy(args, cast, 2);
  }
  if (op == ScalarOp::leaky_relu) args[1] = scalar(result);
  if (op == ScalarOp::clip) {
    args[1] = scalar(result);
    args[2] = scalar(result);
  }
  program.outputs[0] = add(op, result);
  program.output_count = 1;
  return program;
}

std::vector<plugin::Scalar> scalars_of(const Json& test, DType type) {
  const auto make = [&](const char* key, double other) {
    const double value = test["attrs"].value(key, other);
    plugin::Scalar scalar;
    if (is_float(type)) {
      scalar.f = value;
    } else {
      scalar.i = static_cast<int64_t>(value);
    }
    return scalar;
  };
  if (test["op"] == "leaky_relu") return {make("negative_slope", 0.01)};
  if (test["op"] == "clip") return {make("min", -2147483648.0), make("max", 2147483647.0)};
  return {};
}

class Golden : public testing::TestWithParam<std::tuple<std::string, std::string>> {};
INSTANTIATE_TEST_SUITE_P(Files, Golden,
                         testing::Combine(testing::ValuesIn(isa_names()),
                                          testing::Values("unary", "binary", "cast", "more")),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::get<1>(info.param);
                         });

TEST_P(Golden, EveryElementwiseCaseIsMet) {
  ASSERT_TRUE(cpu::select_isa(std::get<0>(GetParam()).c_str()));
  const File file(std::get<1>(GetParam()));
  int passed = 0;
  for (const Json& test : file.cases) {
    if (operations().find(test["op"]) == operations().end()) continue;
    std::vector<Array> in;
    std::vector<std::vector<char>> data;
    const Array want = file.array(test["out"][0]);
    for (const Json& name : test["in"]) in.push_back(file.array(name));
    for (const Array& array : in) data.push_back(broadcast(array, want.shape));
    const plugin::Program program = program_of(test, in, want.type);
    const plugin::Status status = cpu::check_program(program);
    ASSERT_TRUE(status.ok()) << test["name"] << ": " << status.message;
    const void* inputs[2] = {};
    for (size_t i = 0; i < data.size(); ++i) inputs[i] = data[i].data();
    constexpr int64_t kSteps[2] = {1, 1};
    std::vector<char> out(static_cast<size_t>(want.size()) * 8 + 8);
    void* outputs[1] = {out.data()};
    const std::vector<plugin::Scalar> scalars = scalars_of(test, want.type);
    cpu::run_program_tile(*cpu::compile_program(program), inputs, kSteps, scalars.data(), outputs,
                          want.size(), 0);
    for (int64_t i = 0; i < want.size(); ++i) {
      if (close(want.type, out.data(), want.data, i, test["rtol"], test["atol"])) continue;
      ADD_FAILURE() << test["name"] << " at " << i << ": " << read(want.type, out.data(), i) << ", not "
                    << read(want.type, want.data, i) << ", of " << read(in[0].type, data[0].data(), i) << " "
                    << (in.size() > 1 ? read(in[1].type, data[1].data(), i) : 0.0);
      break;
    }
    ++passed;
  }
  EXPECT_GT(passed, 20);
}

}  // namespace
}  // namespace backplane::cpu_vector_test
