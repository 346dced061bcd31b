// SPDX-License-Identifier: Apache-2.0
// Modules: PTX text only. Machine code answers as it does on a card of another architecture.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "driver/call.h"
#include "exec/cuda_codes.h"
#include "exec/decoder.h"
#include "ptx/parser.h"

using namespace cuda_double;

namespace {

void release_variables(Context& context, Module& module) {
  for (const auto& [name, variable] : module.variables) {
    AddressSpace::instance().release(variable->base);
    context.device->in_use -= accounted(variable->size);
  }
  module.variables.clear();
}

void place_variables(Context& context, Module& module, const ModuleSyntax& syntax) {
  for (const Variable& variable : syntax.variables) {
    if (variable.space == Space::kShared) continue;
    if (variable.external)
      throw PtxError(variable.line, "'" + std::string(variable.name) + "' is defined in another module");
    auto allocation = AddressSpace::instance().allocate(std::max<uint64_t>(variable.size, 1),
                                                        context.device->ordinal, MemoryKind::kModule, false);
    if (allocation == nullptr) throw ApiError{CUDA_ERROR_OUT_OF_MEMORY};
    allocation->read_only = variable.space == Space::kConst;
    allocation->context = context.handle;
    context.device->in_use += accounted(allocation->size);
    std::memset(allocation->host, 0, allocation->size);
    std::copy(variable.initial.begin(), variable.initial.end(), allocation->host);
    module.variables[std::string(variable.name)] = std::move(allocation);
  }
}

uint64_t variable_address(const Module& module, std::string_view name) {
  const auto found = module.variables.find(std::string(name));
  return found == module.variables.end() ? 0 : found->second->base;
}

// Initial values that are addresses, of variables and of functions.
void relocate(Module& module) {
  for (const Variable& variable : module.program->syntax->variables) {
    for (const Relocation& relocation : variable.relocations) {
      uint64_t address = variable_address(module, relocation.symbol);
      const auto function = module.program->by_name.find(relocation.symbol);
      for (const auto& [code, candidate] : module.program->by_address) {
        if (function != module.program->by_name.end() && candidate == function->second) address = code;
      }
      if (address == 0)
        throw PtxError(relocation.line, "unknown name '" + std::string(relocation.symbol) + "'");
      address += static_cast<uint64_t>(relocation.addend);
      std::memcpy(module.variables[std::string(variable.name)]->host + relocation.offset, &address, 8);
    }
  }
}

struct JitLog {
  char* buffer = nullptr;
  size_t size = 0;
  void** written = nullptr;  // where the option's value, the length, is stored
  void write(const std::string& text) const {
    if (buffer == nullptr || size == 0) return;
    const size_t length = std::min(text.size(), size - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
    if (written != nullptr) *written = reinterpret_cast<void*>(length);
  }
};

JitLog error_log(unsigned int count, const CUjit_option* options, void** values) {
  JitLog log;
  for (unsigned int i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) log.buffer = static_cast<char*>(values[i]);
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
      log.size = reinterpret_cast<size_t>(values[i]);
      log.written = &values[i];
    }
  }
  return log;
}

void load(Context& context, Module& module, const char* image) {
  auto syntax = parse_ptx(image);
  module.target = syntax->target;
  const auto capability =
      static_cast<uint32_t>(context.device->config.major * 10 + context.device->config.minor);
  if (module.target > capability) throw ApiError{CUDA_ERROR_NO_BINARY_FOR_GPU};
  place_variables(context, module, *syntax);
  module.program =
      decode(std::move(syntax), [&](std::string_view name) { return variable_address(module, name); });
  relocate(module);
}

bool is_machine_code(const void* image) {
  const auto* bytes = static_cast<const unsigned char*>(image);
  static constexpr unsigned char kElf[] = {0x7f, 'E', 'L', 'F'}, kFatbin[] = {0x50, 0xed, 0x55, 0xba};
  static constexpr unsigned char kWrapper[] = {0xb1, 0x43, 0x62, 0x46};
  return std::memcmp(bytes, kElf, 4) == 0 || std::memcmp(bytes, kFatbin, 4) == 0 ||
         std::memcmp(bytes, kWrapper, 4) == 0;
}

