// SPDX-License-Identifier: Apache-2.0
//
// The user's own OpenCL C. Operands go to the kernel as pointers to their first element and scalars by value,
// in order. A pointer into the middle of a buffer is a sub-buffer where that may start there; elsewhere the
// kernel is called by one of ours, which moves the pointers.
#include "opencl/device.h"
#include "opencl/families.h"

namespace backplane::opencl {

using plugin::DType;
using plugin::KernelDesc;

namespace {

// float16 and bfloat16 scalars arrive as the float of the same value: OpenCL C takes no half by value.
std::string moving_wrapper(const std::string& entry, uint32_t operands, const std::vector<DType>& scalars) {
  std::string parameters;
  std::string arguments;
  for (uint32_t k = 0; k < operands; ++k) {
    const std::string name = std::to_string(k);
    parameters +=
        std::string(parameters.empty() ? "" : ", ") + "__global uchar* bp_b" + name + ", ulong bp_o" + name;
    arguments +=
        std::string(arguments.empty() ? "" : ", ") + "(__global void*)(bp_b" + name + " + bp_o" + name + ")";
  }
  constexpr const char* kTypes[] = {"uchar", "char",  "short", "int",   "long",  "uchar", "ushort",
                                    "uint",  "ulong", "float", "float", "float", "double"};
  for (size_t i = 0; i < scalars.size(); ++i) {
    const std::string name = "bp_s" + std::to_string(i);
    parameters +=
        std::string(parameters.empty() ? "" : ", ") + kTypes[static_cast<size_t>(scalars[i])] + " " + name;
    arguments += std::string(arguments.empty() ? "" : ", ") + name;
  }
  return "\n__kernel void bp_moved_" + entry + "(" + parameters + ") {\n  " + entry + "(" + arguments +
         ");\n}\n";
}

class SourceKernel final : public ClKernel {
 public:
  SourceKernel(ClDevice* device, const KernelDesc& desc)
      : ClKernel(device, desc),
        text_(desc.source->text),
        entry_(desc.source->entry),
        options_(desc.source->options == nullptr ? "" : desc.source->options) {
    for (uint32_t i = 0; i < desc.scalar_count; ++i) scalars_.push_back(desc.source->scalar_types[i]);
  }

  // Compiles, so that mistakes in the source show when the kernel is made.
  Status prepare() { return build_user_variant(device_, text_, options_, entry_.c_str(), &direct_); }

 private:
  Status run(ClStream* stream, const plugin::LaunchArgs& args) override {
    Size3 groups{1, 1, 1};
    Size3 group{1, 1, 1};
    BACKPLANE_OPENCL_TRY(sizes(args, &groups, &group));
    bool is_moved = false;
    for (uint32_t k = 0; k < args.operand_count; ++k)
      is_moved = is_moved || args.operand(k).offset % facts().alignment != 0;
    if (is_moved) {
      const std::lock_guard lock(mutex_);
      if (moved_ == nullptr)
        BACKPLANE_OPENCL_TRY(build_user_variant(device_,
                                                text_ + moving_wrapper(entry_, args.operand_count, scalars_),
                                                options_, ("bp_moved_" + entry_).c_str(), &moved_));
    }
    Invocation invocation(is_moved ? *moved_ : *direct_);
    std::vector<MemoryHandle> parts;
    for (uint32_t k = 0; k < args.operand_count; ++k) {
      const plugin::Operand& operand = args.operand(k);
      if (is_moved) {
        invocation.buffer(memory_of(operand)).value(operand.offset);
      } else if (operand.offset == 0) {
        invocation.buffer(memory_of(operand));
      } else {
        BACKPLANE_OPENCL_TRY(part(operand, &parts));
        invocation.buffer(parts.back().get());
      }
    }
    for (uint32_t i = 0; i < scalars_.size() && i < args.scalar_count; ++i) {
      const ScalarBytes scalar = scalar_bytes(scalars_[i], args.scalars[i]);
      invocation.bytes(scalar.bytes, scalar.size);
    }
    return invocation.run(stream, groups, group, args.label);
  }

  // `shape` is outermost first; OpenCL's dimension 0 is the innermost.
  static Status sizes(const plugin::LaunchArgs& args, Size3* groups, Size3* group) {
    if (args.rank > 3)
      return plugin::make_status(StatusCode::InvalidArgument, 0,
                                 "%s: a global size has up to 3 dimensions, not %u", args.label, args.rank);
    const bool is_free = args.group[0] == 0;
    for (uint32_t d = 0; d < args.rank; ++d) {
      const uint32_t at = args.rank - 1 - d;
      const auto global = static_cast<size_t>(args.shape[at]);
      (*group)[d] = is_free ? 0 : std::max<uint32_t>(1, args.group[at]);
      (*groups)[d] = is_free ? global : global / (*group)[d];
      if (!is_free && global % (*group)[d] != 0)
        return plugin::make_status(
            StatusCode::InvalidArgument, 0,
            "%s: the global size %zu is no multiple of the work-group size %zu in dimension %u", args.label,
            global, (*group)[d], at);
    }
    if (is_free) *group = {0, 0, 0};
    return kOk;
  }

  static Status part(const plugin::Operand& operand, std::vector<MemoryHandle>* parts) {
    const cl_buffer_region region = {operand.offset, operand.buffer->size() - operand.offset};
    cl_int code = CL_SUCCESS;
    parts->emplace_back(
        api().clCreateSubBuffer(memory_of(operand), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    return cl_status(code, "clCreateSubBuffer");
  }

  const std::string text_;
  const std::string entry_;
  const std::string options_;
  std::vector<DType> scalars_;
  std::mutex mutex_;
  std::unique_ptr<Variant> direct_;
  std::unique_ptr<Variant> moved_;
};

}  // namespace

Status check_source(const Facts& facts, const KernelDesc& desc) {
  if (desc.source == nullptr || desc.source->text == nullptr || desc.source->entry == nullptr)
    return plugin::make_status(StatusCode::InvalidArgument, 0, "a source kernel without a text or an entry");
  if (desc.source->language != plugin::SourceLanguage::OpenCLC)
    return plugin::make_status(StatusCode::Unimplemented, 0,
                               "this device takes OpenCL C and no other language");
  if (desc.scalar_count > plugin::kMaxScalars)
    return plugin::make_status(StatusCode::InvalidArgument, 0, "%u scalars; at most %u are possible",
                               desc.scalar_count, plugin::kMaxScalars);
  for (uint32_t i = 0; i < desc.scalar_count; ++i)
    BACKPLANE_OPENCL_TRY(check_type(facts, desc.source->scalar_types[i]));
  return kOk;
}

Status make_source(ClDevice* device, const KernelDesc& desc, plugin::Kernel** kernel) {
  auto made = std::make_unique<SourceKernel>(device, desc);
  BACKPLANE_OPENCL_TRY(made->prepare());
  *kernel = made.release();
  return kOk;
}

}  // namespace backplane::opencl
