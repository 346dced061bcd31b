// SPDX-License-Identifier: Apache-2.0
//
// Softmax and the normalisations, along the last dimension. A row belongs to one work-item of a CPU, or to
// one group of a GPU, whose members put their partial results together in local memory.
#include "opencl/accumulate.h"
#include "opencl/device.h"
#include "opencl/families.h"
#include "opencl/generate.h"

namespace backplane::opencl {

using plugin::DType;
using plugin::KernelDesc;
using plugin::ReduceOp;
using plugin::RowwiseOp;

namespace {

// Independent chains of additions on a CPU.
constexpr int kLanes = 8;

class RowwiseText {
 public:
  RowwiseText(const KernelDesc& desc, const SpaceText& space, uint32_t rank, size_t group)
      : desc_(desc), space_(space), rank_(rank), group_(group) {}

  std::string source() const {
    const std::string type = type_row(compute()).value;
    std::string text = renamed(accumulator(ReduceOp::Sum, compute()), "sum") +
                       renamed(accumulator(ReduceOp::Max, compute()), "max") +
                       kernel_head("rowwise", group_) + space_.parameters() + ", const " + type +
                       " epsilon, const long rows) {\n";
    if (group_ > 1)
      text += "  __local sum_t sum_shared[" + std::to_string(group_) + "];\n  __local max_t max_shared[" +
              std::to_string(group_) + "];\n";
    return text + "  const long row = get_group_id(0);\n  const long n = " + space_.extent(rank_ - 1) +
           ";\n" + "  const " + type + " count = " + cast_text(DType::Int64, compute(), "n") + ";\n" +
           space_.take_apart(0, rank_ - 1, "row", "long") + space_.pointers(0, rank_ - 1) + body() + "}\n";
  }

 private:
  DType compute() const { return desc_.compute_type; }
  std::string call(const char* op, const std::string& arguments) const {
    return std::string("bp_") + op + "_" + type_row(compute()).suffix + "(" + arguments + ")";
  }
  std::string operand(uint32_t k, const std::string& i) const {
    return cast_text(desc_.types[0], compute(), load_text(desc_.types[0], space_.element(k, i)));
  }

  // Leaves the sum, or the maximum, of `x` over the row in `name`.
  std::string over_row(const std::string& name, const std::string& kind, const std::string& x) const {
    const std::string lanes = std::to_string(kLanes);
    const std::string type = type_row(compute()).value;
    std::string text = "  " + type + " " + name + ";\n  {\n";
    if (group_ == 1) {
      text += "    " + kind + "_t acc[" + lanes + "];\n    for (int l = 0; l < " + lanes +
              "; ++l) acc[l] = " + kind + "_none();\n    long at = 0;\n    for (; at + " + lanes +
              " <= n; at += " + lanes + ")\n      for (int l = 0; l < " + lanes +
              "; ++l) {\n        const long i = at + l;\n        acc[l] = " + kind + "_add(acc[l], " + x +
              ", i);\n      }\n    for (long i = at; i < n; ++i) acc[0] = " + kind + "_add(acc[0], " + x +
              ", i);\n    for (int l = 1; l < " + lanes + "; ++l) acc[0] = " + kind +
              "_merge(acc[0], acc[l]);\n    " + name + " = " + kind + "_value(acc[0]);\n";
    } else {
      const std::string shared = kind + "_shared";
      text += "    " + kind + "_t acc = " + kind +
              "_none();\n    for (long i = get_local_id(0); i < n; i += " + std::to_string(group_) +
              ") acc = " + kind + "_add(acc, " + x + ", i);\n    " + shared +
              "[get_local_id(0)] = acc;\n    for (uint step = " + std::to_string(group_ / 2) +
              "; step > 0; step >>= 1) {\n      barrier(CLK_LOCAL_MEM_FENCE);\n      if (get_local_id(0) < "
              "step)\n        " +
              shared + "[get_local_id(0)] = " + kind + "_merge(" + shared + "[get_local_id(0)], " + shared +
              "[get_local_id(0) + step]);\n    }\n    barrier(CLK_LOCAL_MEM_FENCE);\n    " + name + " = " +
              kind + "_value(" + shared + "[0]);\n    barrier(CLK_LOCAL_MEM_FENCE);\n";
    }
    return text + "  }\n";
  }

