// SPDX-License-Identifier: Apache-2.0
#include "opencl/reduce_text.h"

#include "opencl/generate.h"
#include "opencl/program_text.h"

namespace backplane::opencl {

using plugin::DType;
using plugin::KernelDesc;
using plugin::ReduceOp;

namespace {

std::string prologue_scalar(uint32_t i) { return "ps" + std::to_string(i); }
std::string epilogue_scalar(uint32_t i) { return "es" + std::to_string(i); }

// Independent chains of additions, so that they overlap and vectorise.
constexpr int kLanes = 16;

}  // namespace

DType reduce_result_type(const KernelDesc& desc) {
  if (desc.epilogue.output_count != 0) return output_type(desc.epilogue, 0);
  return accumulator(static_cast<ReduceOp>(desc.op), desc.compute_type).value_type;
}

std::vector<OperandText> reduce_operands(const KernelDesc& desc) {
  std::vector<OperandText> operands{operand_text(reduce_result_type(desc), true)};
  for (uint32_t i = 0; i < desc.program.input_count; ++i)
    operands.push_back(operand_text(desc.program.input_types[i], false));
  for (uint32_t i = 1; i < desc.epilogue.input_count; ++i)
    operands.push_back(operand_text(desc.epilogue.input_types[i], false));
  return operands;
}

ReduceText::ReduceText(const KernelDesc& desc, const SpaceText& space, const Space& launch,
                       uint32_t reduced_rank)
    : desc_(desc),
      space_(space),
      launch_(launch),
      rank_(launch.rank),
      kept_(launch.rank - reduced_rank),
      accumulator_(accumulator(static_cast<ReduceOp>(desc.op), desc.compute_type)) {}

std::string ReduceText::head(const char* name, size_t group) const {
  return kernel_head(name, group) + space_.parameters() +
         scalar_parameters(desc_.program, {"p", {}, prologue_scalar, ""}) +
         scalar_parameters(desc_.epilogue, {"e", {}, epilogue_scalar, ""}) +
         ", __global acc_t* partials, const ulong partials_at, const long outputs, const long splits, "
         "const long split_size, const long reduced) {\n  partials += partials_at;\n";
}

// Statements that leave the element in `x`; `element(k)` is operand k's place.
std::string ReduceText::value(const std::string& index) const {
  std::vector<std::string> values;
  std::string text = program_text(
      desc_.program,
      {"p", [&](uint32_t i) { return load_text(desc_.program.input_types[i], space_.element(i + 1, index)); },
       prologue_scalar, ""},
      &values);
  return text + "    const " + type_row(desc_.compute_type).value +
         " x = " + cast_text(output_type(desc_.program, 0), desc_.compute_type, values[0]) + ";\n";
}

// Stores the finished accumulator where p0 points.
std::string ReduceText::store(const std::string& acc) const {
  const DType type = accumulator_.value_type;
  const std::string value = "acc_value(" + acc + ")";
  if (desc_.epilogue.output_count == 0) return "    " + store_text(type, "p0[0]", value) + "\n";
  std::vector<std::string> values;
  const auto input = [&](uint32_t i) {
    if (i == 0) return cast_text(type, desc_.epilogue.input_types[0], value);
    return load_text(desc_.epilogue.input_types[i],
                     "p" + std::to_string(desc_.program.input_count + i) + "[0]");
  };
  std::string text = program_text(desc_.epilogue, {"e", input, epilogue_scalar, ""}, &values);
  return text + "    " + store_text(output_type(desc_.epilogue, 0), "p0[0]", values[0]) + "\n";
}

std::string ReduceText::keep(const std::string& acc, const std::string& output) const {
  return "    if (splits > 1) {\n    partials[" + output + " * splits + split] = " + acc +
         ";\n    } else {\n" + space_.take_apart(0, kept_, output, "long") + space_.pointers(0, kept_) +
         store(acc) + "    }\n";
}

std::string ReduceText::rows(int64_t outputs_each) const {
  const std::string lanes = std::to_string(kLanes);
  const std::string n = space_.extent(rank_ - 1);
  return finish() + head("reduce", 1) +
         "  const long split = get_global_id(1);\n"
         "  const long first = split * split_size, last = min(first + split_size, reduced);\n"
         "  const long o0 = get_global_id(0) * " +
         std::to_string(outputs_each) +
         "L;\n"
         "  const long o1 = min(o0 + " +
         std::to_string(outputs_each) +
         "L, outputs);\n"
         "  for (long o = o0; o < o1; ++o) {\n"
         "    acc_t acc[" +
         lanes +
         "];\n"
         "    for (int l = 0; l < " +
         lanes +
         "; ++l) acc[l] = acc_none();\n"
         "    {\n" +
         space_.take_apart(0, kept_, "o", "long") +
         "    for (long q = first; q < last;) {\n"
         "    const long row = q / " +
         n +
         ";\n"
         "    const long c = q - row * " +
         n +
         ";\n"
         "    const long end = c + min(" +
         n + " - c, last - q);\n" + space_.take_apart(kept_, rank_ - 1, "row", "long") +
         space_.pointers(0, rank_ - 1) +
         "    long i = c;\n"
         "    for (; i + " +
         lanes + " <= end; i += " + lanes +
         ")\n"
         "      for (int l = 0; l < " +
         lanes + "; ++l) {\n    const long at = i + l;\n" + value("at") +
         "      acc[l] = acc_add(acc[l], x, q - c + at);\n      }\n"
         "    for (; i < end; ++i) {\n" +
         value("i") +
         "      acc[0] = acc_add(acc[0], x, q - c + i);\n    }\n"
         "    q += end - c;\n    }\n    }\n"
         "    for (int step = " +
         std::to_string(kLanes / 2) +
         "; step > 0; step >>= 1)\n"
         "      for (int l = 0; l < step; ++l) acc[l] = acc_merge(acc[l], acc[l + step]);\n" +
         keep("acc[0]", "o") + "  }\n}\n";
}

std::string ReduceText::columns() const {
  const std::string most = std::to_string(kColumns);
  const std::string across = space_.extent(kept_ - 1);
  std::string lanes;
  for (uint32_t k = 1; k <= desc_.program.input_count; ++k) {
    const int64_t stride = launch_.stride(k, kept_ - 1);
    const std::string name = std::to_string(k);
    lanes += joined({"    __global const ", type_row(desc_.program.input_types[k - 1]).memory, "* r", name,
                     " = p", name, " + (", stride == 0 ? "0" : "l", ");\n"});
  }
  std::vector<std::string> values;
  const auto input = [&](uint32_t i) {
    return load_text(desc_.program.input_types[i], "r" + std::to_string(i + 1) + "[0]");
  };
  const std::string body = program_text(desc_.program, {"p", input, prologue_scalar, ""}, &values);
  return finish() + head("reduce", 1) +
         "  const long split = get_global_id(1);\n"
         "  const long first = split * split_size, last = min(first + split_size, reduced);\n"
         "  const long blocks = (" +
         across + " + " + most + " - 1) / " + most +
         ";\n"
         "  const long line = get_global_id(0) / blocks;\n"
         "  const long from = (get_global_id(0) - line * blocks) * " +
         most +
         ";\n"
         "  const int width = (int)min(" +
         across + " - from, (long)" + most +
         ");\n"
         "  acc_t acc[" +
         most +
         "];\n"
         "  for (int l = 0; l < " +
         most +
         "; ++l) acc[l] = acc_none();\n"
         "  {\n" +
         space_.take_apart(0, kept_, "(line * " + across + " + from)", "long") +
         "  for (long q = first; q < last; ++q) {\n" + space_.take_apart(kept_, rank_, "q", "long") +
         space_.pointers(0, rank_) + kIndependent + "  for (int l = 0; l < width; ++l) {\n" + lanes + body +
         "    acc[l] = acc_add(acc[l], " +
         cast_text(output_type(desc_.program, 0), desc_.compute_type, values[0]) +
         ", q);\n  }\n  }\n  }\n"
         "  for (int l = 0; l < width; ++l) {\n    const long o = line * " +
         across + " + from + l;\n" + keep("acc[l]", "o") + "  }\n}\n";
}

std::string ReduceText::group(size_t size) const {
  const std::string n = std::to_string(size);
  return finish() + head("reduce", size) + "  __local acc_t shared[" + n + "];\n" +
         "  const long split = get_group_id(1);\n"
         "  const long o = get_group_id(0);\n"
         "  const long first = split * split_size, last = min(first + split_size, reduced);\n"
         "  acc_t acc = acc_none();\n  {\n" +
         space_.take_apart(0, kept_, "o", "long") +
         "  for (long q = first + (long)get_local_id(0); q < last; q += " + n + ") {\n" +
         space_.take_apart(kept_, rank_, "q", "long") + space_.pointers(0, rank_ - 1) +
         value("i" + std::to_string(rank_ - 1)) +
         "    acc = acc_add(acc, x, q);\n  }\n  }\n"
         "  shared[get_local_id(0)] = acc;\n"
         "  for (uint step = " +
         std::to_string(size / 2) +
         "; step > 0; step >>= 1) {\n"
         "    barrier(CLK_LOCAL_MEM_FENCE);\n"
         "    if (get_local_id(0) < step)\n"
         "      shared[get_local_id(0)] = acc_merge(shared[get_local_id(0)], shared[get_local_id(0) + "
         "step]);\n  }\n"
         "  if (get_local_id(0) == 0) {\n" +
         keep("shared[0]", "o") + "  }\n}\n";
}

std::string ReduceText::finish() const {
  return accumulator_.text + head("finish", 1) +
         "  const long o = get_global_id(0);\n"
         "  acc_t acc = partials[o * splits];\n"
         "  for (long s = 1; s < splits; ++s) acc = acc_merge(acc, partials[o * splits + s]);\n" +
         space_.take_apart(0, kept_, "o", "long") + space_.pointers(0, kept_) + store("acc") + "}\n";
}

}  // namespace backplane::opencl
