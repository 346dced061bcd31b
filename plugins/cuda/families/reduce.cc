// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "make.h"
#include "types_of.h"
#include "wrapped.h"

namespace backplane::cuda::families {
namespace {

using plugin::Program;
using plugin::ReduceOp;

constexpr const char* kNames[] = {"sum", "prod", "max", "min", "argmax", "argmin"};
constexpr uint64_t kPartBytes = 16;  // the largest partial result

bool is_place(ReduceOp op) { return op == ReduceOp::ArgMax || op == ReduceOp::ArgMin; }
bool is_sum(ReduceOp op) { return op == ReduceOp::Sum || op == ReduceOp::Prod; }

// How the work is divided. Depends on sizes alone, so that results are the same on every card and every time.
struct Plan {
  uint32_t lanes;
  int64_t splits;
  int64_t chunk;
};

Plan plan_for(int64_t outputs, int64_t reduced, bool along_outputs) {
  constexpr int64_t kWantedThreads = 1 << 16;
  constexpr int64_t kLeastPerLane = 16;
  constexpr int64_t kMostSplits = 1024;
  Plan plan{1, 1, reduced};
  if (!along_outputs)
    while (plan.lanes < kBlockThreads && static_cast<int64_t>(plan.lanes) * 4 < reduced) plan.lanes *= 2;
  const int64_t threads = outputs * plan.lanes;
  if (threads < kWantedThreads) {
    const int64_t useful = std::max<int64_t>(1, reduced / (plan.lanes * kLeastPerLane));
    plan.splits = std::min({(kWantedThreads + threads - 1) / threads, useful, kMostSplits});
  }
  // Chunks are multiples of what 16 bytes can hold of the smallest type.
  plan.chunk =
      static_cast<int64_t>(round_up(static_cast<uint64_t>((reduced + plan.splits - 1) / plan.splits), 16));
  plan.splits = (reduced + plan.chunk - 1) / plan.chunk;
  return plan;
}

class ReduceKernel final : public Kernel {
 public:
  ReduceKernel(std::shared_ptr<DeviceState> state, const KernelDesc& desc)
      : Kernel(std::move(state)), desc_(desc), op_(static_cast<ReduceOp>(desc.op)) {}

  Status build() override {
    in_type_ = desc_.program.input_types[0];
    DType type = DType::Bool;
    direct_in_ = is_identity(desc_.program, &type) && type == in_type_ && accepts(in_type_);
    // A cast to the compute type is what reading does anyway.
    if (!direct_in_ && is_identity(desc_.program, &type) && type == desc_.compute_type && is_sum(op_) &&
        is_direct(in_type_, desc_.compute_type))
      direct_in_ = true;
    if (!direct_in_) in_type_ = slot_type(desc_.program, desc_.program.outputs[0]);
    combined_ = is_place(op_) ? DType::Int64 : desc_.compute_type;
    out_type_ = combined_;
    direct_out_ = desc_.epilogue.instruction_count == 0;
    if (!direct_out_ && is_identity(desc_.epilogue, &type) && desc_.epilogue.input_types[0] == combined_) {
      direct_out_ = true;
      out_type_ = type;
    }
    if (!direct_in_) BACKPLANE_TRY(make_elementwise(state_, elementwise_desc(desc_.program), &prologue_));
    if (!direct_out_) BACKPLANE_TRY(make_elementwise(state_, elementwise_desc(desc_.epilogue), &epilogue_));
    const std::string module = std::string("reduce_") + reading_class();
    const std::string kernel = std::string("reduce_") + kNames[desc_.op];
    BACKPLANE_TRY(find(module.c_str(), kernel.c_str(), &function_));
    return find(module.c_str(), (kernel + "_finish").c_str(), &finish_);
  }

  Status scratch(const LaunchArgs& args, uint64_t* bytes) override {
    *bytes = layout_of(args).bytes;
    return kOk;
  }

  Status run(Stream& stream, const LaunchArgs& args) override {
    const Offsets offsets = layout_of(args);
    const uint32_t outer_rank = args.rank - args.reduced_rank;
    const Space outer = space_of(args, 0, outer_rank);
    if (!direct_in_) BACKPLANE_TRY(run_prologue(stream, args, offsets));
    Operand in = direct_in_ ? args.operand(1) : scratch_operand(args, offsets.prologue, space_of(args));
    Operand out = direct_out_ ? args.operand(0) : scratch_operand(args, offsets.combined, outer);
    BACKPLANE_TRY(reduce(stream, args, in, out, scratch_address(args, offsets.parts)));
    return direct_out_ ? kOk : run_epilogue(stream, args, out, outer_rank);
  }

 private:
  struct Offsets {
    uint64_t prologue, parts, combined, bytes;
  };

  // Types that the kernels read as they are: see with_member in accumulate.cuh.
  bool accepts(DType type) const {
    return is_sum(op_) ? is_direct(type, desc_.compute_type) : is_widening(type, desc_.compute_type);
  }

  // Integers are read by the class of their own type, whatever they are summed in.
  const char* reading_class() const {
    return class_of(is_floating(desc_.compute_type) ? desc_.compute_type : in_type_);
  }

  static bool is_along_outputs(const LaunchArgs& args, const Operand& in) {
    const uint32_t outer_rank = args.rank - args.reduced_rank;
    if (outer_rank == 0) return false;
    return std::abs(in.strides[outer_rank - 1]) < std::abs(in.strides[args.rank - 1]);
  }

  Plan plan_of(const LaunchArgs& args) const {
    const uint32_t outer_rank = args.rank - args.reduced_rank;
    const bool along = direct_in_ && is_along_outputs(args, args.operand(1));
    return plan_for(space_of(args, 0, outer_rank).count, space_of(args, outer_rank, args.reduced_rank).count,
                    along);
  }

