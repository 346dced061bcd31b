// SPDX-License-Identifier: Apache-2.0
#include "backplane/dlpack.h"

#include <dlpack/dlpack.h>
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tensor/tensor_impl.h"

namespace backplane::inline v0 {
namespace {

using internal::TensorImpl;

// Plugins whose devices DLPack has a code for. Memory of any other plugin whose buffers are host memory goes
// as kDLCPU.
struct DeviceCode {
  const char* backend;
  DLDeviceType code;
};
constexpr DeviceCode kDeviceCodes[] = {
    {"cpu", kDLCPU},       {"cuda", kDLCUDA},     {"opencl", kDLOpenCL},   {"vulkan", kDLVulkan},
    {"metal", kDLMetal},   {"rocm", kDLROCM},     {"vpi", kDLVPI},         {"ext", kDLExtDev},
#if defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION >= 1
    {"oneapi", kDLOneAPI}, {"webgpu", kDLWebGPU}, {"hexagon", kDLHexagon},
#endif
};

// Memory that a driver pinned for the host, or shares with it, is whose?
constexpr DeviceCode kMoreCodes[] = {{"cpu", kDLCUDAHost}, {"cpu", kDLROCMHost}, {"cuda", kDLCUDAManaged}};

struct TypeCode {
  DType type;
  uint8_t code, bits;
};
constexpr TypeCode kTypeCodes[] = {
    {DType::Int8, kDLInt, 8},         {DType::Int16, kDLInt, 16},     {DType::Int32, kDLInt, 32},
    {DType::Int64, kDLInt, 64},       {DType::UInt8, kDLUInt, 8},     {DType::UInt16, kDLUInt, 16},
    {DType::UInt32, kDLUInt, 32},     {DType::UInt64, kDLUInt, 64},   {DType::Float16, kDLFloat, 16},
    {DType::BFloat16, kDLBfloat, 16}, {DType::Float32, kDLFloat, 32}, {DType::Float64, kDLFloat, 64},
#if defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION >= 1
    {DType::Bool, kDLBool, 8},
#endif
};

DLDevice device_code(const TensorImpl& t) {
  const internal::DeviceState& device = t.device();
  if (device.host_memory) return {kDLCPU, 0};
  for (const DeviceCode& row : kDeviceCodes)
    if (device.plugin->name == row.backend) return {row.code, device.index};
  throw Error(ErrorCode::Unimplemented, fmt::format("to_dlpack: DLPack has no code for {}", device.name));
}

DLDataType type_code(DType type) {
  for (const TypeCode& row : kTypeCodes)
    if (row.type == type) return {row.code, row.bits, 1};
  throw Error(ErrorCode::Unimplemented,
              fmt::format("to_dlpack: DLPack before 1.0 has no {}", to_string(type)));
}

DType type_of(const DLDataType& type) {
  for (const TypeCode& row : kTypeCodes)
    if (row.code == type.code && row.bits == type.bits && type.lanes == 1) return row.type;
  const bool is_bool = type.code == 6 && type.bits == 8;
  throw Error(is_bool ? ErrorCode::Unimplemented : ErrorCode::InvalidArgument,
              fmt::format("from_dlpack: no element type of code {}, {} bits, {} lanes", type.code, type.bits,
                          type.lanes));
}

Device device_of(const DLDevice& device) {
  int32_t type = 0;  // another program's, perhaps newer than this enumeration and outside its range
  static_assert(sizeof type == sizeof device.device_type);
  std::memcpy(&type, &device.device_type, sizeof type);
  const auto find = [&](std::span<const DeviceCode> rows) -> const char* {
    for (const DeviceCode& row : rows)
      if (static_cast<int32_t>(row.code) == type) return row.backend;
    return nullptr;
  };
  const char* backend = find(kDeviceCodes);
  if (backend == nullptr) backend = find(kMoreCodes);
  // The host is one device, however its cores are divided.
  if (backend != nullptr && std::string_view(backend) == "cpu") return Device("cpu");
  if (backend != nullptr) return Device(fmt::format("{}:{}", backend, device.device_id));
  throw Error(ErrorCode::NotFound, fmt::format("from_dlpack: no device of DLPack type {}", type));
}

// What an exported tensor keeps alive.
struct Exported {
  Tensor tensor;
  std::vector<int64_t> shape, strides;
  DLManagedTensor managed{};
};

void delete_exported(DLManagedTensor* managed) { delete static_cast<Exported*>(managed->manager_ctx); }

// Element counts from the data pointer to the lowest element and past the highest.
struct Extent {
  int64_t low = 0, high = 0;
};

Extent extent_of(const Shape& shape, const Strides& strides) {
  Extent extent;
  bool inside = true;
  for (int i = 0; i < shape.rank(); ++i) {
    int64_t reach = 0;
    int64_t& end = strides[i] < 0 ? extent.low : extent.high;
    inside = inside && !__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) &&
             !__builtin_add_overflow(end, reach, &end);
  }
  if (!inside || extent.high >= INT64_MAX / 8 || extent.low <= INT64_MIN / 8)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("from_dlpack: strides {} of shape {}", strides.str(), shape.str()));
  ++extent.high;
  return extent;
}

