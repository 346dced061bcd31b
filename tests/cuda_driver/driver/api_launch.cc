// SPDX-License-Identifier: Apache-2.0
// Functions' attributes and launches.
#include <algorithm>
#include <cstring>

#include "driver/call.h"

using namespace cuda_double;

namespace {

constexpr uint32_t kSharedDefault = 49152, kSharedMost = 101376;

std::shared_ptr<FunctionHandle> function_of(CUfunction handle, const char* name) {
  auto function = driver().functions.find(handle);
  if (function == nullptr) {
    misuse(CUDA_ERROR_INVALID_HANDLE,
           std::string(name) + (driver().functions.was_live(handle) ? ": a function of an unloaded module"
                                                                    : ": no function"));
  }
  return function;
}

void check_shape(const Function& function, const Dim3& grid, const Dim3& block) {
  const auto refuse = [&](const std::string& why) {
    misuse(CUDA_ERROR_INVALID_VALUE, "launch of '" + function.name + "': " + why);
  };
  if (grid.volume() == 0 || block.volume() == 0) refuse("a grid or block without threads");
  if (grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535)
    refuse("a grid larger than the device allows");
  if (block.x > 1024 || block.y > 1024 || block.z > 64) refuse("a block larger than the device allows");
  if (block.volume() > function.max_threads)
    refuse(std::to_string(block.volume()) + " threads in a block, of at most " +
           std::to_string(function.max_threads));
  const uint32_t* required = function.required_threads;
  const bool other =
      required[0] != 0 && (required[0] != block.x || required[1] != block.y || required[2] != block.z);
  if (other) refuse("another block than .reqntid demands");
}

void check_shared(const FunctionHandle& handle, uint32_t dynamic) {
  const uint32_t allowed = handle.max_dynamic_shared;
  if (dynamic > allowed || uint64_t{dynamic} + handle.function->shared_size >
                               std::max(kSharedDefault, allowed + handle.function->shared_size)) {
    misuse(CUDA_ERROR_INVALID_VALUE, "launch of '" + handle.function->name + "': " + std::to_string(dynamic) +
                                         " bytes of dynamic shared memory");
  }
}

std::vector<uint8_t> parameters_from_list(const Function& function, void** list) {
  std::vector<uint8_t> buffer(function.parameter_size);
  if (list == nullptr && !function.parameters.empty())
    misuse(CUDA_ERROR_INVALID_VALUE, "launch of '" + function.name + "' without parameters");
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    if (list[i] == nullptr)
      misuse(CUDA_ERROR_INVALID_VALUE,
             "launch of '" + function.name + "': parameter " + std::to_string(i) + " is null");
    std::memcpy(buffer.data() + function.parameters[i].offset, list[i], function.parameters[i].size);
  }
  return buffer;
}

std::vector<uint8_t> parameters_from_buffer(const Function& function, void** extra) {
  const void* data = nullptr;
  size_t size = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      data = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = *static_cast<size_t*>(extra[1]);
    else
      misuse(CUDA_ERROR_INVALID_VALUE, "launch of '" + function.name + "': an unknown entry of `extra`");
  }
  if (data == nullptr || size != function.parameter_size) {
    misuse(CUDA_ERROR_INVALID_VALUE, "launch of '" + function.name + "': " + std::to_string(size) +
                                         " bytes of parameters where it takes " +
                                         std::to_string(function.parameter_size));
  }
  const auto* bytes = static_cast<const uint8_t*>(data);
  return {bytes, bytes + size};
}

void sticky_fault(Context& context) {
  const uint64_t launch = ++context.device->launches;
  for (const StickyRule& rule : driver().config.sticky) {
    if (rule.device == context.device->ordinal && rule.launch == launch) context.fail(rule.code);
  }
}

void run(Context& context, Stream& stream, const Launch& launch) {
  sticky_fault(context);
  if (context.failure != 0) return;
  try {
    stream.runner.run(launch);
  } catch (const DeviceFault& fault) {
    report(fault.message);
    context.fail(fault.code);
  }
}

