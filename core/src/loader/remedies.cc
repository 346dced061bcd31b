// SPDX-License-Identifier: Apache-2.0
#include "loader/remedies.h"

#include <fmt/format.h>

namespace backplane::internal {
namespace {

struct KnownLibrary {
  std::string_view prefix;  // of the library's file name
  std::string_view meaning;
  std::string_view remedy;
};

// Package names are Debian's.
constexpr KnownLibrary kKnownLibraries[] = {
    {"libcuda.so", "no NVIDIA driver on this machine", "install NVIDIA's driver if there is such a GPU"},
    {"libnvidia-ml.so", "no NVIDIA driver on this machine", "install NVIDIA's driver if there is such a GPU"},
    {"libcudart.so", "no CUDA toolkit on this machine", "install the CUDA toolkit"},
    {"libcublas", "no CUDA toolkit on this machine", "install the CUDA toolkit"},
    {"libnvrtc", "no CUDA toolkit on this machine", "install the CUDA toolkit"},
    {"libOpenCL.so", "no OpenCL loader on this machine", "install the package ocl-icd-libopencl1"},
    {"libamdhip64.so", "no ROCm on this machine", "install AMD's ROCm if there is such a GPU"},
    {"libhsa-runtime64.so", "no ROCm on this machine", "install AMD's ROCm if there is such a GPU"},
    {"libze_loader.so", "no Level Zero loader on this machine", "install Intel's compute runtime"},
    {"libvulkan.so", "no Vulkan loader on this machine", "install the package libvulkan1"},
    {"libtbb", "oneTBB is not installed", "install the package libtbb12"},
    {"libsleef", "SLEEF is not installed", "install the package libsleef3"},
    {"libdnnl.so", "oneDNN is not installed", "install the package libdnnl2"},
    {"libopenblas", "OpenBLAS is not installed", "install the package libopenblas0-serial"},
    {"libgomp.so", "GCC's OpenMP library is not installed", "install the package libgomp1"},
    {"libc++.so", "LLVM's C++ library is not installed", "install the package libc++1"},
    {"libc++abi.so", "LLVM's C++ library is not installed", "install the package libc++abi1"},
    {"libfmt.so", "{fmt} is not installed", "install the package libfmt9"},
};

// "libnope.so" of "libnope.so: cannot open shared object file: No such file or directory"; else empty.
std::string_view library_not_found(std::string_view text) {
  const size_t end = text.find(": cannot open shared object file: No such file");
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

}  // namespace

Problem missing_library(std::string_view library) {
  for (const KnownLibrary& known : kKnownLibraries)
    if (library.substr(0, known.prefix.size()) == known.prefix)
      return {LoadOutcome::Failed, fmt::format("{} not found: {}", library, known.meaning),
              std::string(known.remedy)};
  return {LoadOutcome::Failed, fmt::format("{} not found: the plugin needs this library", library),
          fmt::format("install the package that has {}, or put it beside the plugin", library)};
}

Problem load_failure(std::string_view text, std::string_view path) {
  const std::string_view library = library_not_found(text);
  if (!library.empty() && library != path) return missing_library(library);
  Problem problem{LoadOutcome::Failed, std::string(text), {}};
  if (text.find("undefined symbol") != std::string_view::npos)
    problem.remedy =
        "rebuild it with -Wl,-z,defs, which names what is missing, against the libraries of this machine";
  else if (text.find("version `") != std::string_view::npos)
    problem.remedy =
        "it was built on a newer system: rebuild it on this one, or on the oldest that it has to run on";
  return problem;
}

}  // namespace backplane::internal
