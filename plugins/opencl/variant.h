// SPDX-License-Identifier: Apache-2.0
//
// A compiled kernel, and the queueing of it.
#ifndef BACKPLANE_PLUGINS_OPENCL_VARIANT_H_
#define BACKPLANE_PLUGINS_OPENCL_VARIANT_H_

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "opencl/api.h"

namespace backplane::opencl {

class ClDevice;
class ClStream;

// One kernel object. Its arguments are its state: whoever sets them holds the lock until the launch is
// queued.
class Variant {
 public:
  Variant(ProgramHandle program, KernelHandle kernel) noexcept
      : program_(std::move(program)), kernel_(std::move(kernel)) {}

 private:
  friend class Invocation;
  friend Status build_sibling(const Variant& other, const char* entry, std::unique_ptr<Variant>* variant);
  ProgramHandle program_;
  KernelHandle kernel_;
  std::mutex mutex_;
};

// Compiles the kernel `entry` of `source`, before which the shared formulas are put, or takes it from the
// cache. On failure the status names the kernel and shows the compiler's log.
Status build_variant(const ClDevice& device, const std::string& source, const char* entry,
                     std::unique_ptr<Variant>* variant);

// Another kernel of the same program.
Status build_sibling(const Variant& other, const char* entry, std::unique_ptr<Variant>* variant);

// The user's own program: `source` as it stands and with these options.
Status build_user_variant(const ClDevice& device, const std::string& source, const std::string& options,
                          const char* entry, std::unique_ptr<Variant>* variant);

// Kernels by their programs' keys, each program compiled when first wanted. Thread-safe.
class VariantSet {
 public:
  // `source()` returns the program's text, which has a kernel named `entry`.
  template <typename Source>
  Status get(const ClDevice& device, const std::string& key, const char* entry, Source&& source,
             Variant** variant) {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::unique_ptr<Variant>>& program = programs_[key];
    if (program.find(entry) == program.end()) {
      std::unique_ptr<Variant> made;
      BACKPLANE_OPENCL_TRY(program.empty() ? build_variant(device, source(), entry, &made)
                                           : build_sibling(*program.begin()->second, entry, &made));
      program[entry] = std::move(made);
    }
    *variant = program[entry].get();
    return kOk;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::map<std::string, std::unique_ptr<Variant>>> programs_;
};

using Size3 = std::array<size_t, 3>;

// One launch: arguments in the kernel's order, then run(). The first failure is remembered and returned by
// run().
class Invocation {
 public:
  explicit Invocation(Variant& variant) : kernel_(variant.kernel_.get()), lock_(variant.mutex_) {}

  Invocation& buffer(cl_mem memory) { return bytes(&memory, sizeof(cl_mem)); }
  template <typename T>
  Invocation& value(const T& value) {
    return bytes(&value, sizeof value);
  }
  Invocation& bytes(const void* data, size_t size);

  // `group` work-items in a group (0: the driver chooses), `groups` of them; nothing where a dimension is 0.
  Status run(ClStream* stream, const Size3& groups, const Size3& group, const char* label);

 private:
  cl_kernel kernel_;
  std::lock_guard<std::mutex> lock_;
  cl_uint next_ = 0;
  cl_int code_ = CL_SUCCESS;
};

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_VARIANT_H_