  Offsets layout_of(const LaunchArgs& args) const {
    constexpr uint64_t kAlign = 256;
    const uint64_t outputs = static_cast<uint64_t>(space_of(args, 0, args.rank - args.reduced_rank).count);
    const uint64_t points = static_cast<uint64_t>(space_of(args).count);
    const int64_t splits = plan_of(args).splits;
    Offsets offsets{};
    offsets.parts = direct_in_ ? 0 : round_up(points * plugin::size_of(in_type_), kAlign);
    const uint64_t parts = splits > 1 ? static_cast<uint64_t>(splits) * outputs * kPartBytes : 0;
    offsets.combined = offsets.parts + round_up(parts, kAlign);
    offsets.bytes = offsets.combined + (direct_out_ ? 0 : outputs * plugin::size_of(combined_));
    return offsets;
  }

  Status run_prologue(Stream& stream, const LaunchArgs& args, const Offsets& offsets) {
    InnerLaunch inner(args, args.rank);
    inner.add(scratch_operand(args, offsets.prologue, space_of(args)));
    for (uint32_t i = 0; i < desc_.program.input_count; ++i) inner.add(args.operand(1 + i));
    inner.set_scalars(args.scalars, desc_.program.scalar_count);
    return inner.run(*prologue_, stream);
  }

  Status run_epilogue(Stream& stream, const LaunchArgs& args, const Operand& combined, uint32_t outer_rank) {
    InnerLaunch inner(args, outer_rank);
    inner.add(args.operand(0));
    inner.add(combined);
    for (uint32_t i = 1; i < desc_.epilogue.input_count; ++i)
      inner.add(args.operand(desc_.program.input_count + i));
    inner.set_scalars(args.scalars + desc_.program.scalar_count, desc_.epilogue.scalar_count);
    return inner.run(*epilogue_, stream);
  }

  Status reduce(Stream& stream, const LaunchArgs& args, const Operand& in, const Operand& out,
                uint64_t parts) {
    const uint32_t outer_rank = args.rank - args.reduced_rank;
    const Plan plan = plan_of(args);
    ReduceParams params{};
    params.outer = space_of(args, 0, outer_rank);
    params.inner = space_of(args, outer_rank, args.reduced_rank);
    params.in_outer = view_of(in, 0, outer_rank);
    params.in_inner = view_of(in, outer_rank, args.reduced_rank);
    params.out = view_of(out, 0, outer_rank);
    params.scratch = parts;
    params.splits = plan.splits;
    params.chunk = plan.chunk;
    params.lanes = plan.lanes;
    params.in_type = number(in_type_);
    params.compute_type = number(desc_.compute_type);
    params.out_type = number(direct_out_ ? out_type_ : combined_);
    params.vector = is_vector(params) ? 1 : 0;
    const uint64_t items = kBlockThreads / plan.lanes;
    BACKPLANE_TRY(
        stream.launch(function_, blocks(params.outer.count * plan.splits, items), kBlockThreads, &params));
    if (plan.splits == 1) return kOk;
    params.lanes = 1;
    while (params.lanes < kBlockThreads && params.lanes < plan.splits) params.lanes *= 2;
    return stream.launch(finish_, blocks(params.outer.count, kBlockThreads / params.lanes), kBlockThreads,
                         &params);
  }

  // Whether every row of the reduced elements is contiguous and starts at 16 bytes.
  bool is_vector(const ReduceParams& params) const {
    const int64_t size = plugin::size_of(in_type_);
    if (!is_contiguous(params.inner, params.in_inner) || !is_aligned(params.in_outer.address)) return false;
    for (uint32_t d = 0; d < params.outer.rank; ++d)
      if (params.in_outer.strides[d] * size % 16 != 0) return false;
    return true;
  }

  const KernelDesc desc_;
  const ReduceOp op_;
  DType in_type_ = DType::Bool;   // what the reduction itself reads
  DType combined_ = DType::Bool;  // what it makes, before the epilogue
  DType out_type_ = DType::Bool;
  bool direct_in_ = false;   // no prologue kernel is needed
  bool direct_out_ = false;  // no epilogue kernel is needed
  std::unique_ptr<Kernel> prologue_;
  std::unique_ptr<Kernel> epilogue_;
  CUfunction function_ = nullptr;
  CUfunction finish_ = nullptr;
};

}  // namespace

Status supports_reduce(const DeviceState&, const KernelDesc& desc) {
  if (desc.op > static_cast<uint8_t>(ReduceOp::ArgMin)) return plugin::unimplemented("this reduction");
  BACKPLANE_TRY(check_program(desc.program));
  if (desc.epilogue.instruction_count > 0) BACKPLANE_TRY(check_program(desc.epilogue));
  const auto op = static_cast<ReduceOp>(desc.op);
  if (desc.program.output_count != 1)
    return make_status(StatusCode::InvalidArgument, 0, "reduce: a prologue with %u outputs",
                       desc.program.output_count);
  if (is_sum(op) && desc.compute_type == DType::Bool) return plugin::unimplemented("a sum computed in bool");
  const DType made = slot_type(desc.program, desc.program.outputs[0]);
  const bool fits = is_sum(op) ? is_direct(made, desc.compute_type) : is_widening(made, desc.compute_type);
  return fits ? kOk : plugin::unimplemented("a reduction whose prologue does not make its compute type");
}

Status make_reduce(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc,
                   std::unique_ptr<Kernel>* kernel) {
  *kernel = std::make_unique<ReduceKernel>(state, desc);
  return (*kernel)->build();
}

}  // namespace backplane::cuda::families
