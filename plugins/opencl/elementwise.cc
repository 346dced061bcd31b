// SPDX-License-Identifier: Apache-2.0
//
// Elementwise programs and copies. On a CPU a work-item runs a loop over a chunk of rows and columns, which
// the compiler vectorises; on a GPU it takes one element, or four neighbours where everything is contiguous.
#include "opencl/device.h"
#include "opencl/families.h"
#include "opencl/generate.h"
#include "opencl/program_text.h"

namespace backplane::opencl {

using plugin::DType;
using plugin::Program;

namespace {

std::vector<OperandText> operands_of(const Program& program) {
  std::vector<OperandText> operands;
  for (uint32_t i = 0; i < program.output_count; ++i)
    operands.push_back(operand_text(output_type(program, i), true));
  for (uint32_t i = 0; i < program.input_count; ++i)
    operands.push_back(operand_text(program.input_types[i], false));
  return operands;
}

constexpr uint64_t kStreamed = 64;  // bytes stored past the caches at a time
// Results from here on, where the device does not say how large its caches are.
constexpr uint64_t kUsualCache = uint64_t{8} << 20;

std::string scalar_name(uint32_t i) { return "sc" + std::to_string(i); }

class ElementwiseText {
 public:
  ElementwiseText(const Program& program, const SpaceText& space, uint32_t rank)
      : program_(program), space_(space), rank_(rank) {}

  std::string cpu() const {
    const std::string columns = "  const long columns_each = " + space_.extra(0) + ";\n" +
                                "  const long c0 = get_global_id(0) * columns_each;\n"
                                "  const long c1 = min(c0 + columns_each, " +
                                space_.extent(rank_ - 1) + ");\n";
    const std::string loop = space_.take_apart(0, rank_ - 1, "row", "long") + space_.pointers(0, rank_ - 1) +
                             kIndependent + "  for (long i = c0; i < c1; ++i) {\n" + one_element("i") +
                             "  }\n";
    if (rank_ == 1) return head(1) + ") {\n" + columns + loop + "}\n";
    return head(1) + ") {\n" + columns + "  const long r0 = get_global_id(1) * " + space_.extra(1) + ";\n" +
           "  const long r1 = min(r0 + " + space_.extra(1) + ", " + space_.extra(2) +
           ");\n  for (long row = r0; row < r1; ++row) {\n" + loop + "  }\n}\n";
  }

  // For one contiguous result that is larger than the caches: blocks of it are computed aside and stored past
  // them, where the compiler can. Whatever is before and behind whole blocks is stored as ever.
  std::string cpu_streaming() const {
    const std::string type = type_row(output_type(program_, 0)).memory;
    const uint64_t bytes = std::max<uint64_t>(1, plugin::size_of(output_type(program_, 0)));
    const std::string size = std::to_string(bytes);
    const std::string lanes = std::to_string(kStreamed / bytes);
    const std::string until =
        kIndependent + std::string("  for (; i < until; ++i) {\n") + one_element("i") + "  }\n";
    return head(1) + ") {\n  const long each = " + space_.extra(0) +
           ";\n  long i = get_global_id(0) * each;\n  const long last = min(i + each, " +
           space_.extent(rank_ - 1) + ");\n" + space_.pointers(0, rank_ - 1) +
           "  long until = last;\n"
           "#if defined(__has_builtin)\n#if __has_builtin(__builtin_nontemporal_store)\n"
           "  until = min(last, i + (long)((-(ulong)(p0 + i) & " +
           std::to_string(kStreamed - 1) + ") / " + size + "));\n" + until + "  for (; i + " + lanes +
           " <= last; i += " + lanes + ") {\n    union {\n      " + type + " one[" + lanes +
           "];\n      ulong4 vector[" + std::to_string(kStreamed / 32) + "];\n    } block;\n" + kIndependent +
           "    for (int l = 0; l < " + lanes + "; ++l) {\n    const long at = i + l;\n" +
           one_element("at", "block.one[l]") + "    }\n    for (int v = 0; v < " +
           std::to_string(kStreamed / 32) +
           "; ++v)\n      __builtin_nontemporal_store(block.vector[v], (__global ulong4*)(p0 + i) + v);\n"
           "  }\n  until = last;\n#endif\n#endif\n" +
           until + "}\n";
  }

  // `type`: of the index, "uint" where every point has a number below 2^32.
  std::string gpu(const std::string& type, size_t group) const {
    return head(group) + ", const ulong points) {\n  const " + type + " id = get_global_id(0);\n" +
           "  if (id >= points) return;\n" + space_.take_apart(0, rank_, "id", type) +
           space_.pointers(0, rank_ - 1) + "  {\n" + one_element("(long)i" + std::to_string(rank_ - 1)) +
           "  }\n}\n";
  }