CUresult load_module(CUmodule* result, const void* image, const JitLog& log) {
  return call_in_context("cuModuleLoadData", [&](Context& context) {
    if (result == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (is_machine_code(image)) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    auto module = std::make_shared<Module>();
    module->context = &context;
    try {
      load(context, *module, static_cast<const char*>(image));
    } catch (const PtxError& error) {
      release_variables(context, *module);
      log.write(std::string("ptxas test double: ") + error.what());
      report(std::string("PTX refused: ") + error.what());
      return CUDA_ERROR_INVALID_PTX;
    } catch (...) {
      release_variables(context, *module);
      throw;
    }
    module->handle = driver().modules.add(module);
    const std::lock_guard lock(context.mutex);
    context.modules[module->handle] = module;
    return *result = as_handle<CUmodule>(module->handle), CUDA_SUCCESS;
  });
}

std::shared_ptr<Module> module_of(CUmodule handle, const char* function) {
  auto module = driver().modules.find(handle);
  if (module == nullptr) {
    misuse(
        CUDA_ERROR_INVALID_HANDLE,
        std::string(function) + (driver().modules.was_live(handle) ? ": an unloaded module" : ": no module"));
  }
  return module;
}

CUfunction function_handle(const std::shared_ptr<Module>& module, const Function& function) {
  const std::lock_guard lock(module->context->mutex);
  uint64_t& handle = module->functions[function.name];
  if (handle == 0) {
    auto entry = std::make_shared<FunctionHandle>();
    entry->module = module;
    entry->function = &function;
    handle = driver().functions.add(std::move(entry));
  }
  return as_handle<CUfunction>(handle);
}

}  // namespace

CUDA_DOUBLE_API CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load_module(module, image, {});
}

CUDA_DOUBLE_API CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count,
                                            CUjit_option* options, void** values) {
  return load_module(module, image, error_log(count, options, values));
}

CUDA_DOUBLE_API CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load_module(module, image, {});
}

CUDA_DOUBLE_API CUresult cuModuleLoad(CUmodule* module, const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  const std::string image{std::istreambuf_iterator<char>(file), {}};
  return load_module(module, image.c_str(), {});
}

CUDA_DOUBLE_API CUresult cuModuleUnload(CUmodule handle) {
  return call_in_context(__func__, [&](Context&) {
    const auto module = module_of(handle, "cuModuleUnload");
    Context& owner = *module->context;
    synchronize(owner);
    driver().modules.remove(handle);
    for (const auto& [name, function] : module->functions)
      driver().functions.remove(as_handle<void*>(function));
    release_variables(owner, *module);
    const std::lock_guard lock(owner.mutex);
    owner.modules.erase(module->handle);
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return call(__func__, [&] { return *mode = CU_MODULE_LAZY_LOADING, CUDA_SUCCESS; });
}

CUDA_DOUBLE_API CUresult cuModuleGetFunction(CUfunction* result, CUmodule handle, const char* name) {
  return call_in_context(__func__, [&](Context&) {
    const auto module = module_of(handle, "cuModuleGetFunction");
    const auto found = module->program->by_name.find(name);
    if (found == module->program->by_name.end() || !found->second->entry) return CUDA_ERROR_NOT_FOUND;
    return *result = function_handle(module, *found->second), CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuModuleGetGlobal(CUdeviceptr* address, size_t* size, CUmodule handle,
                                           const char* name) {
  return call_in_context("cuModuleGetGlobal_v2", [&](Context&) {
    const auto module = module_of(handle, "cuModuleGetGlobal");
    const auto found = module->variables.find(name);
    if (found == module->variables.end()) return CUDA_ERROR_NOT_FOUND;
    if (address != nullptr) *address = found->second->base;
    if (size != nullptr) *size = found->second->size;
    return CUDA_SUCCESS;
  });
}
