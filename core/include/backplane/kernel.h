// SPDX-License-Identifier: Apache-2.0
//
// Kernels of the user's own, in the language of a device: OpenCL C, CUDA C++ or PTX, or for CPU devices a C++
// function.
#ifndef BACKPLANE_KERNEL_H_
#define BACKPLANE_KERNEL_H_

#include <array>
#include <string>
#include <vector>

#include "backplane/plugin/kernels.h"
#include "backplane/tensor.h"

namespace backplane::plugin {
class Kernel;
}

namespace backplane::inline v0 {

using SourceLanguage = plugin::SourceLanguage;

struct KernelSource {
  SourceLanguage language = SourceLanguage::OpenCLC;
  std::string text;            // the program
  std::string entry;           // the kernel's name in it
  std::string options;         // for the compiler
  int operands = 0;            // tensors that a launch hands over, results first
  int results = 1;             // how many of them are written
  std::vector<DType> scalars;  // types of the numbers that follow the tensors
  // SourceLanguage::Native: called for slices [begin, end) of the outermost global dimension, from several
  // threads at once.
  void (*native)(const plugin::LaunchArgs* args, int64_t begin, int64_t end) noexcept = nullptr;
};

// Compiled once for a device; a cheap handle. Thread-safe.
class BACKPLANE_API Kernel {
 public:
  // InvalidArgument with the compiler's log when the source does not compile; Unimplemented when the device
  // does not take the language.
  Kernel(const Device& device, const KernelSource& source);

  // Queues a launch on the device's current stream, in order with all other work on the tensors. Each tensor
  // is passed as the address of its first element (it must be contiguous and on the device), then come the
  // numbers. `global` has 1 to 3 sizes, outermost first; `group` as many, or none to let the device choose.
  void operator()(const std::vector<Tensor>& tensors, const std::vector<Scalar>& numbers, const Shape& global,
                  const Shape& group = {}) const;

  Device device() const noexcept { return device_; }

 private:
  Device device_;
  KernelSource source_;
  plugin::Kernel* kernel_;  // the device's
};

}  // namespace backplane::inline v0

#endif  // BACKPLANE_KERNEL_H_
