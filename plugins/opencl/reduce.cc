// SPDX-License-Identifier: Apache-2.0
//
// Reductions. How the reduced elements are split depends on the shape alone, so that results do not depend on
// how many units the device has. Partial results of splits lie in the workspace.
#include "opencl/device.h"
#include "opencl/families.h"
#include "opencl/generate.h"
#include "opencl/program_text.h"
#include "opencl/reduce_text.h"

namespace backplane::opencl {

using plugin::KernelDesc;
using plugin::ReduceOp;

namespace {

struct Plan {
  Space space;
  uint32_t reduced_rank;
  int64_t outputs;
  int64_t reduced;
  int64_t split_size;
  int64_t splits;
  bool by_columns;
};

class ReduceKernel final : public ClKernel {
 public:
  ReduceKernel(ClDevice* device, const KernelDesc& desc)
      : ClKernel(device, desc),
        partial_size_(accumulator(static_cast<ReduceOp>(desc.op), desc.compute_type).size) {}

 private:
  Plan plan(const plugin::LaunchArgs& args) const {
    Plan plan{};
    plan.space = read_space(args);
    plan.reduced_rank = args.reduced_rank;
    if (plan.reduced_rank == 0 || args.rank == 0) {
      // Nothing to reduce: one dimension of one element is.
      if (args.rank != 0) plan.space.shape[plan.space.rank++] = 1;
      plan.space.inner.assign(plan.space.operand_count, '1');
      plan.reduced_rank = 1;
    }
    const uint32_t kept = plan.space.rank - plan.reduced_rank;
    plan.outputs = plan.space.points(0, kept);
    plan.reduced = plan.space.points(kept, plan.space.rank);
    plan.by_columns = on_cpu() && prefers_columns(plan.space, kept);
    const int64_t parallel = plan.by_columns ? plan.outputs / 16 : plan.outputs;
    const int64_t least = on_cpu() ? 8192 : 4096;
    const int64_t most = std::max<int64_t>(1, (on_cpu() ? 64 : 512) / std::max<int64_t>(1, parallel));
    plan.split_size = std::max(least, (plan.reduced + most - 1) / most);
    plan.splits = (plan.reduced + plan.split_size - 1) / plan.split_size;
    return plan;
  }

  // Whether neighbouring outputs are neighbours in memory, and neighbouring reduced elements are not.
  bool prefers_columns(const Space& space, uint32_t kept) const {
    if (kept == 0 || space.shape[kept - 1] < 8) return false;
    bool is_strided = false;
    for (uint32_t k = 1; k <= desc_.program.input_count; ++k) {
      const int64_t across = space.stride(k, kept - 1);
      if (across != 0 && across != 1) return false;
      if (across == 1 && space.stride(k, space.rank - 1) != 1) is_strided = true;
    }
    return is_strided;
  }

  uint64_t scratch(const plugin::LaunchArgs& args) override {
    const Plan made = plan(args);
    return made.splits == 1 ? 0 : static_cast<uint64_t>(made.outputs * made.splits) * partial_size_;
  }

  Status run(ClStream* stream, const plugin::LaunchArgs& args) override {
    if (args.rank == plugin::kMaxRank && args.reduced_rank == 0)
      return plugin::make_status(StatusCode::InvalidArgument, 0, "%s: a reduction that reduces no dimension",
                                 args.label);
    const Plan made = plan(args);
    const SpaceText text(facts(), reduce_operands(desc_), made.space.rank, made.space.inner);
    const ReduceText generator(desc_, text, made.space, made.reduced_rank);
    std::string key = text.key() + "/" + std::to_string(made.reduced_rank);
    BACKPLANE_OPENCL_TRY(on_cpu() ? reduce_on_cpu(stream, args, made, text, generator, &key)
                                  : reduce_on_gpu(stream, args, made, text, generator, &key));
    if (made.splits == 1) return kOk;
    Variant* variant = nullptr;
    // The program of the first step has this kernel too.
    BACKPLANE_OPENCL_TRY(variants_.get(
        device_, key, "finish", [] { return std::string(); }, &variant));
    return launch_variant(stream, args, made, text, *variant, {static_cast<size_t>(made.outputs), 1, 1}, 1);
  }

