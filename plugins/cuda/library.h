// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_PLUGINS_CUDA_LIBRARY_H_
#define BACKPLANE_PLUGINS_CUDA_LIBRARY_H_

#include <dlfcn.h>

#include <initializer_list>

namespace backplane::cuda {

// A vendor's library that may or may not be there. Never unloaded: drivers do not survive it.
class Library {
 public:
  // The first of `names` that loads.
  explicit Library(std::initializer_list<const char*> names) noexcept {
    for (const char* name : names)
      if (handle_ == nullptr) handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  bool loaded() const noexcept { return handle_ != nullptr; }

  // Sets `*function` to the symbol, or to null; false when it is missing.
  template <typename Function>
  bool find(const char* symbol, Function* function) const noexcept {
    *function = handle_ == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(handle_, symbol));
    return *function != nullptr;
  }

 private:
  void* handle_ = nullptr;
};

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_LIBRARY_H_
