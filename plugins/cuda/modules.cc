// SPDX-License-Identifier: Apache-2.0
#include "modules.h"

#include <cstring>

namespace backplane::cuda {
namespace {

const EmbeddedModule* find(const char* name) noexcept {
  int count = 0;
  const EmbeddedModule* modules = embedded_modules(&count);
  for (int i = 0; i < count; ++i)
    if (std::strcmp(modules[i].name, name) == 0) return &modules[i];
  return nullptr;
}

// Machine code runs on cards of the same major and the same or a higher minor architecture.
const MachineCode* best(const EmbeddedModule& module, int major, int minor) noexcept {
  const MachineCode* chosen = nullptr;
  for (int i = 0; i < module.machine_code_count; ++i) {
    const MachineCode& code = module.machine_code[i];
    if (code.architecture / 10 != major || code.architecture % 10 > minor) continue;
    if (chosen == nullptr || code.architecture > chosen->architecture) chosen = &code;
  }
  return chosen;
}

int attribute(CUdevice_attribute which, CUdevice device) noexcept {
  int value = 0;
  return cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

}  // namespace

Status load_module(Context& context, const void* image, CUmodule* module) {
  char log[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  const CUresult result = cuModuleLoadDataEx(module, image, 2, options, values);
  if (result == CUDA_SUCCESS) return kOk;
  log[sizeof log - 1] = '\0';
  const Status status = context.check(result, "cuModuleLoadDataEx");
  if (log[0] == '\0') return status;
  const std::string reason = status.message;
  return make_status(status.code, status.vendor_code, "%s; %s", reason.c_str(), log);
}

Modules::~Modules() {
  const ContextScope scope(*context_);
  if (!scope.status().ok()) return;
  for (const auto& [name, module] : loaded_) cuModuleUnload(module);
}

Status Modules::load(const EmbeddedModule& embedded, CUmodule* module) {
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, context_->device());
  const int minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, context_->device());
  const MachineCode* code = choice_ == CodeChoice::PtxOnly ? nullptr : best(embedded, major, minor);
  if (code != nullptr) {
    const Status status = load_module(*context_, code->first, module);
    // Code that this card or driver does not take is what the PTX is there for.
    if (status.code != StatusCode::Unimplemented) return status;
  }
  return load_module(*context_, embedded.ptx, module);
}

Status Modules::function(const char* module, const char* kernel, CUfunction* function) {
  const std::lock_guard lock(mutex_);
  auto found = loaded_.find(module);
  if (found == loaded_.end()) {
    const EmbeddedModule* embedded = find(module);
    if (embedded == nullptr)
      return make_status(StatusCode::Internal, 0, "no kernel module named %s in this plugin", module);
    CUmodule handle = nullptr;
    BACKPLANE_TRY(load(*embedded, &handle));
    found = loaded_.emplace(module, handle).first;
  }
  return context_->check(cuModuleGetFunction(function, found->second, kernel), "cuModuleGetFunction");
}

}  // namespace backplane::cuda