  Status reduce_on_cpu(ClStream* stream, const plugin::LaunchArgs& args, const Plan& made,
                       const SpaceText& text, const ReduceText& generator, std::string* key) {
    const auto splits = static_cast<size_t>(made.splits);
    Variant* variant = nullptr;
    if (made.by_columns) {
      std::string strides;
      const uint32_t across = made.space.rank - made.reduced_rank - 1;
      for (uint32_t k = 1; k <= desc_.program.input_count; ++k)
        strides += made.space.stride(k, across) == 0 ? '0' : '1';
      *key += "columns" + strides;
      BACKPLANE_OPENCL_TRY(variants_.get(
          device_, *key, "reduce", [&] { return generator.columns(); }, &variant));
      const int64_t width = made.space.shape[across];
      const size_t blocks =
          groups_for(width, ReduceText::kColumns) * static_cast<size_t>(made.outputs / width);
      return launch_variant(stream, args, made, text, *variant, {blocks, splits, 1}, 1);
    }
    const int64_t each = made.reduced >= 4096 ? 1 : 4096 / made.reduced < 64 ? 16 : 256;
    *key += "rows" + std::to_string(each);
    BACKPLANE_OPENCL_TRY(variants_.get(
        device_, *key, "reduce", [&] { return generator.rows(each); }, &variant));
    return launch_variant(stream, args, made, text, *variant, {groups_for(made.outputs, each), splits, 1}, 1);
  }

  Status reduce_on_gpu(ClStream* stream, const plugin::LaunchArgs& args, const Plan& made,
                       const SpaceText& text, const ReduceText& generator, std::string* key) {
    const size_t most = std::bit_floor(std::max<uint64_t>(1, facts().local_memory / partial_size_));
    const size_t size = std::min(group_size(), most);
    Variant* variant = nullptr;
    *key += "group";
    BACKPLANE_OPENCL_TRY(variants_.get(
        device_, *key, "reduce", [&] { return generator.group(size); }, &variant));
    return launch_variant(stream, args, made, text, *variant,
                          {static_cast<size_t>(made.outputs), static_cast<size_t>(made.splits), 1}, size);
  }

  Status launch_variant(ClStream* stream, const plugin::LaunchArgs& args, const Plan& made,
                        const SpaceText& text, Variant& variant, const Size3& groups, size_t size) {
    Invocation invocation(variant);
    MemoryHandle spill;
    BACKPLANE_OPENCL_TRY(text.pass(device_, made.space, &invocation, &spill));
    const plugin::Program& first = desc_.program;
    const plugin::Program& second = desc_.epilogue;
    for (uint32_t i = 0; i < first.scalar_count + second.scalar_count; ++i) {
      const plugin::DType type =
          i < first.scalar_count ? first.scalar_types[i] : second.scalar_types[i - first.scalar_count];
      const ScalarBytes scalar = scalar_bytes(type, args.scalars[i]);
      invocation.bytes(scalar.bytes, scalar.size);
    }
    const Scratch partials = made.splits == 1 ? Scratch{nullptr, 0} : scratch_at(args, 0);
    invocation.buffer(partials.memory).value(uint64_t{partials.offset / partial_size_});
    invocation.value(made.outputs).value(made.splits).value(made.split_size).value(made.reduced);
    return invocation.run(stream, groups, {size, 1, 1}, args.label);
  }

  const uint32_t partial_size_;
};

}  // namespace

Status check_reduce(const Facts& facts, const KernelDesc& desc) {
  if (desc.op > static_cast<uint8_t>(ReduceOp::ArgMin))
    return plugin::make_status(StatusCode::Unimplemented, 0, "reduction %u is not known to this plugin",
                               desc.op);
  BACKPLANE_OPENCL_TRY(check_type(facts, desc.compute_type));
  BACKPLANE_OPENCL_TRY(check_program(facts, desc.program));
  BACKPLANE_OPENCL_TRY(check_program(facts, desc.epilogue));
  if (desc.program.output_count != 1 || desc.epilogue.output_count > 1)
    return plugin::make_status(StatusCode::InvalidArgument, 0, "a reduction's programs have one output");
  if (desc.compute_type == plugin::DType::Bool && desc.op <= static_cast<uint8_t>(ReduceOp::Prod))
    return plugin::make_status(StatusCode::InvalidArgument, 0, "bool is not a type to add or multiply in");
  return kOk;
}

Status make_reduce(ClDevice* device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  return make_kernel<ReduceKernel>(device, desc, kernel);
}

}  // namespace backplane::opencl
