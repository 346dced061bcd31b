// SPDX-License-Identifier: Apache-2.0
#include "opencl/clblast.h"
#include "opencl/device.h"
#include "opencl/families.h"
#include "opencl/generate.h"
#include "opencl/matmul_text.h"
#include "opencl/program_text.h"

namespace backplane::opencl {

using plugin::DType;
using plugin::KernelDesc;

namespace {

// Products with fewer multiplications are done without packing.
constexpr int64_t kSmallProducts = int64_t{48} * 48 * 48;
// Batches are packed together up to this much workspace.
constexpr uint64_t kPackedBytes = uint64_t{64} << 20;

class MatmulKernel final : public ClKernel {
 public:
  using ClKernel::ClKernel;

 private:
  struct Plan {
    Space space;
    int64_t m, n, depth, batches;
    bool is_small;
    bool packs_a_once, packs_b_once;  // the operand is the same in every batch
    int64_t panels_a, panels_b;
    int64_t size_a, size_b;  // of one batch's panels, in elements
    int64_t together;        // batches packed at a time
    uint64_t element;        // bytes
  };

  Plan plan(const plugin::LaunchArgs& args) const {
    Plan p{};
    p.space = read_space(args);
    const uint32_t rank = p.space.rank;
    p.m = p.space.shape[rank - 3];
    p.n = p.space.shape[rank - 2];
    p.depth = p.space.shape[rank - 1];
    p.batches = p.space.points(0, rank - 3);
    p.is_small = p.m * p.n * std::max<int64_t>(1, p.depth) <= kSmallProducts || p.m == 1;
    p.packs_a_once = is_same_in_batches(p.space, 1);
    p.packs_b_once = is_same_in_batches(p.space, 2);
    const MatmulTile tile = matmul_tile(facts(), desc_.compute_type);
    p.panels_a = static_cast<int64_t>(groups_for(p.m, tile.rows));
    p.panels_b = static_cast<int64_t>(groups_for(p.n, tile.columns));
    p.size_a = p.panels_a * tile.rows * p.depth;
    p.size_b = p.panels_b * tile.columns * p.depth;
    p.element = is_floating(desc_.compute_type) ? type_row(desc_.compute_type).value_size
                                                : plugin::size_of(desc_.compute_type);
    const uint64_t each = ((p.packs_a_once ? 0 : p.size_a) + (p.packs_b_once ? 0 : p.size_b)) * p.element;
    p.together = each == 0 ? p.batches : std::clamp<int64_t>(kPackedBytes / each, 1, p.batches);
    return p;
  }

  static bool is_same_in_batches(const Space& space, uint32_t operand) {
    for (uint32_t d = 0; d + 3 < space.rank; ++d)
      if (space.shape[d] != 1 && space.stride(operand, d) != 0) return false;
    return true;
  }

  static uint64_t rounded(uint64_t bytes) { return (bytes + 63) / 64 * 64; }
  static uint64_t bytes_a(const Plan& p) {
    return rounded((p.packs_a_once ? 1 : p.together) * p.size_a * p.element);
  }
  static uint64_t bytes_b(const Plan& p) {
    return rounded((p.packs_b_once ? 1 : p.together) * p.size_b * p.element);
  }

  uint64_t scratch(const plugin::LaunchArgs& args) override {
    if (!on_cpu() || args.rank < 3) return 0;
    const Plan p = plan(args);
    return p.is_small ? 0 : bytes_a(p) + bytes_b(p);
  }

  Status run(ClStream* stream, const plugin::LaunchArgs& args) override {
    if (args.rank < 3)
      return plugin::make_status(StatusCode::InvalidArgument, 0, "%s: a matrix product in %u dimensions",
                                 args.label, args.rank);
    Plan p = plan(args);
    // An empty sum still wants its zeros stored; nothing is read then.
    const SpaceText text(facts(), matmul_operands(desc_), p.space.rank, p.space.inner);
    const MatmulText generator(facts(), desc_, text, p.space.rank);
    const auto m = static_cast<size_t>(p.m);
    const auto batches = static_cast<size_t>(p.batches);
    if (!on_cpu()) {
      const size_t side = MatmulText::kGroupSide;
      const auto own = [&] {
        return step(
            stream, p, text, "multiply", [&] { return generator.group(); }, 0,
            {groups_for(p.n, side), groups_for(m, side), batches}, 256, [](Invocation&) {});
      };
      if (const auto product = clblast_product(desc_, p.space)) return clblast_.run(stream, *product, own);
      return own();
    }
    if (p.is_small)
      return step(
          stream, p, text, "small", [&] { return generator.small(); }, 0,
          {groups_for(p.n, MatmulText::kSmallColumns), m, batches}, 1, [](Invocation&) {});
    for (int64_t first = 0; first < p.batches; first += p.together)
      BACKPLANE_OPENCL_TRY(
          run_packed(stream, p, text, generator, first, std::min(p.together, p.batches - first)));
    return kOk;
  }

