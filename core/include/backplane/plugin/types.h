// SPDX-License-Identifier: Apache-2.0
//
// Plain values that cross the plugin boundary: result codes, element types, device descriptions.
//
// Rules of the boundary, which every header in this folder keeps:
//  - C++17, no exceptions, no RTTI, no `std::` type in any signature.
//  - A struct that may grow starts with `struct_size`; whoever allocates it fills that in, whoever reads it
//  touches
//    only the bytes it covers. Fields are only ever appended. `Status`, `Scalar`, `Instruction` and `Program`
//    are fixed for good and carry no size.
//  - An array of structs that may grow travels with the byte distance between its elements.
//  - Everything is thread-safe unless its comment says otherwise.
#ifndef BACKPLANE_PLUGIN_TYPES_H_
#define BACKPLANE_PLUGIN_TYPES_H_

#include <cstddef>
#include <cstdint>

namespace backplane::plugin {

// A plugin loads when its major number is the host's. The minor number counts appended methods and fields.
inline constexpr uint16_t kAbiMajor = 0;
inline constexpr uint16_t kAbiMinor = 1;

enum class StatusCode : int32_t {
  Ok = 0,
  InvalidArgument = 1,  // the caller's mistake
  NotFound = 2,         // no such device, file or symbol
  Unimplemented = 3,    // this device cannot do it; the caller may try another way
  OutOfMemory = 4,      // recoverable: free something and try again
  Unavailable = 5,      // not now or not here (no driver, timeout, after fork)
  DeviceLost = 6,       // this device is unusable for the rest of the process
  Internal = 7,         // a defect, or a driver's answer that nobody expected
};

// The result of every call. Returned in two registers. `message` is a NUL-terminated UTF-8 string owned by
// the callee, valid until this thread's next call into the same plugin; it may be null when `code` is Ok.
struct Status {
  StatusCode code;
  int32_t vendor_code;  // the driver's own number, 0 if there is none
  const char* message;

