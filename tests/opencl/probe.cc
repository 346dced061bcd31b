// SPDX-License-Identifier: Apache-2.0
//
// Loads the plugin in a fresh process, under whatever environment the test has made, and prints what it
// finds:
//   opencl_probe PLUGIN [--compute] [--multiply] [KEY=VALUE]...
// One line each: "failed: ...", "device 0: name", "device 0 field: value" (n/a where unknown), "note:
// subject: cause [remedy]", and with --compute or --multiply "device 0 computes: ok" (or "multiplies") or
// what went wrong.
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

// A product of whole matrices, the second operand transposed: small integers, whose sums float32 holds
// exactly.
void multiply(plugin::Backend& backend, uint32_t index) {
  constexpr int64_t kM = 512, kN = 512, kDepth = 256, kOffset = 3;
  Context context(backend, index);
  Values a(DType::Float32, kM * kDepth + kOffset), b(DType::Float32, kDepth * kN + kOffset);
  for (int64_t i = 0; i < kM * kDepth; ++i) a.set(kOffset + i, static_cast<double>(i * 7 % 11 - 5));
  for (int64_t i = 0; i < kDepth * kN; ++i) b.set(kOffset + i, static_cast<double>(i * 5 % 13 - 6));
  const auto left = context.upload(a), right = context.upload(b), out = context.allocate(4 * kM * kN);
  plugin::KernelDesc desc = make_desc(plugin::Family::Matmul);
  for (DType& type : desc.types) type = DType::Float32;
  desc.compute_type = DType::Float32;
  const auto kernel = context.create_kernel(desc);
  std::vector<int64_t> sums(kM * kN);
  for (int64_t r = 0; r < kM; ++r)
    for (int64_t c = 0; c < kN; ++c)
      for (int64_t k = 0; k < kDepth; ++k)
        sums[static_cast<size_t>(r * kN + c)] +=
            ((r * kDepth + k) * 7 % 11 - 5) * ((c * kDepth + k) * 5 % 13 - 6);
  Values expected(DType::Float32, kM * kN);
  for (int64_t i = 0; i < kM * kN; ++i) expected.set(i, static_cast<double>(sums[static_cast<size_t>(i)]));
  Launch launch({kM, kN, kDepth});
  launch.operand(*out, DType::Float32, {kN, 1, 0});
  launch.operand(*left, DType::Float32, {kDepth, 0, 1}, kOffset);
  launch.operand(*right, DType::Float32, {0, kDepth, 1}, kOffset);
  launch.run(context, *kernel);
  require_same(context.download(*out, DType::Float32, kM * kN), expected, "the product");
}

void try_it(const char* what, void (*work)(plugin::Backend&, uint32_t), plugin::Backend& backend,
            uint32_t index) {
  try {
    work(backend, index);
    std::printf("device %u %s: ok\n", index, what);
  } catch (const std::exception& error) {
    std::printf("device %u %s: %s\n", index, what, error.what());
  }
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
  bool multiplies = false;
  for (int i = 1; i < count; ++i) {
    const std::string value = values[i];
    const size_t equals = value.find('=');
    if (value == "--compute") {
      computes = true;
    } else if (value == "--multiply") {
      multiplies = true;
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
      if (computes) try_it("computes", compute, loaded.backend(), i);
      if (multiplies) try_it("multiplies", multiply, loaded.backend(), i);
    }
    print_notes(loaded.backend());
  } catch (const std::exception& error) {
    std::printf("failed: %s\n", error.what());
  }
  return 0;
}