  // Contiguous operands, or ones that stay where they are.
  std::string gpu_dense(const std::string& inner, size_t group) const {
    return head(group) + ", const ulong points) {\n  const ulong id = get_global_id(0) * 4;\n" +
           space_.pointers(0, 0) + "  if (id + 4 <= points) {\n" + four_elements(inner) +
           "  } else {\n  for (ulong i = id; i < points; ++i) {\n" + one_element("i") + "  }\n  }\n}\n";
  }

 private:
  std::string head(size_t group) const {
    return kernel_head("elementwise", group) + space_.parameters() +
           scalar_parameters(program_, ProgramNames{"e", {}, scalar_name, ""});
  }

  // `place`: where the first result goes, if not to its own element.
  std::string one_element(const std::string& index, const std::string& place = "") const {
    std::vector<std::string> values;
    std::string text = program_text(
        program_,
        names("e", index,
              [&](uint32_t i) {
                return load_text(program_.input_types[i], space_.element(program_.output_count + i, index));
              }),
        &values);
    for (uint32_t i = 0; i < program_.output_count; ++i)
      text += "    " +
              store_text(output_type(program_, i),
                         i == 0 && !place.empty() ? place : space_.element(i, index), values[i]) +
              "\n";
    return text;
  }

  std::string four_elements(const std::string& inner) const {
    std::string text;
    for (uint32_t i = 0; i < program_.input_count; ++i) {
      const uint32_t k = program_.output_count + i;
      if (inner[k] == '0') continue;
      const std::string name = std::to_string(k);
      text += joined({"    const ", type_row(program_.input_types[i]).memory, "4 v", name, " = vload4(0, p",
                      name, " + id);\n"});
    }
    std::vector<std::vector<std::string>> lanes(4);
    for (uint32_t lane = 0; lane < 4; ++lane) {
      const std::string suffix = ".s" + std::to_string(lane);
      const auto input = [&](uint32_t i) {
        const uint32_t k = program_.output_count + i;
        const std::string place =
            inner[k] == '0' ? "p" + std::to_string(k) + "[0]" : "v" + std::to_string(k) + suffix;
        return load_text(program_.input_types[i], place);
      };
      text += program_text(
          program_, names("e" + std::to_string(lane), "(bp_i64)(id + " + std::to_string(lane) + ")", input),
          &lanes[lane]);
    }
    for (uint32_t i = 0; i < program_.output_count; ++i) {
      const std::string name = std::to_string(i);
      text += std::string("    ") + type_row(output_type(program_, i)).memory + "4 w" + name + ";\n";
      for (uint32_t lane = 0; lane < 4; ++lane)
        text +=
            "    " +
            store_text(output_type(program_, i), "w" + name + ".s" + std::to_string(lane), lanes[lane][i]) +
            "\n";
      text += joined({"    vstore4(w", name, ", 0, p", name, " + id);\n"});
    }
    return text;
  }

  ProgramNames names(std::string prefix, std::string index,
                     std::function<std::string(uint32_t)> input) const {
    return {std::move(prefix), std::move(input), scalar_name, std::move(index)};
  }

  const Program& program_;
  const SpaceText& space_;
  uint32_t rank_;
};

class ElementwiseKernel final : public ClKernel {
 public:
  ElementwiseKernel(ClDevice* device, const plugin::KernelDesc& desc)
      : ClKernel(device, desc), operands_(operands_of(desc_.program)) {}

 private:
  // All that launches of one layout share. Small launches are many: they find it with one look.
  struct Prepared {
    SpaceText text;
    Variant* variant = nullptr;
  };

  // `special`: 64-bit indices on a GPU, streaming stores on a CPU.
  Status prepare(const Space& space, bool special, Prepared** result) {
    const std::string key = space.inner + static_cast<char>('0' + space.rank) + (special ? 's' : 'n');
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Prepared>& known = prepared_[key];
    if (known == nullptr) {
      auto made = std::make_unique<Prepared>(Prepared{
          SpaceText(facts(), operands_, space.rank, space.inner, on_cpu() ? (space.rank == 1 ? 1 : 3) : 0)});
      const auto source = [&] { return source_text(space, made->text, special); };
      BACKPLANE_OPENCL_TRY(variants_.get(device_, key, "elementwise", source, &made->variant));
      known = std::move(made);
    }
    *result = known.get();
    return kOk;
  }

