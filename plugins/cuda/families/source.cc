// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <sstream>
#include <string>

#include "make.h"

namespace backplane::cuda::families {
namespace {

using plugin::SourceDesc;
using plugin::SourceLanguage;

// The host program's own kernel. It gets a pointer for every operand and then every scalar, as a value of its
// type; the grid covers the global size, rounded up to whole blocks, the innermost dimension along x.
class SourceKernel final : public Kernel {
 public:
  SourceKernel(std::shared_ptr<DeviceState> state, const KernelDesc& desc)
      : Kernel(std::move(state)),
        text_(desc.source->text),
        entry_(desc.source->entry),
        options_(desc.source->options == nullptr ? "" : desc.source->options),
        language_(desc.source->language) {
    std::memcpy(scalar_types_, desc.source->scalar_types, sizeof scalar_types_);
  }

  ~SourceKernel() override {
    const ContextScope scope(*state_->context);
    if (module_ != nullptr && scope.status().ok()) cuModuleUnload(module_);
  }

  Status build() override {
    std::string ptx = text_;
    if (language_ == SourceLanguage::CudaCpp) {
      std::istringstream words(options_);
      std::vector<std::string> options;
      for (std::string word; words >> word;) options.push_back(word);
      // A kernel that is not extern "C" would have a name of the compiler's making.
      BACKPLANE_TRY(state_->nvrtc->compile(text_, options, state_->architecture, &ptx));
    }
    BACKPLANE_TRY(load_module(*state_->context, ptx.c_str(), &module_));
    return state_->context->check(cuModuleGetFunction(&function_, module_, entry_.c_str()),
                                  "cuModuleGetFunction");
  }

  Status run(Stream& stream, const LaunchArgs& args) override {
    if (args.rank < 1 || args.rank > 3)
      return make_status(StatusCode::InvalidArgument, 0, "%s: a global size of %u dimensions", args.label,
                         args.rank);
    uint64_t addresses[plugin::kMaxInputs + plugin::kMaxOutputs + plugin::kMaxScalars];
    uint64_t scalars[plugin::kMaxScalars];
    std::vector<void*> pointers;
    for (uint32_t i = 0; i < args.operand_count && i < std::size(addresses); ++i) {
      addresses[i] = args.operand(i).address;
      pointers.push_back(&addresses[i]);
    }
    for (uint32_t i = 0; i < args.scalar_count && i < plugin::kMaxScalars; ++i) {
      scalars[i] = memory_bits(scalar_types_[i], args.scalars[i]);
      pointers.push_back(&scalars[i]);
    }
    unsigned group[3];
    unsigned grid[3];
    choose_sizes(args, group, grid);
    return state_->context->check(cuLaunchKernel(function_, grid[0], grid[1], grid[2], group[0], group[1],
                                                 group[2], 0, stream.handle(), pointers.data(), nullptr),
                                  "cuLaunchKernel");
  }

 private:
  // x is the innermost dimension, the last of `shape`.
  static void choose_sizes(const LaunchArgs& args, unsigned (&group)[3], unsigned (&grid)[3]) {
    for (uint32_t axis = 0; axis < 3; ++axis) {
      const bool used = axis < args.rank;
      const uint32_t d = used ? args.rank - 1 - axis : 0;
      const auto extent = static_cast<uint64_t>(used ? args.shape[d] : 1);
      const unsigned wanted = used ? args.group[d] : 1;
      group[axis] = wanted != 0 ? wanted : axis == 0 ? kBlockThreads : 1;
      grid[axis] = static_cast<unsigned>((extent + group[axis] - 1) / group[axis]);
    }
  }

  const std::string text_, entry_, options_;
  const SourceLanguage language_;
  DType scalar_types_[plugin::kMaxScalars];
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

}  // namespace

Status supports_source(const DeviceState& state, const KernelDesc& desc) {
  if (desc.source == nullptr || desc.source->text == nullptr || desc.source->entry == nullptr)
    return make_status(StatusCode::InvalidArgument, 0, "source: no text or no kernel name");
  if (desc.source->language == SourceLanguage::Ptx) return kOk;
  if (desc.source->language != SourceLanguage::CudaCpp)
    return plugin::unimplemented("source in a language other than CUDA C++ and PTX");
  if (state.nvrtc != nullptr && state.nvrtc->available()) return kOk;
  return plugin::unimplemented("CUDA C++ (libnvrtc.so." BACKPLANE_CUDA_MAJOR " is not found)");
}

Status make_source(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel) {
  *kernel = std::make_unique<SourceKernel>(state, desc);
  return (*kernel)->build();
}

}  // namespace backplane::cuda::families