  bool ok() const noexcept { return code == StatusCode::Ok; }
};

inline constexpr Status kOk{StatusCode::Ok, 0, nullptr};

enum class DType : uint8_t {
  Bool = 0,  // one byte, 0 or 1
  Int8 = 1,
  Int16 = 2,
  Int32 = 3,
  Int64 = 4,
  UInt8 = 5,
  UInt16 = 6,
  UInt32 = 7,
  UInt64 = 8,
  Float16 = 9,
  BFloat16 = 10,
  Float32 = 11,
  Float64 = 12,
};
inline constexpr uint32_t kDTypeCount = 13;

// Bytes of one element; 0 for a value that is no DType.
constexpr uint32_t size_of(DType type) noexcept {
  constexpr uint8_t kSizes[kDTypeCount] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return static_cast<uint32_t>(type) < kDTypeCount ? kSizes[static_cast<uint32_t>(type)] : 0;
}

// A typed 64-bit scalar: `i` for signed integers, `u` for unsigned ones and bool, `f` for every floating
// type.
union Scalar {
  int64_t i;
  uint64_t u;
  double f;
};

enum class DeviceKind : uint32_t { Cpu = 0, Gpu = 1, Accelerator = 2 };

// Bits of DeviceProperties::flags: what the device does, not what is known about it.
enum DeviceFlags : uint64_t {
  // Streams made with StreamKind::Default run each call to its end in the calling thread.
  kSynchronousDefaultStream = 1u << 0,
  // Every buffer's host_pointer() is its memory: host code may read and write it when the device is not using
  // it.
  kHostMemory = 1u << 1,
  // Buffer::map gives the memory itself rather than a copy.
  kMapsWithoutCopy = 1u << 2,
  // Kernels and copies take any element-aligned byte offset, so that core may carve one buffer into many
  // tensors.
  kBufferOffsets = 1u << 3,
  // Goes on working in the child of a fork.
  kForkSafe = 1u << 4,
  // Float32 denormals survive arithmetic.
  kDenormals = 1u << 5,
  // Division and square root of float32 are correctly rounded.
  kCorrectlyRoundedDivide = 1u << 6,
};

// Bits of DeviceProperties::has.
enum PropertyBits : uint64_t {
  kHasVendor = 1u << 0,
  kHasDriverVersion = 1u << 1,
  kHasApiVersion = 1u << 2,
  kHasArchitecture = 1u << 3,
  kHasUnits = 1u << 4,
  kHasClock = 1u << 5,
  kHasMemoryTotal = 1u << 6,
  kHasLargestAllocation = 1u << 7,
  kHasPciAddress = 1u << 8,
  kHasUuid = 1u << 9,
  kHasNumaNode = 1u << 10,
  kHasSourceLanguage = 1u << 11,
  kHasMaxGroupSize = 1u << 12,
  kHasLocalMemory = 1u << 13,
  kHasExtensions = 1u << 14,
};

// What a device is. Strings are NUL-terminated UTF-8, cut to fit. A field whose bit in `has` is not set is
// unknown and shown as "n/a"; `kind`, `flags`, `name`, `types` and `min_alignment` are always known.
struct DeviceProperties {
  uint32_t struct_size;
  DeviceKind kind;
  uint64_t has;                 // PropertyBits
  uint64_t flags;               // DeviceFlags
  uint64_t types;               // bit 1 << DType for every element type that kernels may compute with
  uint64_t memory_total;        // bytes
  uint64_t largest_allocation;  // bytes
  uint64_t local_memory;        // bytes of fast memory shared by one work-group
  uint32_t min_alignment;       // bytes; every allocation starts at a multiple of it
  uint32_t units;               // cores, compute units or multiprocessors
  uint32_t clock_mhz;           // highest
  int32_t numa_node;
  uint32_t max_group_size;  // work-items in one work-group
  uint32_t reserved;
  uint8_t uuid[16];
  char pci_address[16];  // "0000:3b:00.0"
  char name[128];        // "Intel(R) Xeon(R) Processor"
  char vendor[64];
  char driver_version[64];
  char api_version[64];      // "CUDA 13.0", "OpenCL 3.0"
  char architecture[64];     // "AVX2", "sm_90"
  char source_language[32];  // what the `source` family takes: "OpenCL C", "CUDA C++", "native"
  const char* extensions;    // space-separated, owned by the device, valid as long as it; null if unknown
};

// Bits of Telemetry::has.
enum TelemetryBits : uint64_t {
  kHasMemoryUsed = 1u << 0,
  kHasMemoryFree = 1u << 1,
  kHasMemoryProcess = 1u << 2,
  kHasUtilization = 1u << 3,
  kHasTemperature = 1u << 4,
  kHasFan = 1u << 5,
  kHasPower = 1u << 6,
  kHasPowerLimit = 1u << 7,
  kHasCurrentClock = 1u << 8,
  kHasMemoryClock = 1u << 9,
  kHasPerformanceState = 1u << 10,
  kHasEccErrors = 1u << 11,
  kHasMemoryCapacity = 1u << 12,
};

// What a device is doing now. A field whose bit in `has` is not set is unknown.
struct Telemetry {
  uint32_t struct_size;
  int32_t performance_state;  // 0 is the fastest
  uint64_t has;               // TelemetryBits
  uint64_t memory_capacity;   // bytes that used and free are parts of
  uint64_t memory_used;       // bytes, by everybody
  uint64_t memory_free;       // bytes that an allocation could get
  uint64_t memory_process;    // bytes, by this process
  uint64_t ecc_errors;        // uncorrected, since the driver was loaded
  double utilization;         // 0..1, since the previous query or over the driver's own window
  double temperature_celsius;
  double fan;  // 0..1
  double power_watts;
  double power_limit_watts;
  uint32_t clock_mhz;
  uint32_t memory_clock_mhz;
};

// One process that uses a device.
struct ProcessInfo {
  uint32_t struct_size;
  uint32_t pid;
  uint64_t memory_used;  // bytes; UINT64_MAX when the driver does not say
  char name[128];
};

// Something that a backend found wrong while it looked for devices, and that cost it only a part of them.
struct Note {
  uint32_t struct_size;
  uint32_t reserved;
  char subject[128];  // "OpenCL platform 2", "/etc/OpenCL/vendors/x.icd"
  char cause[512];
  char remedy[256];  // empty where none is known
};

}  // namespace backplane::plugin

#endif  // BACKPLANE_PLUGIN_TYPES_H_
