// SPDX-License-Identifier: Apache-2.0
//
// Loads the plugin in a fresh process, under whatever environment the test has made, and prints what it
// finds:
//   opencl_probe PLUGIN [--compute] [KEY=VALUE]...
// One line each: "failed: ...", "device 0: name", "device 0 field: value" (n/a where unknown), "note:
// subject: cause [remedy]", and with --compute "device 0 computes: ok" or what went wrong.
#include <cstdio>
#include <exception>

#include "launch.h"

namespace {

using namespace backplane::conformance;
namespace plugin = backplane::plugin;

void print_field(uint32_t index, const plugin::DeviceProperties& properties, uint64_t bit, const char* name,
                 const std::string& value) {
  std::printf("device %u %s: %s\n", index, name, (properties.has & bit) != 0 ? value.c_str() : "n/a");
}

void print_device(plugin::Backend& backend, uint32_t index) {
  plugin::DeviceProperties p{};
  p.struct_size = sizeof p;
  require_ok(backend.describe(index, &p), "describe");
  std::printf("device %u: %s\n", index, p.name);
  print_field(index, p, plugin::kHasVendor, "vendor", p.vendor);
  print_field(index, p, plugin::kHasDriverVersion, "driver", p.driver_version);
  print_field(index, p, plugin::kHasApiVersion, "api", p.api_version);
  print_field(index, p, plugin::kHasUnits, "units", std::to_string(p.units));
  print_field(index, p, plugin::kHasClock, "clock", std::to_string(p.clock_mhz));
  print_field(index, p, plugin::kHasMemoryTotal, "memory", std::to_string(p.memory_total));
  print_field(index, p, plugin::kHasLargestAllocation, "largest allocation",
              std::to_string(p.largest_allocation));
  print_field(index, p, plugin::kHasLocalMemory, "local memory", std::to_string(p.local_memory));
  print_field(index, p, plugin::kHasMaxGroupSize, "group size", std::to_string(p.max_group_size));
  print_field(index, p, plugin::kHasPciAddress, "pci address", p.pci_address);
  print_field(index, p, plugin::kHasExtensions, "extensions", p.extensions == nullptr ? "" : p.extensions);
  std::printf("device %u kind: %u\n", index, static_cast<unsigned>(p.kind));
  std::printf("device %u float64: %s\n", index,
              (p.types >> static_cast<unsigned>(DType::Float64) & 1) != 0 ? "yes" : "no");
  std::printf("device %u maps without a copy: %s\n", index,
              (p.flags & plugin::kMapsWithoutCopy) != 0 ? "yes" : "no");
}

// 1000 - i + i, which only an addition of both operands, element by element, makes 1000.
void compute(plugin::Backend& backend, uint32_t index) {
  Context context(backend, index);
  Values up(DType::Int32, 1000), down(DType::Int32, 1000), expected(DType::Int32, 1000);
  for (int64_t i = 0; i < 1000; ++i) {
    up.set_integer(i, i);
    down.set_integer(i, 1000 - i);
    expected.set_integer(i, 1000);
  }
  const auto a = context.upload(up), b = context.upload(down), out = context.allocate(4000);
  plugin::KernelDesc desc = make_desc(plugin::Family::Elementwise);
  desc.program = one_op_program(plugin::ScalarOp::add, {DType::Int32, DType::Int32}, DType::Int32);
  const auto kernel = context.create_kernel(desc);
  Launch launch({1000});
  launch.operand(*out, DType::Int32, {1}).operand(*a, DType::Int32, {1}).operand(*b, DType::Int32, {1});
  launch.run(context, *kernel);
  require_same(context.download(*out, DType::Int32, 1000), expected, "the sum");
}

void print_notes(plugin::Backend& backend) {
  for (uint32_t i = 0; i < backend.note_count(); ++i) {
    plugin::Note note{};
    note.struct_size = sizeof note;
    require_ok(backend.note(i, &note), "note");
    std::printf("note: %s: %s [%s]\n", note.subject, note.cause, note.remedy);
  }
}

}  // namespace

int main(int count, char** values) {
  Options options;
  bool computes = false;
  for (int i = 1; i < count; ++i) {
    const std::string value = values[i];
    const size_t equals = value.find('=');
    if (value == "--compute") {
      computes = true;
    } else if (i == 1) {
      options.plugin_path = value;
    } else {
      options.settings[value.substr(0, equals)] = value.substr(equals + 1);
    }
  }
  try {
    LoadedPlugin loaded(options);
    for (uint32_t i = 0; i < loaded.backend().device_count(); ++i) {
      print_device(loaded.backend(), i);
      if (!computes) continue;
      try {
        compute(loaded.backend(), i);
        std::printf("device %u computes: ok\n", i);
      } catch (const std::exception& error) {
        std::printf("device %u computes: %s\n", i, error.what());
      }
    }
    print_notes(loaded.backend());
  } catch (const std::exception& error) {
    std::printf("failed: %s\n", error.what());
  }
  return 0;
}
