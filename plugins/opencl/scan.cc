// SPDX-License-Identifier: Apache-2.0
//
// Scans along the last dimension, in chunks: the chunks' totals, then each total's prefix, then the elements.
// Chunks depend on the shape alone, so that results do not depend on how many units the device has.
#include "opencl/accumulate.h"
#include "opencl/device.h"
#include "opencl/families.h"
#include "opencl/generate.h"

namespace backplane::opencl {

using plugin::DType;
using plugin::KernelDesc;
using plugin::ScanOp;

namespace {

class ScanText {
 public:
  ScanText(const KernelDesc& desc, const Accumulator& accumulator, const SpaceText& space, uint32_t rank)
      : desc_(desc), accumulator_(accumulator), space_(space), rank_(rank) {}

  std::string program() const { return accumulator_.text + totals() + prefixes() + elements(); }

 private:
  std::string totals() const {
    return head("totals") + begin() +
           "  acc_t acc = acc_none();\n"
           "  for (long s = first; s < last; ++s) {\n" +
           element() +
           "    acc = acc_add(acc, x, s);\n  }\n"
           "  prefixes[row * chunks + chunk] = acc;\n}\n";
  }

  std::string prefixes() const {
    return head("prefixes") +
           "  const long row = get_global_id(0);\n"
           "  acc_t acc = acc_none();\n"
           "  for (long c = 0; c < chunks; ++c) {\n"
           "    const acc_t total = prefixes[row * chunks + c];\n"
           "    prefixes[row * chunks + c] = acc;\n"
           "    acc = acc_merge(acc, total);\n  }\n}\n";
  }

  std::string elements() const {
    const bool exclusive = (desc_.flags & plugin::kScanExclusive) != 0;
    const std::string value = cast_text(desc_.compute_type, desc_.types[0], "acc_value(acc)");
    const std::string store = "    " + store_text(desc_.types[0], space_.element(0, "i"), value) + "\n";
    const std::string add = "    acc = acc_add(acc, x, s);\n";
    return head("elements") + begin() +
           "  acc_t acc = chunks > 1 ? prefixes[row * chunks + chunk] : acc_none();\n"
           "  for (long s = first; s < last; ++s) {\n" +
           element() + (exclusive ? store + add : add + store) + "  }\n}\n";
  }

  std::string head(const char* name) const {
    return kernel_head(name, 1) + space_.parameters() +
           ", __global acc_t* prefixes, const ulong prefixes_at, const long chunks, const long chunk_size) "
           "{\n"
           "  prefixes += prefixes_at;\n";
  }
  std::string begin() const {
    return "  const long row = get_global_id(1), chunk = get_global_id(0);\n"
           "  const long n = " +
           space_.extent(rank_ - 1) +
           ";\n"
           "  const long first = chunk * chunk_size, last = min(first + chunk_size, n);\n" +
           space_.take_apart(0, rank_ - 1, "row", "long") + space_.pointers(0, rank_ - 1);
  }
  // Step s of the scan is element i.
  std::string element() const {
    const bool reverse = (desc_.flags & plugin::kScanReverse) != 0;
    return std::string("    const long i = ") + (reverse ? "n - 1 - s" : "s") + ";\n    const " +
           type_row(desc_.compute_type).value + " x = " +
           cast_text(desc_.types[1], desc_.compute_type, load_text(desc_.types[1], space_.element(1, "i"))) +
           ";\n";
  }

  const KernelDesc& desc_;
  const Accumulator& accumulator_;
  const SpaceText& space_;
  uint32_t rank_;
};

class ScanKernel final : public ClKernel {
 public:
  ScanKernel(ClDevice* device, const KernelDesc& desc)
      : ClKernel(device, desc),
        accumulator_(accumulator(static_cast<plugin::ReduceOp>(desc.op), desc.compute_type)) {}

 private:
  int64_t chunk_size(const Space& space) const {
    const int64_t rows = space.points(0, space.rank - 1);
    const int64_t n = space.shape[space.rank - 1];
    const int64_t most = std::max<int64_t>(1, (on_cpu() ? 32 : 4096) / rows);
    return std::max<int64_t>(on_cpu() ? 4096 : 64, (n + most - 1) / most);
  }
  static int64_t chunks(const Space& space, int64_t size) {
    return (space.shape[space.rank - 1] + size - 1) / size;
  }

  uint64_t scratch(const plugin::LaunchArgs& args) override {
    const Space space = read_space(args);
    const int64_t count = chunks(space, chunk_size(space));
    return count == 1 ? 0
                      : static_cast<uint64_t>(space.points(0, space.rank - 1) * count) * accumulator_.size;
  }

  Status run(ClStream* stream, const plugin::LaunchArgs& args) override {
    const Space space = read_space(args);
    const SpaceText text(facts(), {operand_text(desc_.types[0], true), operand_text(desc_.types[1], false)},
                         space.rank, space.inner);
    const ScanText generator(desc_, accumulator_, text, space.rank);
    const int64_t size = chunk_size(space);
    const int64_t count = chunks(space, size);
    const auto rows = static_cast<size_t>(space.points(0, space.rank - 1));
    const auto step = [&](const char* entry, const Size3& groups) -> Status {
      Variant* variant = nullptr;
      BACKPLANE_OPENCL_TRY(variants_.get(
          device_, text.key(), entry, [&] { return generator.program(); }, &variant));
      Invocation invocation(*variant);
      MemoryHandle spill;
      BACKPLANE_OPENCL_TRY(text.pass(device_, space, &invocation, &spill));
      const Scratch prefixes = count == 1 ? Scratch{nullptr, 0} : scratch_at(args, 0);
      invocation.buffer(prefixes.memory)
          .value(uint64_t{prefixes.offset / accumulator_.size})
          .value(count)
          .value(size);
      return invocation.run(stream, groups, {1, 1, 1}, args.label);
    };
    const Size3 all = {static_cast<size_t>(count), rows, 1};
    if (count > 1) {
      BACKPLANE_OPENCL_TRY(step("totals", all));
      BACKPLANE_OPENCL_TRY(step("prefixes", {rows, 1, 1}));
    }
    return step("elements", all);
  }

  const Accumulator accumulator_;
};

}  // namespace

Status check_scan(const Facts& facts, const KernelDesc& desc) {
  if (desc.op > static_cast<uint8_t>(ScanOp::Min))
    return plugin::make_status(StatusCode::Unimplemented, 0, "scan %u is not known to this plugin", desc.op);
  for (const DType type : {desc.types[0], desc.types[1], desc.compute_type})
    BACKPLANE_OPENCL_TRY(check_type(facts, type));
  if (desc.compute_type == DType::Bool && desc.op <= static_cast<uint8_t>(ScanOp::Prod))
    return plugin::make_status(StatusCode::InvalidArgument, 0, "bool is not a type to add or multiply in");
  return kOk;
}

Status make_scan(ClDevice* device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  return make_kernel<ScanKernel>(device, desc, kernel);
}

}  // namespace backplane::opencl
