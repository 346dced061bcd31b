// SPDX-License-Identifier: Apache-2.0
#include "opencl/matmul_text.h"

#include "opencl/generate.h"
#include "opencl/program_text.h"

namespace backplane::opencl {

using plugin::DType;
using plugin::KernelDesc;

namespace {

std::string number(int64_t value) { return std::to_string(value); }

std::string scalar_name(uint32_t i) { return "es" + std::to_string(i); }

// Unsigned arithmetic wraps; its bits are the signed result's.
std::string arithmetic_type(DType type) {
  constexpr const char* kTypes[] = {"uchar", "uchar", "ushort", "uint",  "ulong", "uchar", "ushort",
                                    "uint",  "ulong", "float",  "float", "float", "double"};
  return kTypes[static_cast<size_t>(type)];
}

// Sums of the half types are kept in float32.
DType sum_type(const KernelDesc& desc) {
  return desc.compute_type == DType::Float16 || desc.compute_type == DType::BFloat16 ? DType::Float32
                                                                                     : desc.compute_type;
}

DType result_type(const KernelDesc& desc) {
  return desc.epilogue.instruction_count == 0 ? desc.types[0] : output_type(desc.epilogue, 0);
}

}  // namespace

MatmulTile matmul_tile(const Facts& facts, DType compute_type) {
  const int64_t bytes = std::max<int64_t>(is_floating(compute_type) ? 4 : 1, plugin::size_of(compute_type));
  const int64_t lanes = std::min<int64_t>(16, facts.vector_bytes / bytes);
  return {facts.vector_bytes == 64 ? 12 : 6, lanes, 2 * lanes};
}

std::vector<OperandText> matmul_operands(const KernelDesc& desc) {
  std::vector<OperandText> operands{operand_text(result_type(desc), true), operand_text(desc.types[1], false),
                                    operand_text(desc.types[2], false)};
  if (desc.epilogue.instruction_count != 0)
    for (uint32_t i = 1; i < desc.epilogue.input_count; ++i)
      operands.push_back(operand_text(desc.epilogue.input_types[i], false));
  return operands;
}

MatmulText::MatmulText(const Facts& facts, const KernelDesc& desc, const SpaceText& space, uint32_t rank)
    : desc_(desc),
      space_(space),
      rank_(rank),
      tile_(matmul_tile(facts, desc.compute_type)),
      type_(arithmetic_type(desc.compute_type)) {}

std::string MatmulText::scalar_list() const {
  return desc_.epilogue.instruction_count == 0
             ? ""
             : scalar_parameters(desc_.epilogue, {"e", {}, scalar_name, ""});
}

std::string MatmulText::head(const char* name, size_t group, const std::string& parameters) const {
  return kernel_head(name, group) + space_.parameters() + scalar_list() + ", const long first_batch" +
         parameters + ") {\n" + "  const long m = " + space_.extent(rank_ - 3) +
         ", n = " + space_.extent(rank_ - 2) + ", depth = " + space_.extent(rank_ - 1) + ";\n";
}

std::string MatmulText::types() const {
  const std::string lanes = tile_.lanes == 1 ? "" : number(tile_.lanes);
  // A fused multiply-add where that is an instruction; elsewhere it would be a slow function.
  return "typedef " + type_ + " sum_t;\ntypedef " + type_ + lanes + " vec;\n" +
         "#if defined(FP_FAST_FMAF) || defined(FP_FAST_FMA) || defined(__FMA__)\n#define FUSED 1\n"
         "#else\n#define FUSED 0\n#endif\n";
}

std::string MatmulText::packed() const { return types() + pack() + multiply(); }

std::string MatmulText::multiply_add(const std::string& a, const std::string& b, const std::string& sum,
                                     bool vector) const {
  const std::string spread = vector ? "(vec)(" + a + ")" : a;
  if (!is_floating(desc_.compute_type)) return sum + " += " + spread + " * " + b + ";";
  return sum + " = FUSED ? fma(" + spread + ", " + b + ", " + sum + ") : " + spread + " * " + b + " + " +
         sum + ";";
}

// An element of a or b, in the type of the sums, at the batch that the pointers stand at.
std::string MatmulText::load(bool is_a, const std::string& row, const std::string& k) const {
  const uint32_t operand = is_a ? 1 : 2;
  const std::string place = "p" + std::to_string(operand) + "[" + row + " * " +
                            space_.stride(operand, is_a ? rank_ - 3 : rank_ - 2) + " + " + k + " * " +
                            space_.stride(operand, rank_ - 1) + "]";
  return "(sum_t)" + cast_text(desc_.types[operand], sum_type(desc_), load_text(desc_.types[operand], place));
}

std::string MatmulText::store(const std::string& sum, const std::string& row,
                              const std::string& column) const {
  const auto place = [&](uint32_t k) {
    return "p" + std::to_string(k) + "[" + row + " * " + space_.stride(k, rank_ - 3) + " + " + column +
           " * " + space_.stride(k, rank_ - 2) + "]";
  };
  const DType type = sum_type(desc_);
  const std::string value = std::string("(") + type_row(type).value + ")" + sum;
  if (desc_.epilogue.instruction_count == 0)
    return "    " + store_text(desc_.types[0], place(0), cast_text(type, desc_.types[0], value)) + "\n";
  std::vector<std::string> values;
  const auto input = [&](uint32_t i) {
    return i == 0 ? cast_text(type, desc_.epilogue.input_types[0], value)
                  : load_text(desc_.epilogue.input_types[i], place(i + 2));
  };
  std::string text = program_text(desc_.epilogue, {"e", input, scalar_name, ""}, &values);
  return text + "    " + store_text(result_type(desc_), place(0), values[0]) + "\n";
}

// A work-item packs one block of depth of one panel: a's panels come first, then b's.
std::string MatmulText::pack() const {
  return head("pack", 1,
              ", __global sum_t* packed_a, const ulong packed_a_at, const long panels_a, const long "
              "batches_a, "
              "__global sum_t* packed_b, const ulong packed_b_at, const long batches_b") +
         "  const long batch = first_batch + get_global_id(2);\n"
         "  const bool is_a = get_global_id(1) < panels_a;\n"
         "  if (get_global_id(2) >= (is_a ? batches_a : batches_b)) return;\n"
         "  const long k0 = get_global_id(0) * " +
         number(kDepth) + ", k1 = min(k0 + " + number(kDepth) + ", depth);\n" +
         space_.take_apart(0, rank_ - 3, "batch", "long") + space_.pointers(0, rank_ - 3) +
         "  if (is_a) {\n" + pack_panel(true) + "  } else {\n" + pack_panel(false) + "  }\n}\n";
}

std::string MatmulText::pack_panel(bool is_a) const {
  const std::string width = number(is_a ? tile_.rows : tile_.columns);
  const std::string name = is_a ? "packed_a" : "packed_b";
  // Past the last row any values will do: what is made of them is not stored.
  return std::string("    const long rows = ") + (is_a ? "m" : "n") + ", panel = get_global_id(1)" +
         (is_a ? "" : " - panels_a") + ";\n    const long panels = (rows + " + width + " - 1) / " + width +
         ", r0 = panel * " + width + ";\n    __global sum_t* to = " + name + " + " + name +
         "_at + (get_global_id(2) * panels + panel) * depth * " + width +
         ";\n    for (long k = k0; k < k1; ++k)\n      for (int r = 0; r < " + width +
         "; ++r) {\n        const long row = min(r0 + r, rows - 1);\n        to[k * " + width +
         " + r] = " + load(is_a, "row", "k") + ";\n      }\n";
}

std::string MatmulText::multiply() const {
  const std::string rows = number(tile_.rows);
  const std::string columns = number(tile_.columns);
  const std::string lanes = tile_.lanes == 1 ? "" : number(tile_.lanes);
  const std::string load_vector = "vload" + lanes;
  std::string zero, step, reload, keep;
  for (int64_t r = 0; r < tile_.rows; ++r)
    for (int64_t v = 0; v < 2; ++v) {
      const std::string sum = "s" + number(r) + "_" + number(v);
      const std::string place =
          joined({"sums + ", number(r), " * ", columns, " + ", number(v * tile_.lanes)});
      reload += joined({"      vec ", sum, " = ", load_vector, "(0, ", place, ");\n"});
      step += "        " + multiply_add("pa[" + number(r) + "]", "b" + number(v), sum, true) + "\n";
      keep += joined({"      vstore", lanes, "(", sum, ", 0, ", place, ");\n"});
    }
  const std::string panels = number(kPanels);
  const std::string depth = number(kDepth);
  return head("multiply", 1,
              ", __global const sum_t* packed_a, const ulong packed_a_at, const long batch_a, "
              "__global const sum_t* packed_b, const ulong packed_b_at, const long batch_b") +
         "  const long panels_a = (m + " + rows + " - 1) / " + rows + ", panels_b = (n + " + columns +
         " - 1) / " + columns + ";\n  const long panel_b = get_global_id(0), first_a = get_global_id(1) * " +
         panels + ", last_a = min(first_a + " + panels +
         ", panels_a);\n"
         "  const long batch = first_batch + get_global_id(2);\n"
         "  packed_a += packed_a_at + get_global_id(2) * batch_a;\n"
         "  packed_b += packed_b_at + get_global_id(2) * batch_b + panel_b * depth * " +
         columns + ";\n" + space_.take_apart(0, rank_ - 3, "batch", "long") + space_.pointers(0, rank_ - 3) +
         "  sum_t all_sums[" + panels + " * " + rows + " * " + columns +
         "];\n"
         "  for (int i = 0; i < " +
         panels + " * " + rows + " * " + columns +
         "; ++i) all_sums[i] = 0;\n"
         "  for (long k0 = 0; k0 < depth; k0 += " +
         depth +
         ") {\n"
         "    const long k1 = min(k0 + " +
         depth +
         ", depth);\n"
         "    for (long panel = first_a; panel < last_a; ++panel) {\n"
         "      sum_t* sums = all_sums + (panel - first_a) * (" +
         rows + " * " + columns + ");\n" + reload +
         "      __global const sum_t* pa = packed_a + (panel * depth + k0) * " + rows +
         ";\n"
         "      __global const sum_t* pb = packed_b + k0 * " +
         columns +
         ";\n"
         "      for (long k = k0; k < k1; ++k) {\n"
         "        const vec b0 = " +
         load_vector + "(0, pb), b1 = " + load_vector + "(0, pb + " + number(tile_.lanes) + ");\n" + step +
         "        pa += " + rows + ";\n        pb += " + columns + ";\n      }\n" + keep +
         "    }\n  }\n"
         "  const long c0 = panel_b * " +
         columns + ", c1 = min(c0 + " + columns +
         ", n);\n"
         "  const long r0 = first_a * " +
         rows + ", r1 = min(last_a * " + rows +
         ", m);\n"
         "  for (long r = r0; r < r1; ++r)\n" +
         kIndependent +
         "  for (long c = c0; c < c1; ++c) {\n"
         "    const sum_t sum = all_sums[(r - r0) * " +
         columns + " + (c - c0)];\n" + store("sum", "r", "c") + "  }\n}\n";
}

// A work-item makes some neighbours in one row.
std::string MatmulText::small() const {
  const std::string width = number(kSmallColumns);
  return types() + head("small", 1, "") +
         "  const long r = get_global_id(1), batch = first_batch + get_global_id(2);\n"
         "  const long c0 = get_global_id(0) * " +
         width + ";\n  const int count = (int)min((long)" + width + ", n - c0);\n" +
         space_.take_apart(0, rank_ - 3, "batch", "long") + space_.pointers(0, rank_ - 3) + "  sum_t sums[" +
         width + "];\n  for (int c = 0; c < " + width +
         "; ++c) sums[c] = 0;\n"
         "  for (long k = 0; k < depth; ++k) {\n    const sum_t a = " +
         load(true, "r", "k") + ";\n" + kIndependent +
         "    for (int c = 0; c < count; ++c) {\n      const sum_t b = " + load(false, "(c0 + c)", "k") +
         ";\n      " + multiply_add("a", "b", "sums[c]", false) +
         "\n    }\n  }\n  for (int c = 0; c < count; ++c) {\n" + store("sums[c]", "r", "(c0 + c)") +
         "  }\n}\n";
}

// 256 work-items make 64 by 64 elements, 4 by 4 each; neighbours in a group take neighbouring columns.
std::string MatmulText::group() const {
  std::string products;
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c)
      products += "        " +
                  multiply_add("a" + number(r), "b" + number(c), "s" + number(r) + number(c), false) + "\n";
  std::string declare, read, write;
  for (int r = 0; r < 4; ++r) {
    read += "        const sum_t a" + number(r) + " = tile_a[k][y + " + number(16 * r) + "], b" + number(r) +
            " = tile_b[k][x + " + number(16 * r) + "];\n";
    for (int c = 0; c < 4; ++c) {
      const std::string sum = "s" + number(r) + number(c);
      declare += "  sum_t " + sum + " = 0;\n";
      const std::string row = "(r0 + y + " + number(16 * r) + ")",
                        column = "(c0 + x + " + number(16 * c) + ")";
      write += joined({"  if (", row, " < m && ", column, " < n) {\n", store(sum, row, column), "  }\n"});
    }
  }
  return types() + head("multiply", 256, "") +
         "  __local sum_t tile_a[16][65];\n  __local sum_t tile_b[16][65];\n"
         "  const int id = get_local_id(0), x = id & 15, y = id >> 4;\n"
         "  const long c0 = get_group_id(0) * 64L, r0 = get_group_id(1) * 64L, batch = first_batch + "
         "get_group_id(2);\n" +
         space_.take_apart(0, rank_ - 3, "batch", "long") + space_.pointers(0, rank_ - 3) + declare +
         "  for (long k0 = 0; k0 < depth; k0 += 16) {\n"
         "    for (int i = id; i < 1024; i += 256) {\n"
         "      const int ka = i & 15, ra = i >> 4, cb = i & 63, kb = i >> 6;\n"
         "      tile_a[ka][ra] = 0;\n      tile_b[kb][cb] = 0;\n"
         "      if (r0 + ra < m && k0 + ka < depth) tile_a[ka][ra] = " +
         load(true, "(r0 + ra)", "(k0 + ka)") +
         ";\n"
         "      if (c0 + cb < n && k0 + kb < depth) tile_b[kb][cb] = " +
         load(false, "(c0 + cb)", "(k0 + kb)") +
         ";\n"
         "    }\n    barrier(CLK_LOCAL_MEM_FENCE);\n    for (int k = 0; k < 16; ++k) {\n" +
         read + products + "    }\n    barrier(CLK_LOCAL_MEM_FENCE);\n  }\n" + write + "}\n";
}

}  // namespace backplane::opencl
