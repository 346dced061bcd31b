// SPDX-License-Identifier: Apache-2.0
#include "opencl/variant.h"

#include <vector>

#include "opencl/device.h"

// Generated at build time from the shared formulas.
extern const char backplane_opencl_formulas[];  // NOLINT(readability-identifier-naming): embed.cmake's name

namespace backplane::opencl {

namespace {

std::string build_options(const Facts& facts) {
  std::string options = "-w";  // the drivers print warnings about formulas that a kernel does not use
  options += facts.has_float64 ? " -DBP_HAS_F64=1" : " -DBP_HAS_F64=0";
  options += facts.has_correctly_rounded_divide ? " -cl-fp32-correctly-rounded-divide-sqrt"
                                                : " -DBP_SOFT_DIVIDE_SQRT";
  return options;
}

std::string build_log(cl_program program, cl_device_id device) {
  size_t size = 0;
  if (api().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS ||
      size == 0 || size > (size_t{1} << 24))
    return "no log";
  std::string log(size, '\0');
  api().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  log.resize(log.find('\0') == std::string::npos ? size : log.find('\0'));
  return log;
}

// A context may have several devices, and the program then room for as many binaries.
std::string binary_of(cl_program program, cl_device_id device) {
  cl_uint count = 0;
  if (api().clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, nullptr) != CL_SUCCESS)
    return {};
  std::vector<cl_device_id> devices(count);
  std::vector<size_t> sizes(count);
  if (api().clGetProgramInfo(program, CL_PROGRAM_DEVICES, count * sizeof(cl_device_id), devices.data(),
                             nullptr) != CL_SUCCESS ||
      api().clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, count * sizeof sizes[0], sizes.data(),
                             nullptr) != CL_SUCCESS)
    return {};
  std::vector<std::string> binaries(count);
  std::vector<unsigned char*> pointers(count);
  for (size_t i = 0; i < count; ++i) {
    binaries[i].resize(sizes[i]);
    pointers[i] = sizes[i] == 0 ? nullptr : reinterpret_cast<unsigned char*>(binaries[i].data());
  }
  if (api().clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof(unsigned char*), pointers.data(),
                             nullptr) != CL_SUCCESS)
    return {};
  for (size_t i = 0; i < count; ++i)
    if (devices[i] == device) return binaries[i];
  return {};
}

ProgramHandle program_from_binary(const ClDevice& device, const std::string& binary,
                                  const std::string& options) {
  const size_t size = binary.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const cl_device_id id = device.id();
  cl_int status = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  ProgramHandle program(
      api().clCreateProgramWithBinary(device.context(), 1, &id, &size, &bytes, &status, &code));
  if (code != CL_SUCCESS || status != CL_SUCCESS ||
      api().clBuildProgram(program.get(), 1, &id, options.c_str(), nullptr, nullptr) != CL_SUCCESS)
    return {};
  return program;
}

Status program_from_source(const ClDevice& device, const std::string& source, const std::string& options,
                           const char* entry, StatusCode refusal, ProgramHandle* program) {
  const char* text = source.c_str();
  const cl_device_id id = device.id();
  cl_int code = CL_SUCCESS;
  *program = ProgramHandle(api().clCreateProgramWithSource(device.context(), 1, &text, nullptr, &code));
  BACKPLANE_OPENCL_TRY(cl_status(code, "clCreateProgramWithSource"));
  code = api().clBuildProgram(program->get(), 1, &id, options.c_str(), nullptr, nullptr);
  if (code == CL_SUCCESS) return kOk;
  const Status status = cl_status(code, "clBuildProgram");
  const bool refused = code == CL_BUILD_PROGRAM_FAILURE || code == CL_INVALID_BUILD_OPTIONS;
  return plugin::make_status(refused ? refusal : status.code, code, "kernel %s: clBuildProgram: %s (%d): %s",
                             entry, error_name(code), code, build_log(program->get(), id).c_str());
}

Status make_kernel(ProgramHandle program, const char* entry, std::unique_ptr<Variant>* variant) {
  cl_int code = CL_SUCCESS;
  KernelHandle kernel(api().clCreateKernel(program.get(), entry, &code));
  if (code != CL_SUCCESS) {
    const Status status = cl_status(code, "clCreateKernel");
    return plugin::make_status(status.code, code, "kernel %s: clCreateKernel: %s (%d)", entry,
                               error_name(code), code);
  }
  *variant = std::make_unique<Variant>(std::move(program), std::move(kernel));
  renew_exit_handler();
  return kOk;
}

Status build(const ClDevice& device, const std::string& source, const std::string& options, const char* entry,
             StatusCode refusal, std::unique_ptr<Variant>* variant) {
  const std::string key = device.facts().identity + options + "\n" + source;
  if (const auto binary = device.cache().load(key))
    if (ProgramHandle program = program_from_binary(device, *binary, options))
      if (make_kernel(std::move(program), entry, variant).ok()) return kOk;
  ProgramHandle program;
  BACKPLANE_OPENCL_TRY(program_from_source(device, source, options, entry, refusal, &program));
  // Not asked for in vain: PoCL compiles every kernel once more to answer.
  if (!device.cache().folder().empty())
    if (const std::string binary = binary_of(program.get(), device.id()); !binary.empty())
      device.cache().store(key, binary);
  return make_kernel(std::move(program), entry, variant);
}

}  // namespace

Status build_variant(const ClDevice& device, const std::string& source, const char* entry,
                     std::unique_ptr<Variant>* variant) {
  return build(device, backplane_opencl_formulas + source, build_options(device.facts()), entry,
               StatusCode::Internal, variant);
}

Status build_sibling(const Variant& other, const char* entry, std::unique_ptr<Variant>* variant) {
  return make_kernel(ProgramHandle::retained(other.program_.get()), entry, variant);
}

Status build_user_variant(const ClDevice& device, const std::string& source, const std::string& options,
                          const char* entry, std::unique_ptr<Variant>* variant) {
  return build(device, source, options, entry, StatusCode::InvalidArgument, variant);
}

Invocation& Invocation::bytes(const void* data, size_t size) {
  const cl_int code = api().clSetKernelArg(kernel_, next_++, size, data);
  if (code_ == CL_SUCCESS) code_ = code;
  return *this;
}

Status Invocation::run(ClStream* stream, const Size3& groups, const Size3& group, const char* label) {
  if (code_ != CL_SUCCESS)
    return plugin::make_status(cl_status(code_, "").code, code_, "%s: clSetKernelArg: %s (%d)", label,
                               error_name(code_), code_);
  Size3 global{};
  for (size_t i = 0; i < global.size(); ++i) {
    global[i] = groups[i] * (group[0] == 0 ? 1 : group[i]);
    if (global[i] == 0) return kOk;
  }
  const cl_int code =
      api().clEnqueueNDRangeKernel(stream->queue(), kernel_, 3, nullptr, global.data(),
                                   group[0] == 0 ? nullptr : group.data(), 0, nullptr, nullptr);
  if (code == CL_SUCCESS) {
    stream->note_command();
    return kOk;
  }
  return stream->device()->checked(plugin::make_status(
      cl_status(code, "").code, code, "%s: clEnqueueNDRangeKernel: %s (%d)", label, error_name(code), code));
}

}  // namespace backplane::opencl
