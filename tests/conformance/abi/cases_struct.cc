// SPDX-License-Identifier: Apache-2.0
// What crosses the boundary: structs of hosts older and newer than the plugin, unknown numbers, descriptions.
#include <cstddef>
#include <cstring>
#include <string>

#include "cases.h"
#include "launch.h"

namespace backplane::conformance {
namespace {

template <typename Struct>
struct Wide {
  Struct known;
  uint64_t later;
};

// `fill` gets a struct of some size; checks that it stays inside it.
template <typename Struct, typename Fill>
void require_keeps_to_size(uint32_t oldest, const char* what, Fill fill) {
  for (const uint32_t size : {oldest, static_cast<uint32_t>(sizeof(Wide<Struct>))}) {
    alignas(16) unsigned char memory[sizeof(Wide<Struct>) + 64];
    std::memset(memory, 0xee, sizeof memory);
    auto* const value = reinterpret_cast<Struct*>(memory);
    value->struct_size = size;
    require_ok(fill(value), what);
    if (value->struct_size != size)
      fail("%s changed struct_size from %u to %u", what, size, value->struct_size);
    for (size_t i = size; i < sizeof memory; ++i) {
      if (memory[i] != 0xee) fail("%s wrote byte %zu of a struct of %u", what, i, size);
    }
  }
}

void properties_keep_to_their_size(Context& context) {
  using plugin::DeviceProperties;
  constexpr auto oldest = static_cast<uint32_t>(offsetof(DeviceProperties, extensions) + sizeof(const char*));
  require_keeps_to_size<DeviceProperties>(oldest, "properties",
                                          [&](auto* value) { return context.device().properties(value); });
  require_keeps_to_size<DeviceProperties>(
      oldest, "describe", [&](auto* value) { return context.backend().describe(context.index(), value); });
  require_keeps_to_size<DeviceProperties>(24, "properties of 24 bytes",
                                          [&](auto* value) { return context.device().properties(value); });
}

void telemetry_keeps_to_its_size(Context& context) {
  using plugin::Telemetry;
  constexpr auto oldest = static_cast<uint32_t>(offsetof(Telemetry, memory_clock_mhz) + sizeof(uint32_t));
  require_keeps_to_size<Telemetry>(oldest, "telemetry",
                                   [&](auto* value) { return context.device().telemetry(value); });
  require_keeps_to_size<Telemetry>(16, "telemetry of 16 bytes",
                                   [&](auto* value) { return context.device().telemetry(value); });
}

void telemetry_makes_sense(Context& context) {
  plugin::Telemetry telemetry{};
  telemetry.struct_size = sizeof telemetry;
  require_ok(context.device().telemetry(&telemetry), "telemetry");
  const auto has = [&](uint64_t bits) { return (telemetry.has & bits) == bits; };
  if (has(plugin::kHasUtilization) && !(telemetry.utilization >= 0 && telemetry.utilization <= 1)) {
    fail("utilization is %g", telemetry.utilization);
  }
  if (has(plugin::kHasMemoryCapacity | plugin::kHasMemoryUsed) &&
      telemetry.memory_used > telemetry.memory_capacity) {
    fail("more memory is used than there is");
  }
  if (has(plugin::kHasMemoryCapacity | plugin::kHasMemoryFree) &&
      telemetry.memory_free > telemetry.memory_capacity) {
    fail("more memory is free than there is");
  }
  if (has(plugin::kHasTemperature) &&
      !(telemetry.temperature_celsius > -50 && telemetry.temperature_celsius < 200)) {
    fail("temperature is %g", telemetry.temperature_celsius);
  }
  if (has(plugin::kHasPower) && !(telemetry.power_watts >= 0)) fail("power is %g", telemetry.power_watts);
}

void description_and_device_agree(Context& context) {
  plugin::DeviceProperties described{};
  described.struct_size = sizeof described;
  require_ok(context.backend().describe(context.index(), &described), "describe");
  const plugin::DeviceProperties& opened = context.properties();
  if (std::strcmp(described.name, opened.name) != 0)
    fail("name '%s' when described, '%s' when opened", described.name, opened.name);
  if (described.kind != opened.kind || described.types != opened.types || described.flags != opened.flags) {
    fail("kind, types or flags differ between describe and properties");
  }
  if (*opened.name == '\0') fail("the device has no name");
  if (context.device().backend_name() == nullptr) fail("backend_name is null");
}

void indices_out_of_range_are_not_found(Context& context) {
  const uint32_t count = context.backend().device_count();
  for (const uint32_t index : {count, count + 1, 0xffffffffu}) {
    plugin::Device* device = nullptr;
    require_code(context.backend().open(index, &device), plugin::StatusCode::NotFound, "open");
    plugin::DeviceProperties properties{};
    properties.struct_size = sizeof properties;
    require_code(context.backend().describe(index, &properties), plugin::StatusCode::NotFound, "describe");
  }
}

plugin::KernelDesc negate_desc() {
  plugin::KernelDesc desc = make_desc(plugin::Family::Elementwise);
  desc.program = one_op_program(plugin::ScalarOp::negative, {DType::Float32}, DType::Float32);
  return desc;
}

void run_negate(Context& context, plugin::Kernel& kernel, bool oversize) {
  Values input(DType::Float32, 3);
  Values expected(DType::Float32, 3);
  for (int i = 0; i < 3; ++i) {
    input.set(i, i + 0.5);
    expected.set(i, -(i + 0.5));
  }
  const auto in = context.upload(input);
  const auto out = context.allocate(12);
  Launch launch({3});
  launch.operand(*out, DType::Float32, {1}).operand(*in, DType::Float32, {1});
  if (oversize) launch.oversize_arguments();
  launch.run(context, kernel);
  require_same(context.download(*out, DType::Float32, 3), expected, "negative");
}

void newer_hosts_structs_are_understood(Context& context) {
  Wide<plugin::KernelDesc> wide{};
  wide.known = negate_desc();
  wide.known.struct_size = sizeof wide;
  wide.later = ~uint64_t{0};
  const auto kernel = context.create_kernel(wide.known);
  run_negate(context, *kernel, true);
}

void oldest_descriptor_is_understood(Context& context) {
  plugin::KernelDesc desc = negate_desc();
  desc.struct_size = static_cast<uint32_t>(offsetof(plugin::KernelDesc, source) + sizeof(void*));
  const auto kernel = context.create_kernel(desc);
  run_negate(context, *kernel, false);
}

void unknown_numbers_are_unimplemented(Context& context) {
  const auto require_unknown = [&](const plugin::KernelDesc& desc, const char* what) {
    require_code(context.device().supports(&desc), plugin::StatusCode::Unimplemented, what);
  };
  plugin::KernelDesc desc = negate_desc();
  desc.program.instructions[0].op = static_cast<plugin::ScalarOp>(9999);
  require_unknown(desc, "a scalar operation of the future");
  desc = negate_desc();
  desc.family = static_cast<plugin::Family>(200);
  require_unknown(desc, "a family of the future");
  using plugin::Family;
  for (const Family family :
       {Family::Reduce, Family::Scan, Family::Index, Family::Sort, Family::Random, Family::Rowwise}) {
    desc = make_desc(family, 200);
    desc.program = identity_program(DType::Float32);
    desc.epilogue = identity_program(DType::Float32);
    desc.compute_type = DType::Float32;
    desc.types[0] = desc.types[1] = desc.types[2] = DType::Float32;
    require_unknown(desc, "an operation of the future");
  }
}

}  // namespace

void add_struct_cases(std::vector<Case>& cases) {
  cases.push_back({"boundary/properties keep to the caller's struct size", properties_keep_to_their_size});
  cases.push_back({"boundary/telemetry keeps to the caller's struct size", telemetry_keeps_to_its_size});
  cases.push_back({"boundary/telemetry makes sense", telemetry_makes_sense});
  cases.push_back({"boundary/a device is what its description says", description_and_device_agree});
  cases.push_back({"boundary/indices out of range are not found", indices_out_of_range_are_not_found});
  cases.push_back({"boundary/structs of a newer host are understood", newer_hosts_structs_are_understood});
  cases.push_back({"boundary/the oldest descriptor is understood", oldest_descriptor_is_understood});
  cases.push_back({"boundary/unknown numbers are unimplemented", unknown_numbers_are_unimplemented});
}

}  // namespace backplane::conformance
