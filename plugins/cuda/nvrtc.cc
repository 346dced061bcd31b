// SPDX-License-Identifier: Apache-2.0
#include "nvrtc.h"

#include <algorithm>

#include "library.h"
#include "modules.h"

namespace backplane::cuda {
namespace {

// Contraction off, everything rounded as IEEE 754 says: as the embedded kernels are compiled.
constexpr const char* kOptions[] = {"--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true",
                                    "--ftz=false"};

}  // namespace

bool Nvrtc::load() {
  if (tried_) return loaded_;
  tried_ = true;
  const Library library{"libnvrtc.so." BACKPLANE_CUDA_MAJOR, "libnvrtc.so"};
  loaded_ = library.find("nvrtcCreateProgram", &create_) && library.find("nvrtcDestroyProgram", &destroy_) &&
            library.find("nvrtcCompileProgram", &compile_) &&
            library.find("nvrtcGetProgramLogSize", &log_size_) && library.find("nvrtcGetProgramLog", &log_) &&
            library.find("nvrtcGetPTXSize", &ptx_size_) && library.find("nvrtcGetPTX", &ptx_) &&
            library.find("nvrtcGetNumSupportedArchs", &architecture_count_) &&
            library.find("nvrtcGetSupportedArchs", &architectures_) &&
            library.find("nvrtcGetErrorString", &error_text_);
  return loaded_;
}

bool Nvrtc::available() {
  const std::lock_guard lock(mutex_);
  return load();
}

int Nvrtc::target_for(int architecture) {
  int count = 0;
  if (architecture_count_(&count) != 0 || count <= 0) return architecture;
  std::vector<int> known(static_cast<size_t>(count));
  if (architectures_(known.data()) != 0) return architecture;
  int target = 0;
  for (const int candidate : known)
    if (candidate <= architecture) target = std::max(target, candidate);
  return target == 0 ? architecture : target;
}

std::string Nvrtc::log_of(Program program) {
  size_t size = 0;
  if (log_size_(program, &size) != 0 || size <= 1) return "the compiler says nothing more";
  std::string log(size, '\0');
  if (log_(program, log.data()) != 0) return "the compiler says nothing more";
  log.resize(size - 1);
  return log;
}

Status Nvrtc::compile(const std::string& source, const std::vector<std::string>& options, int architecture,
                      std::string* ptx) {
  if (!available())
    return plugin::unimplemented("CUDA C++ (libnvrtc.so." BACKPLANE_CUDA_MAJOR " is not found)");
  int header_count = 0;
  const EmbeddedHeader* headers = embedded_headers(&header_count);
  std::vector<const char*> names, texts;
  for (int i = 0; i < header_count; ++i) {
    names.push_back(headers[i].name);
    texts.push_back(headers[i].text);
  }
  Program program = nullptr;
  int result = create_(&program, source.c_str(), "kernel.cu", header_count, texts.data(), names.data());
  if (result != 0)
    return make_status(StatusCode::Internal, result, "nvrtcCreateProgram: %s", error_text_(result));
  const std::string target = "--gpu-architecture=compute_" + std::to_string(target_for(architecture));
  std::vector<const char*> all(std::begin(kOptions), std::end(kOptions));
  all.push_back(target.c_str());
  for (const std::string& option : options) all.push_back(option.c_str());
  result = compile_(program, static_cast<int>(all.size()), all.data());
  size_t size = 0;
  if (result == 0 && ptx_size_(program, &size) == 0) {
    ptx->resize(size);
    result = ptx_(program, ptx->data());
  }
  const std::string log = result == 0 ? std::string() : log_of(program);
  destroy_(&program);
  if (result == 0) return kOk;
  return make_status(StatusCode::InvalidArgument, result, "nvrtcCompileProgram: %s: %s", error_text_(result),
                     log.c_str());
}

}  // namespace backplane::cuda
