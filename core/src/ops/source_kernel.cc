// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "backplane/kernel.h"
#include "stream/launch.h"
#include "tensor/program.h"
#include "tensor/tensor_impl.h"

namespace backplane::inline v0 {
namespace {

using internal::Launch;
using internal::TensorImpl;

[[noreturn]] void refuse(const std::string& entry, const std::string& why) {
  throw Error(ErrorCode::InvalidArgument, fmt::format("kernel {}: {}", entry, why));
}

void check_counts(const KernelSource& source) {
  const bool fits = source.operands >= 1 && source.operands <= static_cast<int>(internal::kMaxOperands) &&
                    source.results >= 0 && source.results <= source.operands &&
                    source.scalars.size() <= plugin::kMaxScalars;
  if (!fits)
    refuse(source.entry, fmt::format("{} tensors, {} results, {} numbers", source.operands, source.results,
                                     source.scalars.size()));
}

void add_tensor(Launch& launch, const Tensor& tensor, const Device& device, bool result,
                const std::string& entry) {
  const TensorImpl& t = internal::impl_of(tensor, "kernel");
  if (&t.device() != device.state())
    refuse(entry, fmt::format("{} for a kernel of {}", internal::describe(t), device.name()));
  if (!t.contiguous) refuse(entry, fmt::format("{} is not contiguous", internal::describe(t)));
  if (result) internal::check_writable(t, "kernel");
  launch.add_operand(*t.storage, t.byte_offset());
}

void set_grid(Launch& launch, const Shape& global, const Shape& group, const std::string& entry) {
  bool fits = global.rank() >= 1 && global.rank() <= 3 && (group.empty() || group.rank() == global.rank());
  for (int i = 0; fits && i < global.rank(); ++i)
    fits = global[i] > 0 && (group.empty() || (group[i] > 0 && group[i] <= INT32_MAX));
  if (!fits) refuse(entry, fmt::format("global size {}, group size {}", global.str(), group.str()));
  launch.args.rank = static_cast<uint32_t>(global.rank());
  for (int i = 0; i < global.rank(); ++i) launch.args.shape[i] = global[i];
  for (int i = 0; i < group.rank(); ++i) launch.args.group[i] = static_cast<uint32_t>(group[i]);
}

}  // namespace

Kernel::Kernel(const Device& device, const KernelSource& source)
    : device_(device), source_(source), kernel_(nullptr) {
  check_counts(source_);
  plugin::SourceDesc text{};
  text.struct_size = sizeof text;
  text.language = source_.language;
  text.text = source_.text.c_str();
  text.entry = source_.entry.c_str();
  text.options = source_.options.c_str();
  text.native = source_.native;
  for (size_t i = 0; i < source_.scalars.size(); ++i) text.scalar_types[i] = source_.scalars[i];
  plugin::KernelDesc desc{};
  desc.struct_size = sizeof desc;
  desc.family = plugin::Family::Source;
  desc.operand_count = static_cast<uint8_t>(source_.operands);
  desc.scalar_count = static_cast<uint8_t>(source_.scalars.size());
  desc.source = &text;
  device.state()->ensure_ready();
  kernel_ = device.state()->kernels->get(desc, source_.entry.empty() ? "kernel" : source_.entry.c_str());
}

void Kernel::operator()(const std::vector<Tensor>& tensors, const std::vector<Scalar>& numbers,
                        const Shape& global, const Shape& group) const {
  if (tensors.size() != static_cast<size_t>(source_.operands) || numbers.size() != source_.scalars.size())
    refuse(source_.entry, fmt::format("takes {} tensors and {} numbers, not {} and {}", source_.operands,
                                      source_.scalars.size(), tensors.size(), numbers.size()));
  device_.state()->ensure_ready();
  Launch launch(source_.entry.empty() ? "kernel" : source_.entry.c_str());
  launch.outputs = static_cast<uint32_t>(source_.results);
  for (size_t i = 0; i < tensors.size(); ++i)
    add_tensor(launch, tensors[i], device_, static_cast<int>(i) < source_.results, source_.entry);
  for (size_t i = 0; i < numbers.size(); ++i)
    launch.add_scalar(internal::element_of(numbers[i], source_.scalars[i], launch.args.label));
  set_grid(launch, global, group, source_.entry);
  launch.run(*device_.state(), kernel_, plugin::Family::Source);
}

}  // namespace backplane::inline v0