CUresult launch_kernel(CUfunction handle, const Dim3& grid, const Dim3& block, uint32_t shared,
                       CUstream stream_handle, void** list, void** extra) {
  return call_in_context("cuLaunchKernel", [&](Context& context) {
    const auto function = function_of(handle, "cuLaunchKernel");
    const auto stream = stream_of(stream_handle, context, "cuLaunchKernel");
    if (function->module->context != &context)
      misuse(CUDA_ERROR_INVALID_CONTEXT, "cuLaunchKernel: a function of another context");
    if (stream->context != &context)
      misuse(CUDA_ERROR_INVALID_HANDLE, "cuLaunchKernel: a stream of another context");
    check_shape(*function->function, grid, block);
    check_shared(*function, shared);
    if (list != nullptr && extra != nullptr)
      misuse(CUDA_ERROR_INVALID_VALUE, "cuLaunchKernel: both kernelParams and extra");
    auto launch = std::make_shared<Launch>();
    launch->program = function->module->program.get();
    launch->kernel = function->function;
    launch->grid = grid;
    launch->block = block;
    launch->dynamic_shared = shared;
    launch->parameters = extra != nullptr ? parameters_from_buffer(*function->function, extra)
                                          : parameters_from_list(*function->function, list);
    launch->device = context.device->ordinal;
    launch->accessible_devices = 1u << context.device->ordinal;
    {
      const std::lock_guard lock(context.mutex);
      for (const int peer : context.peers) launch->accessible_devices |= 1u << peer;
    }
    Driver& state = driver();
    launch->checks = {state.config.check_uninitialized, state.config.check_races};
    launch->instruction_limit = state.config.instruction_limit;
    launch->order_seed = state.config.seed;
    launch->grid_id = state.next_grid++;
    submit(*stream, [&context, raw = stream.get(), launch, module = function->module] {
      run(context, *raw, *launch);
    });
    return CUDA_SUCCESS;
  });
}

int function_attribute(CUfunction_attribute attribute, const FunctionHandle& handle) {
  const Function& function = *handle.function;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return static_cast<int>(function.max_threads);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(function.shared_size);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(function.local_size);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return 32;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return static_cast<int>(handle.module->target);
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return static_cast<int>(handle.max_dynamic_shared.load());
    default:
      return 0;
  }
}

}  // namespace

CUDA_DOUBLE_API CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  return call(__func__, [&] {
    return *value = function_attribute(attribute, *function_of(handle, "cuFuncGetAttribute")), CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return call(__func__, [&] {
    const auto function = function_of(handle, "cuFuncSetAttribute");
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;
    if (value < 0 || static_cast<uint32_t>(value) + function->function->shared_size > kSharedMost)
      return CUDA_ERROR_INVALID_VALUE;
    return function->max_dynamic_shared = static_cast<uint32_t>(value), CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache) {
  return call(__func__, [&] { return function_of(handle, "cuFuncSetCacheConfig"), CUDA_SUCCESS; });
}

CUDA_DOUBLE_API CUresult cuFuncGetModule(CUmodule* module, CUfunction handle) {
  return call(__func__, [&] {
    return *module = as_handle<CUmodule>(function_of(handle, "cuFuncGetModule")->module->handle),
           CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuFuncGetName(const char** name, CUfunction handle) {
  return call(__func__, [&] {
    return *name = function_of(handle, "cuFuncGetName")->function->name.c_str(), CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t* offset, size_t* size) {
  return call(__func__, [&] {
    const auto& parameters = function_of(handle, "cuFuncGetParamInfo")->function->parameters;
    if (index >= parameters.size()) return CUDA_ERROR_INVALID_VALUE;
    *offset = parameters[index].offset;
    if (size != nullptr) *size = parameters[index].size;
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuFuncLoad(CUfunction handle) {
  return call(__func__, [&] { return function_of(handle, "cuFuncLoad"), CUDA_SUCCESS; });
}

CUDA_DOUBLE_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction handle, int size,
                                                                     size_t dynamic) {
  return call(__func__, [&] {
    const auto function = function_of(handle, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    if (size <= 0) return CUDA_ERROR_INVALID_VALUE;
    const size_t shared = function->function->shared_size + dynamic + 1024;
    const int by_threads = 2048 / ((size + 31) / 32 * 32), by_shared = static_cast<int>(102400 / shared);
    return *blocks = static_cast<uint32_t>(size) > function->function->max_threads
                         ? 0
                         : std::min({by_threads, by_shared, 32}),
           CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction handle,
                                                                              int size, size_t dynamic,
                                                                              unsigned int) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, handle, size, dynamic);
}

CUDA_DOUBLE_API CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                        unsigned int block_z, unsigned int shared, CUstream stream,
                                        void** list, void** extra) {
  return launch_kernel(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, list,
                       extra);
}

CUDA_DOUBLE_API CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** list,
                                          void** extra) {
  return launch_kernel(function, {config->gridDimX, config->gridDimY, config->gridDimZ},
                       {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes,
                       config->hStream, list, extra);
}
