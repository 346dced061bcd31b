// SPDX-License-Identifier: Apache-2.0
#include "opencl/families.h"

#include <algorithm>
#include <bit>

#include "opencl/device.h"
#include "opencl/generate.h"

namespace backplane::opencl {

namespace {

struct FamilyRow {
  plugin::Family family;
  Status (*check)(const Facts& facts, const plugin::KernelDesc& desc);
  Status (*make)(ClDevice* device, const plugin::KernelDesc& desc, plugin::Kernel** kernel);
};

constexpr FamilyRow kFamilies[] = {
    {plugin::Family::Elementwise, check_elementwise, make_elementwise},
    {plugin::Family::Reduce, check_reduce, make_reduce},
    {plugin::Family::Scan, check_scan, make_scan},
    {plugin::Family::Matmul, check_matmul, make_matmul},
    {plugin::Family::Copy, check_copy, make_copy},
    {plugin::Family::Index, check_index, make_index},
    {plugin::Family::Sort, check_sort, make_sort},
    {plugin::Family::Random, check_random, make_random},
    {plugin::Family::Rowwise, check_rowwise, make_rowwise},
    {plugin::Family::Source, check_source, make_source},
};

const FamilyRow* find_family(plugin::Family family) noexcept {
  for (const FamilyRow& row : kFamilies)
    if (row.family == family) return &row;
  return nullptr;
}

}  // namespace

Status ClKernel::workspace(const plugin::LaunchArgs* args, uint64_t* bytes) noexcept {
  return plugin::guard([&] {
    *bytes = scratch(plugin::read_struct(args));
    return kOk;
  });
}

Status ClKernel::launch(plugin::Stream* stream, const plugin::LaunchArgs* args) noexcept {
  return plugin::guard([&] { return run(static_cast<ClStream*>(stream), plugin::read_struct(args)); });
}

const Facts& ClKernel::facts() const noexcept { return device_.facts(); }

size_t ClKernel::group_size() const noexcept {
  return std::bit_floor(std::min<size_t>(256, std::max<size_t>(1, facts().largest_group)));
}

int64_t ClKernel::loose_chunk(int64_t items, int64_t least) const noexcept {
  return on_cpu() ? cpu_chunk(items, facts().units) : least;
}

Scratch scratch_at(const plugin::LaunchArgs& args, uint64_t bytes) noexcept {
  if (args.workspace == nullptr) return {nullptr, 0};
  return {static_cast<ClBuffer*>(args.workspace)->memory(), args.workspace_offset + bytes};
}

cl_mem memory_of(const plugin::Operand& operand) noexcept {
  return operand.buffer == nullptr ? nullptr : static_cast<ClBuffer*>(operand.buffer)->memory();
}

Status family_supports(const Facts& facts, const plugin::KernelDesc& desc) {
  const FamilyRow* row = find_family(desc.family);
  if (row == nullptr)
    return plugin::make_status(StatusCode::Unimplemented, 0, "kernel family %u is not known to this plugin",
                               static_cast<unsigned>(desc.family));
  return row->check(facts, desc);
}

Status make_family_kernel(ClDevice* device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  return find_family(desc.family)->make(device, desc, kernel);
}

}  // namespace backplane::opencl
