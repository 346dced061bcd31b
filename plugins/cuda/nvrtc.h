// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's run-time compiler, found at run time. Loaded when it is first asked for; thread-safe.
#ifndef BACKPLANE_PLUGINS_CUDA_NVRTC_H_
#define BACKPLANE_PLUGINS_CUDA_NVRTC_H_

#include <mutex>
#include <string>
#include <vector>

#include "error.h"

namespace backplane::cuda {

class Nvrtc {
 public:
  // Whether the library is there.
  bool available();

  // Compiles CUDA C++ to PTX for the newest architecture that both the compiler and the card have;
  // `architecture` is 10 * major + minor. The plugin's own headers can be included. A failure shows the
  // compiler's log.
  Status compile(const std::string& source, const std::vector<std::string>& options, int architecture,
                 std::string* ptx);

 private:
  using Program = struct _nvrtcProgram*;
  bool load();
  int target_for(int architecture);
  std::string log_of(Program program);

  std::mutex mutex_;
  bool tried_ = false;
  bool loaded_ = false;
  int (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  int (*log_size_)(Program, size_t*) = nullptr;
  int (*log_)(Program, char*) = nullptr;
  int (*ptx_size_)(Program, size_t*) = nullptr;
  int (*ptx_)(Program, char*) = nullptr;
  int (*architecture_count_)(int*) = nullptr;
  int (*architectures_)(int*) = nullptr;
  const char* (*error_text_)(int) = nullptr;
};

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_NVRTC_H_
