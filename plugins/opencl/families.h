// SPDX-License-Identifier: Apache-2.0
//
// What each kernel family offers: one row a family. check_x: Ok, Unimplemented with the reason, or
// InvalidArgument for a descriptor that breaks the rules of kernels.h. make_x: called only with what check_x
// accepted; builds nothing that depends on a launch's shape.
#ifndef BACKPLANE_PLUGINS_OPENCL_FAMILIES_H_
#define BACKPLANE_PLUGINS_OPENCL_FAMILIES_H_

#include "opencl/facts.h"
#include "opencl/space_text.h"
#include "opencl/variant.h"

namespace backplane::opencl {

class ClStream;

// Every family's kernel: brings exceptions and arguments into order.
class ClKernel : public plugin::KernelBase {
 public:
  ClKernel(ClDevice* device, const plugin::KernelDesc& desc) noexcept : device_(*device), desc_(desc) {}
  virtual ~ClKernel() = default;
  void destroy() noexcept final { delete this; }
  Status workspace(const plugin::LaunchArgs* args, uint64_t* bytes) noexcept final;
  Status launch(plugin::Stream* stream, const plugin::LaunchArgs* args) noexcept final;

 protected:
  // Queues the work. May throw std::bad_alloc.
  virtual Status run(ClStream* stream, const plugin::LaunchArgs& args) = 0;
  virtual uint64_t scratch(const plugin::LaunchArgs&) { return 0; }

  const Facts& facts() const noexcept;
  bool on_cpu() const noexcept { return facts().device_class == DeviceClass::Cpu; }
  // Work-items of one group on a GPU: a power of two.
  size_t group_size() const noexcept;
  // Work-items of one group where none works with its neighbours.
  size_t loose_group() const noexcept { return on_cpu() ? 1 : group_size(); }
  // How many of `items` one such work-item takes: a chunk on a CPU, `least` on a GPU.
  int64_t loose_chunk(int64_t items, int64_t least) const noexcept;

  ClDevice& device_;
  const plugin::KernelDesc desc_;
  VariantSet variants_;
};

// A piece of a launch's workspace.
struct Scratch {
  cl_mem memory;
  uint64_t offset;  // bytes
};
Scratch scratch_at(const plugin::LaunchArgs& args, uint64_t bytes) noexcept;
cl_mem memory_of(const plugin::Operand& operand) noexcept;

template <typename FamilyKernel>
Status make_kernel(ClDevice* device, const plugin::KernelDesc& desc, plugin::Kernel** kernel) {
  *kernel = new FamilyKernel(device, desc);
  return kOk;
}

#define BACKPLANE_OPENCL_FAMILY(name)                                      \
  Status check_##name(const Facts& facts, const plugin::KernelDesc& desc); \
  Status make_##name(ClDevice* device, const plugin::KernelDesc& desc, plugin::Kernel** kernel);
BACKPLANE_OPENCL_FAMILY(elementwise)
BACKPLANE_OPENCL_FAMILY(reduce)
BACKPLANE_OPENCL_FAMILY(scan)
BACKPLANE_OPENCL_FAMILY(matmul)
BACKPLANE_OPENCL_FAMILY(copy)
BACKPLANE_OPENCL_FAMILY(index)
BACKPLANE_OPENCL_FAMILY(sort)
BACKPLANE_OPENCL_FAMILY(random)
BACKPLANE_OPENCL_FAMILY(rowwise)
BACKPLANE_OPENCL_FAMILY(source)
#undef BACKPLANE_OPENCL_FAMILY

Status family_supports(const Facts& facts, const plugin::KernelDesc& desc);
Status make_family_kernel(ClDevice* device, const plugin::KernelDesc& desc, plugin::Kernel** kernel);

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_FAMILIES_H_