Tensor wrap(const DLTensor& t, const std::shared_ptr<DLManagedTensor>& owner) {
  const DType type = type_of(t.dtype);
  const Device device = device_of(t.device);
  if (t.ndim < 0 || t.ndim > kMaxTensorRank)
    throw Error(ErrorCode::InvalidArgument, fmt::format("from_dlpack: {} dimensions", t.ndim));
  const Shape shape(std::span<const int64_t>(t.shape, static_cast<size_t>(t.ndim)));
  if (internal::checked_size(shape, type, "from_dlpack") == 0) return empty(shape, type, device);
  const Strides strides = t.strides == nullptr
                              ? internal::row_major_strides(shape)
                              : Strides(std::span<const int64_t>(t.strides, static_cast<size_t>(t.ndim)));
  const Extent extent = extent_of(shape, strides);
  const auto release = [owner] {};
  const auto itemsize = static_cast<int64_t>(size_of(type));
  if (device.state()->host_memory) {
    char* lowest = static_cast<char*>(t.data) + t.byte_offset + extent.low * itemsize;
    const Tensor memory = wrap_host(lowest, {extent.high - extent.low}, type, release, false, device);
    return memory.as_strided(shape, strides, -extent.low);
  }
  const auto offset = static_cast<int64_t>(t.byte_offset);
  if (offset % itemsize != 0 || offset / itemsize + extent.low < 0)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("from_dlpack: byte offset {} of {}", offset, to_string(type)));
  const Tensor memory = wrap_native(t.data, {offset / itemsize + extent.high}, type, device, release);
  return memory.as_strided(shape, strides, offset / itemsize);
}

}  // namespace

DLManagedTensor* to_dlpack(const Tensor& tensor) {
  TensorImpl& t = internal::impl_of(tensor, "to_dlpack");
  if (t.storage->read_only())
    throw Error(ErrorCode::InvalidArgument, fmt::format("to_dlpack: {} is read-only", internal::describe(t)));
  auto exported = std::make_unique<Exported>();
  DLTensor& out = exported->managed.dl_tensor;
  out.device = device_code(t);
  out.dtype = type_code(t.dtype);
  t.device().ensure_ready();
  t.storage->wait_for_host(true);
  t.storage->throw_errors();
  const internal::Block& block = t.storage->block();
  out.data = t.device().host_memory ? static_cast<void*>(block.host) : tensor.native_memory();
  out.byte_offset = (t.device().host_memory ? 0 : block.offset) + t.byte_offset();
  exported->shape.assign(t.shape.begin(), t.shape.end());
  exported->strides.assign(t.strides.begin(), t.strides.end());
  out.ndim = t.shape.rank();
  out.shape = exported->shape.data();
  out.strides = exported->strides.data();
  exported->tensor = tensor;
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = delete_exported;
  return &exported.release()->managed;
}

Tensor from_dlpack(DLManagedTensor* managed) {
  if (managed == nullptr) throw Error(ErrorCode::InvalidArgument, "from_dlpack: a null pointer");
  const std::shared_ptr<DLManagedTensor> owner(managed, [](DLManagedTensor* m) {
    if (m->deleter != nullptr) m->deleter(m);
  });
  return wrap(managed->dl_tensor, owner);
}

}  // namespace backplane::inline v0