  std::string write(const std::string& value) const {
    const std::string loop =
        group_ == 1 ? kIndependent + std::string("  for (long i = 0; i < n; ++i) {\n")
                    : "  for (long i = get_local_id(0); i < n; i += " + std::to_string(group_) + ") {\n";
    return loop + "    " +
           store_text(desc_.types[0], space_.element(0, "i"), cast_text(compute(), desc_.types[0], value)) +
           "\n  }\n";
  }

  // The normalised value, times the weight, plus the bias, where there are such.
  std::string scaled(std::string value) const {
    const bool weight = (desc_.flags & plugin::kRowwiseWeight) != 0;
    if (weight) value = call("multiply", value + ", " + operand(2, "i"));
    if ((desc_.flags & plugin::kRowwiseBias) != 0)
      value = call("add", value + ", " + operand(weight ? 3 : 2, "i"));
    return value;
  }

  std::string body() const {
    const std::string x = operand(1, "i");
    const std::string type = type_row(compute()).value;
    const auto root = [&](const std::string& square) {
      return "  const " + type + " root = " + call("sqrt", call("add", square + ", epsilon")) + ";\n";
    };
    switch (static_cast<RowwiseOp>(desc_.op)) {
      case RowwiseOp::Softmax: {
        const std::string power = call("exp", x + " - most");
        return over_row("most", "max", x) + over_row("total", "sum", power) +
               write(call("divide", power + ", total"));
      }
      case RowwiseOp::LogSoftmax:
        return over_row("most", "max", x) + over_row("total", "sum", call("exp", x + " - most")) +
               "  const " + type + " log_total = " + call("log", "total") + ";\n" +
               write("(" + x + " - most) - log_total");
      case RowwiseOp::LayerNorm:
        return over_row("total", "sum", x) + "  const " + type + " mean = " + call("divide", "total, count") +
               ";\n" + over_row("squares", "sum", call("square", x + " - mean")) +
               root(call("divide", "squares, count")) + write(scaled(call("divide", x + " - mean, root")));
      case RowwiseOp::RmsNorm:
        return over_row("squares", "sum", call("square", x)) + root(call("divide", "squares, count")) +
               write(scaled(call("divide", x + ", root")));
    }
    return {};
  }

  const KernelDesc& desc_;
  const SpaceText& space_;
  uint32_t rank_;
  size_t group_;
};

class RowwiseKernel final : public ClKernel {
 public:
  using ClKernel::ClKernel;

 private:
  Status run(ClStream* stream, const plugin::LaunchArgs& args) override {
    const Space space = read_space(args);
    std::vector<OperandText> operands{operand_text(desc_.types[0], true)};
    while (operands.size() < args.operand_count) operands.push_back(operand_text(desc_.types[0], false));
    const SpaceText text(facts(), operands, space.rank, space.inner);
    const size_t group = on_cpu() ? 1 : std::min<size_t>(group_size(), 128);
    Variant* variant = nullptr;
    BACKPLANE_OPENCL_TRY(variants_.get(
        device_, text.key(), "rowwise", [&] { return RowwiseText(desc_, text, space.rank, group).source(); },
        &variant));
    const int64_t rows = space.points(0, space.rank - 1);
    Invocation invocation(*variant);
    MemoryHandle spill;
    BACKPLANE_OPENCL_TRY(text.pass(device_, space, &invocation, &spill));
    const plugin::Scalar none{};
    const ScalarBytes epsilon =
        scalar_bytes(desc_.compute_type, args.scalar_count == 0 ? none : args.scalars[0]);
    invocation.bytes(epsilon.bytes, epsilon.size).value(rows);
    return invocation.run(stream, {static_cast<size_t>(rows), 1, 1}, {group, 1, 1}, args.label);
  }
};

}  // namespace

Status check_rowwise(const Facts& facts, const KernelDesc& desc) {
  if (desc.op > static_cast<uint8_t>(RowwiseOp::RmsNorm))
    return plugin::make_status(StatusCode::Unimplemented, 0,
                               "rowwise operation %u is not known to this plugin", desc.op);
  for (const DType type : {desc.types[0], desc.compute_type}) {
    BACKPLANE_OPENCL_TRY(check_type(facts, type));
    if (!is_floating(type))
      return plugin::make_status(StatusCode::InvalidArgument, 0, "a rowwise operation on %s",
                                 type_row(type).suffix);
  }
  return kOk;
}

Status make_rowwise(ClDevice* device, const KernelDesc& desc, plugin::Kernel** kernel) {
  return make_kernel<RowwiseKernel>(device, desc, kernel);
}

}  // namespace backplane::opencl