  Status run_packed(ClStream* stream, const Plan& p, const SpaceText& text, const MatmulText& generator,
                    int64_t first, int64_t count) {
    const Scratch a = scratch_at(*p.space.args, 0);
    const Scratch b = scratch_at(*p.space.args, bytes_a(p));
    const size_t blocks = groups_for(p.depth, MatmulText::kDepth);
    const auto batches = static_cast<size_t>(count);
    const auto source = [&] { return generator.packed(); };
    const int64_t panels_a = first == 0 || !p.packs_a_once ? p.panels_a : 0;
    const int64_t panels_b = first == 0 || !p.packs_b_once ? p.panels_b : 0;
    BACKPLANE_OPENCL_TRY(
        step(stream, p, text, "pack", source, first,
             {blocks, static_cast<size_t>(panels_a + panels_b), batches}, 1, [&](Invocation& invocation) {
               invocation.buffer(a.memory).value(uint64_t{a.offset / p.element}).value(panels_a);
               invocation.value(p.packs_a_once ? int64_t{1} : count);
               invocation.buffer(b.memory).value(uint64_t{b.offset / p.element});
               invocation.value(p.packs_b_once ? int64_t{1} : count);
             }));
    return step(stream, p, text, "multiply", source, first,
                {static_cast<size_t>(p.panels_b), groups_for(p.panels_a, MatmulText::kPanels), batches}, 1,
                [&](Invocation& invocation) {
                  invocation.buffer(a.memory).value(uint64_t{a.offset / p.element});
                  invocation.value(p.packs_a_once ? int64_t{0} : p.size_a);
                  invocation.buffer(b.memory).value(uint64_t{b.offset / p.element});
                  invocation.value(p.packs_b_once ? int64_t{0} : p.size_b);
                });
  }

  template <typename Source, typename More>
  Status step(ClStream* stream, const Plan& p, const SpaceText& text, const char* entry, Source&& source,
              int64_t first, const Size3& groups, size_t group, More&& more) {
    Variant* variant = nullptr;
    BACKPLANE_OPENCL_TRY(
        variants_.get(device_, text.key() + (p.is_small ? "small" : ""), entry, source, &variant));
    Invocation invocation(*variant);
    MemoryHandle spill;
    BACKPLANE_OPENCL_TRY(text.pass(device_, p.space, &invocation, &spill));
    if (desc_.epilogue.instruction_count != 0)
      for (uint32_t i = 0; i < desc_.epilogue.scalar_count; ++i) {
        const ScalarBytes scalar = scalar_bytes(desc_.epilogue.scalar_types[i], p.space.args->scalars[i]);
        invocation.bytes(scalar.bytes, scalar.size);
      }
    invocation.value(first);
    more(invocation);
    return invocation.run(stream, groups, {group, 1, 1}, p.space.args->label);
  }

  ClblastChoice clblast_;
};

}  // namespace

Status check_matmul(const Facts& facts, const KernelDesc& desc) {
  for (const DType type : {desc.types[0], desc.types[1], desc.types[2], desc.compute_type})
    BACKPLANE_OPENCL_TRY(check_type(facts, type));
  if (desc.compute_type == DType::Bool)
    return plugin::make_status(StatusCode::InvalidArgument, 0, "bool is not a type to add and multiply in");
  if (desc.epilogue.instruction_count == 0) return kOk;
  BACKPLANE_OPENCL_TRY(check_program(facts, desc.epilogue));
  if (desc.epilogue.output_count == 1 && desc.epilogue.input_count >= 1) return kOk;
  return plugin::make_status(StatusCode::InvalidArgument, 0,
                             "a matrix product's epilogue has an input and one output");
}

Status make_matmul(ClDevice* device, const KernelDesc& desc, plugin::Kernel** kernel) {
  return make_kernel<MatmulKernel>(device, desc, kernel);
}

}  // namespace backplane::opencl
