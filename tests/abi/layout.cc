// SPDX-License-Identifier: Apache-2.0
//
// The size of every struct that crosses the plugin boundary, and the place of every field, as numbers: what
// plugins that were built yesterday rely on. A line may be added for an appended field; a number that changes
// breaks them. Compiled by every compiler at hand, as C++17 without exceptions and RTTI.
#include <cstddef>

#include "backplane/plugin/plugin.h"

namespace backplane::plugin {

// NOLINTBEGIN(bugprone-sizeof-expression): pointers are fields too
#define SIZE(type, bytes, alignment) static_assert(sizeof(type) == (bytes) && alignof(type) == (alignment))
#define FIELD(type, field, offset, bytes) \
  static_assert(offsetof(type, field) == (offset) && sizeof(type::field) == (bytes))

SIZE(Status, 16, 8);
FIELD(Status, code, 0, 4);
FIELD(Status, vendor_code, 4, 4);
FIELD(Status, message, 8, 8);

SIZE(Scalar, 8, 8);
FIELD(Scalar, i, 0, 8);
FIELD(Scalar, u, 0, 8);
FIELD(Scalar, f, 0, 8);

SIZE(DeviceProperties, 536, 8);
FIELD(DeviceProperties, struct_size, 0, 4);
FIELD(DeviceProperties, kind, 4, 4);
FIELD(DeviceProperties, has, 8, 8);
FIELD(DeviceProperties, flags, 16, 8);
FIELD(DeviceProperties, types, 24, 8);
FIELD(DeviceProperties, memory_total, 32, 8);
FIELD(DeviceProperties, largest_allocation, 40, 8);
FIELD(DeviceProperties, local_memory, 48, 8);
FIELD(DeviceProperties, min_alignment, 56, 4);
FIELD(DeviceProperties, units, 60, 4);
FIELD(DeviceProperties, clock_mhz, 64, 4);
FIELD(DeviceProperties, numa_node, 68, 4);
FIELD(DeviceProperties, max_group_size, 72, 4);
FIELD(DeviceProperties, reserved, 76, 4);
FIELD(DeviceProperties, uuid, 80, 16);
FIELD(DeviceProperties, pci_address, 96, 16);
FIELD(DeviceProperties, name, 112, 128);
FIELD(DeviceProperties, vendor, 240, 64);
FIELD(DeviceProperties, driver_version, 304, 64);
FIELD(DeviceProperties, api_version, 368, 64);
FIELD(DeviceProperties, architecture, 432, 64);
FIELD(DeviceProperties, source_language, 496, 32);
FIELD(DeviceProperties, extensions, 528, 8);

SIZE(Telemetry, 104, 8);
FIELD(Telemetry, struct_size, 0, 4);
FIELD(Telemetry, performance_state, 4, 4);
FIELD(Telemetry, has, 8, 8);
FIELD(Telemetry, memory_capacity, 16, 8);
FIELD(Telemetry, memory_used, 24, 8);
FIELD(Telemetry, memory_free, 32, 8);
FIELD(Telemetry, memory_process, 40, 8);
FIELD(Telemetry, ecc_errors, 48, 8);
FIELD(Telemetry, utilization, 56, 8);
FIELD(Telemetry, temperature_celsius, 64, 8);
FIELD(Telemetry, fan, 72, 8);
FIELD(Telemetry, power_watts, 80, 8);
FIELD(Telemetry, power_limit_watts, 88, 8);
FIELD(Telemetry, clock_mhz, 96, 4);
FIELD(Telemetry, memory_clock_mhz, 100, 4);

SIZE(ProcessInfo, 144, 8);
FIELD(ProcessInfo, struct_size, 0, 4);
FIELD(ProcessInfo, pid, 4, 4);
FIELD(ProcessInfo, memory_used, 8, 8);
FIELD(ProcessInfo, name, 16, 128);

SIZE(Note, 904, 4);
FIELD(Note, struct_size, 0, 4);
FIELD(Note, reserved, 4, 4);
FIELD(Note, subject, 8, 128);
FIELD(Note, cause, 136, 512);
FIELD(Note, remedy, 648, 256);

SIZE(Instruction, 8, 2);
FIELD(Instruction, op, 0, 2);
FIELD(Instruction, result, 2, 1);
FIELD(Instruction, args, 3, 3);
FIELD(Instruction, reserved, 6, 2);

SIZE(Program, 288, 2);
FIELD(Program, input_count, 0, 1);
FIELD(Program, scalar_count, 1, 1);
FIELD(Program, instruction_count, 2, 1);
FIELD(Program, output_count, 3, 1);
FIELD(Program, outputs, 4, 4);
FIELD(Program, input_types, 8, 12);
FIELD(Program, scalar_types, 20, 12);
FIELD(Program, instructions, 32, 256);

SIZE(KernelDesc, 600, 8);
FIELD(KernelDesc, struct_size, 0, 4);
FIELD(KernelDesc, family, 4, 1);
FIELD(KernelDesc, op, 5, 1);
FIELD(KernelDesc, layout, 6, 1);
FIELD(KernelDesc, flags, 7, 1);
FIELD(KernelDesc, compute_type, 8, 1);
FIELD(KernelDesc, types, 9, 3);
FIELD(KernelDesc, operand_count, 12, 1);
FIELD(KernelDesc, scalar_count, 13, 1);
FIELD(KernelDesc, reserved, 14, 2);
FIELD(KernelDesc, program, 16, 288);
FIELD(KernelDesc, epilogue, 304, 288);
FIELD(KernelDesc, source, 592, 8);

SIZE(SourceDesc, 56, 8);
FIELD(SourceDesc, struct_size, 0, 4);
FIELD(SourceDesc, language, 4, 1);
FIELD(SourceDesc, reserved, 5, 3);
FIELD(SourceDesc, text, 8, 8);
FIELD(SourceDesc, entry, 16, 8);
FIELD(SourceDesc, options, 24, 8);
FIELD(SourceDesc, native, 32, 8);
FIELD(SourceDesc, scalar_types, 40, 12);

SIZE(Operand, 88, 8);
FIELD(Operand, buffer, 0, 8);
FIELD(Operand, offset, 8, 8);
FIELD(Operand, address, 16, 8);
FIELD(Operand, strides, 24, 64);

SIZE(LaunchArgs, 200, 8);
FIELD(LaunchArgs, struct_size, 0, 4);
FIELD(LaunchArgs, operand_count, 4, 4);
FIELD(LaunchArgs, operand_stride, 8, 4);
FIELD(LaunchArgs, scalar_count, 12, 4);
FIELD(LaunchArgs, operands, 16, 8);
FIELD(LaunchArgs, scalars, 24, 8);
FIELD(LaunchArgs, rank, 32, 4);
FIELD(LaunchArgs, reduced_rank, 36, 4);
FIELD(LaunchArgs, shape, 40, 64);
FIELD(LaunchArgs, axis_size, 104, 8);
FIELD(LaunchArgs, axis_stride, 112, 8);
FIELD(LaunchArgs, seed, 120, 8);
FIELD(LaunchArgs, block_offset, 128, 8);
FIELD(LaunchArgs, workspace, 136, 8);
FIELD(LaunchArgs, workspace_offset, 144, 8);
FIELD(LaunchArgs, workspace_bytes, 152, 8);
FIELD(LaunchArgs, error, 160, 8);
FIELD(LaunchArgs, error_offset, 168, 8);
FIELD(LaunchArgs, group, 176, 12);
FIELD(LaunchArgs, reserved, 188, 4);
FIELD(LaunchArgs, label, 192, 8);

SIZE(StreamOptions, 16, 4);
FIELD(StreamOptions, struct_size, 0, 4);
FIELD(StreamOptions, kind, 4, 4);
FIELD(StreamOptions, priority, 8, 4);
FIELD(StreamOptions, reserved, 12, 4);

SIZE(NativeContext, 24, 8);
FIELD(NativeContext, struct_size, 0, 4);
FIELD(NativeContext, reserved, 4, 4);
FIELD(NativeContext, context, 8, 8);
FIELD(NativeContext, device, 16, 8);

SIZE(HostInfo, 40, 8);
FIELD(HostInfo, struct_size, 0, 4);
FIELD(HostInfo, abi_major, 4, 2);
FIELD(HostInfo, abi_minor, 6, 2);
FIELD(HostInfo, context, 8, 8);
FIELD(HostInfo, log, 16, 8);
FIELD(HostInfo, option, 24, 8);
FIELD(HostInfo, thread_count, 32, 4);
FIELD(HostInfo, reserved, 36, 4);

SIZE(Plugin, 48, 8);
FIELD(Plugin, struct_size, 0, 4);
FIELD(Plugin, abi_major, 4, 2);
FIELD(Plugin, abi_minor, 6, 2);
FIELD(Plugin, name, 8, 8);
FIELD(Plugin, version, 16, 8);
FIELD(Plugin, compiler, 24, 8);
FIELD(Plugin, priority, 32, 4);
FIELD(Plugin, reserved, 36, 4);
FIELD(Plugin, create, 40, 8);
// NOLINTEND(bugprone-sizeof-expression)

// Values that cross as bare numbers.
static_assert(sizeof(StatusCode) == 4 && static_cast<int>(StatusCode::Internal) == 7);
static_assert(sizeof(DType) == 1 && static_cast<int>(DType::Float64) == 12 && kDTypeCount == 13);
static_assert(sizeof(DeviceKind) == 4 && sizeof(LogLevel) == 4 && sizeof(StreamKind) == 4 &&
              sizeof(NativeHandle) == 4);
static_assert(sizeof(ScalarOp) == 2 && sizeof(Family) == 1 && sizeof(Layout) == 1);
static_assert(kMaxRank == 8 && kMaxInputs == 12 && kMaxOutputs == 4 && kMaxScalars == 12 &&
              kMaxInstructions == 32);
static_assert(kScalarSlot == 0x40 && kResultSlot == 0x80);

}  // namespace backplane::plugin
