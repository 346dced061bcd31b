// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the CUDA plugin share: the driver for tests, asked for by its own functions, and the
// plugin loaded through the conformance suite's helpers. Every case is a process of its own, so the
// environment that the driver reads once can be set at its start.
#ifndef BACKPLANE_TESTS_CUDA_SUPPORT_H_
#define BACKPLANE_TESTS_CUDA_SUPPORT_H_

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "context.h"
#include "launch.h"

namespace backplane::cuda_tests {

using conformance::Context;
using conformance::Launch;
using conformance::Owned;
using plugin::DType;
using plugin::StatusCode;

// A function of the driver for tests; see tests/cuda_driver/driver/control.h.
template <typename Function>
Function double_function(const char* name) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  auto function = library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw std::runtime_error(std::string(name) + ": this is not the driver for tests");
  return function;
}

inline void fail_calls(const char* rules) { double_function<void (*)(const char*)>("cudaDoubleFail")(rules); }
inline uint64_t bytes_in_use(int device) {
  return double_function<uint64_t (*)(int)>("cudaDoubleBytesInUse")(device);
}
inline uint64_t call_count(const char* name) {
  return double_function<uint64_t (*)(const char*)>("cudaDoubleCallCount")(name);
}
inline size_t report_count() { return double_function<size_t (*)()>("cudaDoubleReportCount")(); }

// The plugin, with the environment that the driver is to see.
inline conformance::LoadedPlugin& load(const std::map<std::string, std::string>& environment = {},
                                       const std::map<std::string, std::string>& settings = {}) {
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  conformance::Options options;
  options.plugin_path = CUDA_PLUGIN;
  options.settings = {{"cublas", "0"}, {"nvrtc", "0"}};
  for (const auto& [name, value] : settings) options.settings[name] = value;
  // Kept until the process ends, as a runtime keeps its plugins.
  static auto& kept = *new std::vector<std::unique_ptr<conformance::LoadedPlugin>>;
  return *kept.emplace_back(std::make_unique<conformance::LoadedPlugin>(options));
}

// result[i] = a[i] + b[i], float32.
inline Owned<plugin::Kernel> make_add(Context& context) {
  auto desc = conformance::make_desc(plugin::Family::Elementwise);
  desc.program =
      conformance::one_op_program(plugin::ScalarOp::add, {DType::Float32, DType::Float32}, DType::Float32);
  return context.create_kernel(desc);
}

inline std::vector<float> floats(Context& context, plugin::Buffer& buffer, size_t count) {
  std::vector<float> values(count);
  conformance::require_ok(context.stream().download(values.data(), &buffer, 0, count * sizeof(float)),
                          "download");
  context.synchronize();
  return values;
}

inline Owned<plugin::Buffer> upload(Context& context, const std::vector<float>& values) {
  auto buffer = context.allocate(values.size() * sizeof(float));
  conformance::require_ok(
      context.stream().upload(buffer.get(), 0, values.data(), values.size() * sizeof(float)), "upload");
  context.synchronize();
  return buffer;
}

}  // namespace backplane::cuda_tests

#endif  // BACKPLANE_TESTS_CUDA_SUPPORT_H_