  std::string source_text(const Space& space, const SpaceText& text, bool special) const {
    const ElementwiseText generator(desc_.program, text, space.rank);
    if (on_cpu()) return special ? generator.cpu_streaming() : generator.cpu();
    return is_dense(space) ? generator.gpu_dense(space.inner, group_size())
                           : generator.gpu(special ? "ulong" : "uint", group_size());
  }

  bool is_special(const Space& space, int64_t points) const {
    if (!on_cpu()) return points > UINT32_MAX;
    const uint64_t cache = facts().cache_size == 0 ? kUsualCache : facts().cache_size;
    return desc_.program.output_count == 1 && space.rank == 1 && space.inner[0] == '1' &&
           static_cast<uint64_t>(points) * plugin::size_of(output_type(desc_.program, 0)) >= cache;
  }

  // Whether a GPU's work-item can take four neighbours.
  bool is_dense(const Space& space) const {
    return space.rank == 1 && space.inner.find('s') == std::string::npos &&
           space.inner.find('0') >= desc_.program.output_count;
  }

  Status run(ClStream* stream, const plugin::LaunchArgs& args) override {
    if (args.operand_count != operands_.size())
      return plugin::make_status(StatusCode::InvalidArgument, 0, "%s: %u operands, not %zu", args.label,
                                 args.operand_count, operands_.size());
    const Space space = read_space(args);
    const int64_t points = space.points(0, space.rank);
    Prepared* prepared = nullptr;
    BACKPLANE_OPENCL_TRY(prepare(space, is_special(space, points), &prepared));
    Invocation invocation(*prepared->variant);
    MemoryHandle spill;
    if (!on_cpu()) {
      BACKPLANE_OPENCL_TRY(prepared->text.pass(device_, space, &invocation, &spill));
      pass_scalars(args, &invocation);
      const size_t each = group_size() * (is_dense(space) ? 4 : 1);
      invocation.value(points);
      return invocation.run(stream, {groups_for(points, each), 1, 1}, {group_size(), 1, 1}, args.label);
    }
    const int64_t columns = space.shape[space.rank - 1];
    const int64_t rows = space.points(0, space.rank - 1);
    const int64_t chunk = cpu_chunk(points, facts().units);
    const int64_t columns_each = std::min(columns, chunk);
    const int64_t rows_each = std::max<int64_t>(1, chunk / columns);
    BACKPLANE_OPENCL_TRY(
        space.rank == 1
            ? prepared->text.pass(device_, space, &invocation, &spill, {columns_each})
            : prepared->text.pass(device_, space, &invocation, &spill, {columns_each, rows_each, rows}));
    pass_scalars(args, &invocation);
    return invocation.run(stream, {groups_for(columns, columns_each), groups_for(rows, rows_each), 1},
                          {1, 1, 1}, args.label);
  }

  void pass_scalars(const plugin::LaunchArgs& args, Invocation* invocation) const {
    for (uint32_t i = 0; i < desc_.program.scalar_count; ++i) {
      const ScalarBytes scalar = scalar_bytes(desc_.program.scalar_types[i], args.scalars[i]);
      invocation->bytes(scalar.bytes, scalar.size);
    }
  }

  const std::vector<OperandText> operands_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Prepared>> prepared_;
};

// A copy moves bytes: the program that stores its input, in an unsigned type of the same size.
plugin::KernelDesc copy_as_elementwise(const plugin::KernelDesc& desc) {
  constexpr DType kBySize[] = {DType::UInt8, DType::UInt8, DType::UInt16, DType::UInt8, DType::UInt32,
                               DType::UInt8, DType::UInt8, DType::UInt8,  DType::UInt64};
  plugin::KernelDesc result = desc;
  result.program = Program{};
  result.program.input_count = 1;
  result.program.output_count = 1;
  result.program.input_types[0] = kBySize[plugin::size_of(desc.types[0])];
  return result;
}

}  // namespace

Status check_elementwise(const Facts& facts, const plugin::KernelDesc& desc) {
  if (desc.program.output_count == 0)
    return plugin::make_status(StatusCode::InvalidArgument, 0, "an elementwise program without an output");
  return check_program(facts, desc.program);
}

Status make_elementwise(ClDevice* device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  return make_kernel<ElementwiseKernel>(device, desc, kernel);
}

Status check_copy(const Facts&, const plugin::KernelDesc& desc) {
  if (plugin::size_of(desc.types[0]) != 0) return kOk;
  return plugin::make_status(StatusCode::Unimplemented, 0, "element type %u is not known to this plugin",
                             static_cast<unsigned>(desc.types[0]));
}

Status make_copy(ClDevice* device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  return make_kernel<ElementwiseKernel>(device, copy_as_elementwise(desc), kernel);
}

}  // namespace backplane::opencl
